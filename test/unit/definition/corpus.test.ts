import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { atPointer, type Json } from '../../../lib/common/index.ts'
import { loadDefinition, loadDefinitions, withoutDuplicates, type LoadedDefinition, type LoadOptions } from '../../../lib/definition/index.ts'
import { DefinitionError } from '../../../lib/errors/index.ts'
import { applyPatch, type PatchOperation } from './support/json-patch.ts'
import { corpusFolder } from './support/corpus.ts'

interface LoadExpectation {
  readonly valid?: boolean
  readonly accepted?: boolean
  readonly id?: string
  readonly name?: string
  readonly nameEqualsId?: boolean
  readonly version?: string
  readonly messageContains?: readonly string[]
  readonly message?: string
  readonly minErrors?: number
}

interface Case {
  readonly id: string
  readonly kind: string
  readonly definitions: readonly Json[]
  readonly properties?: readonly string[]
  readonly needs?: readonly string[]
  readonly patch?: readonly PatchOperation[]
  readonly resources?: Readonly<Record<string, Json>>
  readonly steps?: readonly { readonly load?: true | readonly string[]; readonly expect?: LoadExpectation }[]
}

const folder = corpusFolder('workflows')

/** Definitions that a case refuses for a reason outside of this module. */
const OUTSIDE = new Set(['camel'])

for (const [group, profile] of [['sonataflow', 'sonataflow'], ['sonataflow-examples', 'sonataflow'], ['spec-0.8', 'spec']] as const) {
  (folder === undefined ? describe.skip : describe)(`definitions of the corpus, group ${group}`, () => {
    if (folder === undefined) return
    const home = join(folder, group)
    for (const file of readdirSync(join(home, 'cases')).sort()) {
      const testCase = parse(readFileSync(join(home, 'cases', file), 'utf8')) as Case
      if ((testCase.needs ?? []).some((need) => OUTSIDE.has(need)) && testCase.kind === 'load') continue
      const refused = testCase.steps?.some(({ expect: expected }) => expected?.valid === false || expected?.accepted === false) ?? false
      it(`${refused ? 'refuses' : 'loads'} ${testCase.id}`, async () => {
        const outcome = await loadCase(testCase, home, profile)
        const expected = testCase.steps?.find(({ load }) => load !== undefined)?.expect
        if (refused) {
          expect(outcome.errors, 'errors').to.not.be.empty
          const message = outcome.errors.map((error) => error.message).join('\n')
          for (const part of expected?.messageContains ?? []) expect(message).to.contain(part)
          if (expected?.message !== undefined) expect(message).to.contain(expected.message)
          expect(outcome.errors.flatMap(({ violations }) => violations).length).to.be.at.least(expected?.minErrors ?? 1)
        } else {
          expect(outcome.errors.map((error) => error.message)).to.deep.equal([])
          expectIdentity(outcome.loaded[0], expected ?? {})
        }
      })
    }
  })
}

function expectIdentity(loaded: LoadedDefinition | undefined, expected: LoadExpectation): void {
  expect(loaded, 'definition').to.not.equal(undefined)
  if (expected.id !== undefined) expect(loaded?.definition.id).to.equal(expected.id)
  if (expected.version !== undefined) expect(loaded?.definition.version).to.equal(expected.version)
  if (expected.name !== undefined) expect(loaded?.definition.name).to.equal(expected.name)
}

async function loadCase(testCase: Case, home: string, profile: LoadOptions['profile']): Promise<{ loaded: LoadedDefinition[]; errors: DefinitionError[] }> {
  const root = testCase.properties?.[0] === undefined ? undefined : join(home, testCase.properties[0], '..')
  const resources = testCase.resources ?? {}
  const options: LoadOptions = {
    profile,
    ...(root === undefined ? {} : { root }),
    readResource: (uri) => {
      const resource = resources[uri]
      if (resource === undefined) return Promise.reject(new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `${uri} is not a resource of the case` }))
      return Promise.resolve(typeof resource === 'string' ? readFileSync(join(home, resource), 'utf8') : JSON.stringify(resource))
    },
  }
  const files = testCase.steps?.map(({ load }) => load).find((load): load is readonly string[] => Array.isArray(load))
  const inputs = (files ?? testCase.definitions).map((definition, index) => toInput(definition, index === 0 ? testCase.patch : undefined, home))
  const loaded: LoadedDefinition[] = []
  const errors: DefinitionError[] = []
  for (const input of inputs) {
    await loadDefinition(input, options).then((definition) => loaded.push(definition), (error: unknown) => errors.push(error as DefinitionError))
  }
  errors.push(...withoutDuplicates(loaded).failures.map(({ error }) => error))
  for (const error of errors) expect(error).to.be.instanceOf(DefinitionError)
  return { loaded, errors }
}

function parseYaml(text: string): Json {
  return parse(text) as Json
}

function toInput(definition: Json, patch: readonly PatchOperation[] | undefined, home: string): Parameters<typeof loadDefinition>[0] {
  const path = typeof definition === 'string' ? join(home, definition) : undefined
  if (path !== undefined && patch === undefined) return path
  const document = path === undefined ? definition : parseYaml(readFileSync(path, 'utf8'))
  return { uri: path ?? join(home, 'inline.json'), document: patch === undefined ? document : applyPatch(document, patch) }
}

(folder === undefined ? describe.skip : describe)('loadDefinitions over the corpus', () => {
  it('loads a whole project directory and tells the broken files by name', async () => {
    const { loaded, failures } = await loadDefinitions([join(folder ?? '', 'sonataflow-examples/files')], { profile: 'sonataflow' })
    expect(failures).to.deep.equal([])
    expect(loaded.length).to.be.at.least(45)
    for (const { source } of loaded) expect(source.hash).to.match(/^[0-9a-f]{64}$/)
  })

  it('points to the line of a fault', async () => {
    const file = join(folder ?? '', 'sonataflow/files/executor-core/wrong.sw.json')
    const error = await loadDefinition(file, { profile: 'sonataflow' }).catch((reason: unknown) => reason)
    const document = JSON.parse(readFileSync(file, 'utf8')) as Json
    for (const violation of (error as DefinitionError).violations) {
      expect(violation.line, violation.message).to.be.a('number')
      expect(atPointer(document, violation.pointer), violation.pointer).to.not.equal(undefined)
    }
  })

  it('skips nothing silently: the corpus is there', () => {
    expect(existsSync(folder ?? '')).to.equal(true)
  })
})
