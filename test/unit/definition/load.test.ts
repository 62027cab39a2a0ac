import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../../../lib/common/index.ts'
import { loadDefinition, loadDefinitions, withoutDuplicates, type DefinitionInput, type LoadOptions } from '../../../lib/definition/index.ts'
import { DefinitionError } from '../../../lib/errors/index.ts'
import { operationState, workflow } from './support/documents.ts'

describe('definition/load', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'definitions-'))
  })
  afterEach(() => {
    rmSync(directory, { recursive: true })
  })

  function write(name: string, content: Json): string {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
    return path
  }

  const SPEC: LoadOptions = { profile: 'spec' }

  async function refusal(input: DefinitionInput, options = SPEC): Promise<DefinitionError> {
    const error = await loadDefinition(input, options).then(() => undefined, (reason: unknown) => reason)
    expect(error).to.be.instanceOf(DefinitionError)
    return error as DefinitionError
  }

  it('loads a file and keeps its text, hash and notation', async () => {
    const path = write('a.sw.yaml', 'id: a\nspecVersion: "0.8"\nstates:\n  - {name: A, type: inject, data: {}, end: true}\n')
    const { definition, source, warnings } = await loadDefinition(path, SPEC)
    expect(definition.id).to.equal('a')
    expect(source).to.include({ uri: path, format: 'yaml' })
    expect(source.text).to.contain('id: a')
    expect(warnings).to.deep.equal([])
  })

  it('keeps a version that is written as a number', async () => {
    const { definition, warnings } = await loadDefinition({ uri: 'x.sw.yaml', text: 'id: a\nversion: 1.10\nspecVersion: 0.8\nstates: [{name: A, type: inject, data: {version: 1.0}, end: true}]' }, SPEC)
    expect(definition).to.include({ version: '1.10', specVersion: '0.8' })
    expect(definition.states[0]).to.have.deep.property('data', { version: 1 })
    expect(warnings.map(({ rule }) => rule)).to.deep.equal(['tolerated-number-for-text', 'tolerated-number-for-text'])
    expect(warnings[0]).to.include({ line: 2, pointer: '/version' })
  })

  it('loads documents that are no file', async () => {
    const { definition, source } = await loadDefinition({ uri: 'memory:a', document: workflow() }, SPEC)
    expect(definition.id).to.equal('test')
    expect(source.uri).to.equal('memory:a')
    expect(JSON.parse(source.text)).to.deep.equal(workflow())
  })

  it('names file, line, pointer, fault and cure', async () => {
    const path = write('a.sw.json', '{\n  "id": "a",\n  "specVersion": "0.8",\n  "start": "Strat",\n  "states": [{"name": "Start", "type": "inject", "data": {}, "end": true}]\n}')
    const error = await refusal(path)
    expect(error.message).to.equal(`${path} has a fault:\n  line 4:12 /start: start state Strat does not exist (did you mean "Start"?)`)
    expect(error.violations).to.deep.equal([
      { pointer: '/start', line: 4, column: 12, message: 'start state Strat does not exist', hint: 'did you mean "Start"?' },
    ])
  })

  it('says DEFINITION_NOT_FOUND for a file that is not there, and for a directory', async () => {
    expect((await refusal(join(directory, 'none.sw.json'))).code).to.equal('DEFINITION_NOT_FOUND')
    expect((await refusal(directory)).code).to.equal('DEFINITION_NOT_FOUND')
  })

  it('says DEFINITION_UNSUPPORTED only when nothing else is wrong', async () => {
    expect((await refusal({ uri: 'a', document: workflow({ specVersion: '0.7' }) })).code).to.equal('DEFINITION_UNSUPPORTED')
    expect((await refusal({ uri: 'a', document: workflow({ specVersion: '0.7', start: 'X' }) })).code).to.equal('DEFINITION_INVALID')
  })

  it('refuses what is only tolerated when asked to', async () => {
    const { specVersion: _none, ...document } = workflow()
    expect((await loadDefinition({ uri: 'a', document }, SPEC)).warnings.map(({ rule }) => rule)).to.deep.equal(['tolerated-missing-spec-version'])
    expect((await refusal({ uri: 'a', document }, { ...SPEC, strict: true })).message).to.contain('specVersion is missing')
  })

  describe('external references', () => {
    const PARTS: Readonly<Record<string, Json>> = {
      functions: [{ name: 'f', operation: 'a.yaml#b' }],
      events: [{ name: 'e', type: 't', source: 's' }],
      errors: [{ name: 'broken' }],
      retries: [{ name: 'again', maxAttempts: 2 }],
      auth: [{ name: 'login', scheme: 'bearer', properties: { token: 't' } }],
      secrets: ['TOKEN'],
      timeouts: { workflowExecTimeout: 'PT1H' },
      constants: { answer: 42 },
    }

    it('are read for every part, wrapped or bare, JSON or YAML (S293–S296)', async () => {
      for (const wrap of [true, false]) {
        const references: Record<string, Json> = {}
        for (const [name, part] of Object.entries(PARTS)) {
          write(`${name}.json`, wrap && name !== 'constants' ? { [name]: part } : part)
          references[name] = `${name}.json`
        }
        const { definition, source } = await loadDefinition(write('a.sw.json', workflow(references)), SPEC)
        expect(definition.functions[0]?.name).to.equal('f')
        expect(definition.events[0]?.name).to.equal('e')
        expect(definition.errors[0]?.name).to.equal('broken')
        expect(definition.retries[0]?.maxAttempts).to.equal(2)
        expect(definition.auth[0]?.scheme).to.equal('bearer')
        expect(definition.secrets).to.deep.equal(['TOKEN'])
        expect(definition.timeouts.workflowExecTimeout?.duration).to.equal(3_600_000)
        expect(definition.constants).to.deep.equal({ answer: 42 })
        expect(Object.keys(source.resources)).to.have.length(8)
      }
    })

    it('are looked for beside the definition, in the project, and in src/main/resources', async () => {
      write('project/specs/b.json', { functions: [{ name: 'b', operation: 'x#y' }] })
      write('project/src/main/resources/c.yml', 'functions:\n  - {name: c, operation: x#y}\n')
      write('project/flows/d.json', { functions: [{ name: 'd', operation: 'x#y' }] })
      const root = join(directory, 'project')
      for (const [reference, name] of [['specs/b.json', 'b'], ['c.yml', 'c'], ['d.json', 'd'], ['classpath:c.yml', 'c'], ['classpath:/c.yml', 'c'], ['file://d.json', 'd'], ['file:d.json', 'd'], [`file://${root}/specs/b.json`, 'b'], ['/specs/b.json', 'b']] as const) {
        const { definition } = await loadDefinition(write('project/flows/a.sw.json', workflow({ functions: reference })), { ...SPEC, root })
        expect(definition.functions[0]?.name, reference).to.equal(name)
      }
    })

    it('that lead nowhere are told once, with the places looked at (S300)', async () => {
      const document = workflow({ functions: 'none.json', states: [operationState('A', [{ functionRef: 'f' }])] })
      const error = await refusal(write('a.sw.json', document))
      expect(error.violations).to.have.length(1)
      expect(error.violations[0]).to.include({ pointer: '/functions', line: 16 })
      expect(error.message).to.contain(join(directory, 'none.json'))
    })

    it('to remote documents need a reader', async () => {
      const document = workflow({ functions: 'http://localhost/f.json' })
      expect((await refusal({ uri: 'a', document })).message).to.contain('remote')
      const readResource = (uri: string): Promise<string> => Promise.resolve(`{"functions": [{"name": "${uri.length}", "operation": "a#b"}]}`)
      expect((await loadDefinition({ uri: 'a', document }, { ...SPEC, readResource })).definition.functions).to.have.length(1)
    })

    it('stay inside of the project, links resolved', async () => {
      write('outside.json', { functions: [] })
      mkdirSync(join(directory, 'project'))
      symlinkSync(join(directory, 'outside.json'), join(directory, 'project', 'link.json'))
      for (const reference of ['../outside.json', 'link.json']) {
        const path = write('project/a.sw.json', workflow({ functions: reference }))
        expect((await refusal(path, { ...SPEC, root: join(directory, 'project') })).message).to.contain('outside of the project')
      }
    })

    it('tell faults with the file and line that they stand in', async () => {
      const functions = write('f.yaml', 'functions:\n  - name: f\n    type: rset\n    operation: a#b\n')
      const { violations } = await refusal(write('a.sw.json', workflow({ functions: 'f.yaml' })))
      expect(violations[0]).to.include({ pointer: '/functions/0/type', file: functions, line: 3, message: 'is "rset"' })
      write('f.yaml', 'functions: [')
      expect((await refusal(write('a.sw.json', workflow({ functions: 'f.yaml' })))).message).to.contain('not YAML')
      write('f.yaml', 'functions: {}')
      expect((await refusal(write('a.sw.json', workflow({ functions: 'f.yaml' })))).message).to.contain('holds no list of functions')
    })
  })

  describe('data schemas', () => {
    it('are resolved with the documents they refer to (S299)', async () => {
      write('schemas/order.json', { type: 'object', properties: { items: { type: 'array', items: { $ref: 'item.json#/definitions/item' } }, self: { $ref: '#' } } })
      write('schemas/item.json', { definitions: { item: { type: 'object', required: ['id'], properties: { parts: { $ref: '#/definitions/list' } } }, list: { type: 'array', items: { $ref: 'item.json#/definitions/item' } } } })
      const { definition, source } = await loadDefinition(write('a.sw.json', workflow({ dataInputSchema: 'schemas/order.json' })), SPEC)
      expect(definition.dataInputSchema).to.include({ uri: 'schemas/order.json', failOnValidationErrors: true })
      expect(Object.keys(source.resources)).to.have.length(2)
      const { compileDataSchema } = await import('../../../lib/definition/index.ts')
      const check = compileDataSchema(definition.dataInputSchema!)
      expect(check({ items: [{ id: 1, parts: [{ id: 2 }] }] })).to.deep.equal([])
      expect(check({ items: [{ id: 1, parts: [{}] }] })[0]?.pointer).to.equal('/items/0/parts/0')
    })

    it('may be inline, and need not fail the instance (S024)', async () => {
      const document = workflow({ dataInputSchema: { schema: { type: 'object' }, failOnValidationErrors: false } })
      const { definition } = await loadDefinition({ uri: 'a', document }, SPEC)
      expect(definition.dataInputSchema).to.deep.equal({ schema: { type: 'object' }, failOnValidationErrors: false })
    })

    it('of the output come from the extension workflow-output-schema', async () => {
      write('schema/result.json', { type: 'object', required: ['result'] })
      const document = workflow({ extensions: [{ extensionid: 'workflow-output-schema', outputSchema: 'schema/result.json' }] })
      const { definition, warnings } = await loadDefinition(write('a.sw.json', document), SPEC)
      expect(definition.dataOutputSchema).to.deep.equal({ schema: { type: 'object', required: ['result'] }, failOnValidationErrors: true, uri: 'schema/result.json' })
      expect(warnings).to.deep.equal([])
      const error = await refusal({ uri: 'a', document })
      expect(error.violations[0]?.pointer).to.equal('/extensions/0/outputSchema')
    })

    it('that are broken refuse the definition', async () => {
      write('s.json', { $schema: 'http://example.com/own', type: 'object' })
      expect((await refusal(write('a.sw.json', workflow({ dataInputSchema: 's.json' })))).message).to.contain('drafts 04, 06, 07, 2019-09 and 2020-12')
    })
  })

  describe('loadDefinitions', () => {
    it('searches directories, tells the broken, loads the others', async () => {
      write('a.sw.json', workflow({ id: 'a' }))
      write('deep/er/b.sw.yml', 'id: b\nstates: [{name: A, type: inject, data: {}, end: true}]')
      write('plain.yaml', 'id: c\nstates: [{name: A, type: inject, data: {}, end: true}]')
      write('broken.sw.json', '{')
      write('other.json', { id: 1 })
      write('states.json', '{ "id": broken, "states"')
      write('.hidden/d.sw.json', workflow({ id: 'd' }))
      write('.e.sw.json', workflow({ id: 'e' }))
      write('node_modules/f.sw.json', workflow({ id: 'f' }))
      write('target/classes/a.sw.json', workflow({ id: 'a' }))
      symlinkSync(directory, join(directory, 'deep', 'loop'))
      const { loaded, failures } = await loadDefinitions([directory, join(directory, 'a.sw.json'), join(directory, 'none.sw.json')], SPEC)
      expect(loaded.map(({ definition }) => definition.id)).to.deep.equal(['a', 'b', 'c'])
      expect(failures.map(({ uri, error }) => [uri, error.code])).to.deep.equal([
        [join(directory, 'broken.sw.json'), 'DEFINITION_INVALID'], [join(directory, 'none.sw.json'), 'DEFINITION_NOT_FOUND'],
      ])
    })

    it('leaves equal ids and versions to withoutDuplicates, which keeps the first and names both files', async () => {
      const first = write('a.sw.json', workflow({ id: 'same' }))
      const second = write('b.sw.json', workflow({ id: 'same' }))
      write('c.sw.json', workflow({ id: 'same', version: '2.0' }))
      const { loaded } = await loadDefinitions([directory], SPEC)
      const { loaded: kept, failures } = withoutDuplicates(loaded)
      expect(kept.map(({ definition: { version } }) => version)).to.deep.equal(['1.0', '2.0'])
      expect(failures.map(({ uri }) => uri)).to.deep.equal([second])
      expect(failures[0]?.error).to.be.instanceOf(DefinitionError).with.property('message').that.matches(new RegExp(`same.*${first}.*${second}`))
    })
  })
})

