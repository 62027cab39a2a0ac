import { expect } from 'chai'
import type { Logger } from '../../../lib/common/index.ts'
import type { DefinitionInput } from '../../../lib/definition/index.ts'
import { createLoader, createRegistry, type Loader, type Registry } from '../../../lib/deployment/index.ts'
import type { FunctionCompiler } from '../../../lib/functions/index.ts'
import { createVirtualClock } from '../../support/clock.ts'

const document = (id: string, rest: object = {}): DefinitionInput => ({
  uri: `${id}.sw.json`,
  text: JSON.stringify({ id, version: '1.0', specVersion: '0.8', start: 'A', states: [{ name: 'A', type: 'inject', data: {}, end: true }], ...rest }, undefined, 1),
})
const calling = (id: string, subFlowRef: unknown): DefinitionInput =>
  document(id, { states: [{ name: 'A', type: 'operation', actions: [{ subFlowRef }], end: true }] })

describe('deployment: loader', () => {
  let registry: Registry
  let loader: Loader
  let warnings: string[]
  let unused: string[]

  beforeEach(() => {
    registry = createRegistry()
    warnings = []
    unused = []
    const ignore = (): void => undefined
    const log: Logger = { trace: ignore, debug: ignore, info: ignore, error: ignore, warn: (_fields, message) => { warnings.push(message) }, child: () => log }
    const functions: FunctionCompiler = {
      compile: () => Promise.reject(new Error('no function is declared here')),
      unusedSettings: () => unused,
      close: () => Promise.resolve(),
    }
    loader = createLoader({
      registry,
      log,
      strict: false,
      load: { profile: 'spec' },
      deploy: { functions, log, clock: createVirtualClock(), ids: { next: () => 'id', random: () => 0.5 }, root: '.', maxSteps: 100, expressions: {}, secrets: { read: () => undefined } },
    })
  })

  it('tells sub-flows that nobody has loaded, with their line, once', async () => {
    await loader.add([calling('parent', 'child')])
    expect(warnings).to.deep.equal(['workflow child is not loaded; defined are "parent"'])
    expect(registry.catalogue.find('parent')?.warnings).to.deep.include({ rule: 'missing-workflow', pointer: '/states/0/actions/0/subFlowRef', line: 12, message: warnings[0] })
    await loader.add([document('child')])
    expect(warnings).to.have.length(1)
  })

  it('takes sub-flows of the same batch, and of any version in service, for loaded', async () => {
    await loader.add([calling('parent', 'child'), document('child')])
    await loader.add([document('child', { version: '2.0' })])
    await loader.add([calling('other', { workflowId: 'child', version: '1.0' }), calling('third', { workflowId: 'child', version: '3.0' })])
    expect(warnings).to.deep.equal(['workflow child of version 3.0 is not loaded; loaded is version 1.0, 2.0'])
  })

  it('tells settings that no definition uses with the first definitions, once', async () => {
    unused = ['No definition uses the document "x"']
    await loader.add([])
    expect(warnings).to.deep.equal([])
    await loader.add([document('a')])
    await loader.add([document('b')])
    expect(warnings).to.deep.equal(unused)
    expect(registry.catalogue.remarks).to.deep.equal(unused)
  })

  it('tells expressions that do not compile together with faults of form and meaning, in the order of the file', async () => {
    const switchTo = (condition: string, rest: object): object => ({ name: 'A', type: 'switch', dataConditions: [{ condition, ...rest }], defaultCondition: { end: true } })
    await loader.add([
      document('form', { functions: [{ name: 'f', type: 'expression', operation: '.a |' }], states: [switchTo('${ .x === 1 }', { end: true, nonsense: 1 }), switchTo('fn:f', { transition: 'B' })] }),
    ])
    expect(registry.catalogue.failures[0]?.error.violations.map(({ pointer, line }) => `${String(line)} ${pointer}`)).to.deep.equal([
      '12 /states/0/dataConditions/0/condition', '14 /states/0/dataConditions/0/nonsense', '22 /states/1/name', '27 /states/1/dataConditions/0/transition', '39 /functions/0/operation',
    ])
  })

  it('tells no place twice, and nothing that follows from another fault', async () => {
    const unknown = { name: 'A', type: 'inject', data: { x: '${ $nowhere }' }, stateDataFilter: { input: '${ fn:gone }', output: '${ .a | }' }, end: true }
    await loader.add([
      document('language', { expressionLang: 'jqq', states: [unknown] }),
      document('function', { functions: [{ name: 'f', type: 'expression' }], states: [{ ...unknown, stateDataFilter: { input: 'fn:f' } }] }),
      document('reading', { states: [{ ...unknown, end: 'yes', transition: 3 }] }),
      document('resource', { functions: 'gone.json', states: [unknown] }),
      document('names', { states: [{ ...unknown, transition: 'Gone', end: undefined }] }),
    ])
    expect(registry.catalogue.failures.map(({ uri, error }) => `${uri} ${error.violations.map(({ pointer }) => pointer).join(' ')}`)).to.deep.equal([
      'language.sw.json /expressionLang',
      'function.sw.json /functions/0',
      'reading.sw.json /states/0/transition /states/0/end',
      'resource.sw.json /functions',
      'names.sw.json /states/0/stateDataFilter/output /states/0/transition',
    ])
  })

  it('does not tell them while a definition is broken: it may be what uses them', async () => {
    unused = ['No definition uses the document "x"']
    await loader.add([document('a'), document('b', { states: [] })])
    expect(warnings).to.deep.equal([])
    expect(registry.catalogue.failures).to.have.length(1)
  })
})
