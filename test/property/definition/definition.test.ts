import { expect } from 'chai'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { isJsonObject, silentLogger, toPointer, type Json, type JsonObject } from '../../../lib/common/index.ts'
import { expressionSites, lint, loadDefinition, normalise, parseDocument, validate, type LoadedDefinition, type LoadOptions } from '../../../lib/definition/index.ts'
import { toDefinition } from '../../../lib/definition/normalise/to-definition.ts'
import { findExpressionFaults, type DeployOptions } from '../../../lib/deployment/deploy.ts'
import { DefinitionError, type Violation } from '../../../lib/errors/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { arbitraryWorkflow } from './arbitrary-workflow.ts'

const SPEC: LoadOptions = { profile: 'spec' }

const DEPLOY: DeployOptions = {
  functions: { compile: () => Promise.resolve({ invoke: () => ({}) }), unusedSettings: () => [], close: () => Promise.resolve() },
  secrets: { read: () => undefined },
  clock: createVirtualClock(),
  ids: { next: () => 'id', random: () => 0.5 },
  log: silentLogger,
  maxSteps: 1000,
  root: '.',
  expressions: {},
}

/** Loads a text; fails the test when anything but a definition or a DefinitionError comes of it. */
async function outcome(text: string, uri: string): Promise<'loaded' | 'refused'> {
  try {
    const { definition } = await loadDefinition({ uri, text }, SPEC)
    expressionSites(definition)
    return 'loaded'
  } catch (error) {
    expect(error, String(error)).to.be.instanceOf(DefinitionError)
    expect((error as DefinitionError).message).to.contain(uri)
    expect((error as DefinitionError).violations).to.not.be.empty
    return 'refused'
  }
}

/** Replaces, drops or repeats a part of a text. */
const damage = fc.tuple(fc.nat(), fc.nat(40), fc.oneof(fc.constantFrom('', '{', '}', '[', '"', ':', ',', '\t', '&a ', '*a', '!!binary ', '---\n', '\u0000', '\uFEFF', '__proto__', '- '), fc.string()))

function applyDamage(text: string, [at, length, insert]: readonly [number, number, string]): string {
  const start = at % (text.length + 1)
  return text.slice(0, start) + insert + text.slice(start + length)
}

/** What stands where something else is expected. */
const strange = fc.oneof(fc.constantFrom<Json>(null, 1, -0.5, '', 'x', true, [], {}, [[]], [null], '${', '$CONST.x', { __proto__: null } as unknown as Json), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>)

describe('properties of definition', () => {
  it('generated documents are valid', () => {
    fc.assert(fc.property(arbitraryWorkflow, (document) => {
      expect(validate(document)).to.deep.equal([])
      lint(document)
    }), { numRuns: 150 })
  })

  it('normalising twice is normalising once', () => {
    fc.assert(fc.property(arbitraryWorkflow, fc.constantFrom<'spec' | 'sonataflow'>('spec', 'sonataflow'), (document, profile) => {
      const once = normalise(document, { profile: 'spec' })
      expect(toDefinition(once as unknown as JsonObject, { profile: 'spec' })).to.deep.equal(once)
      const other = toDefinition(document, { profile })
      expect(toDefinition(other as unknown as JsonObject, { profile })).to.deep.equal(other)
    }), { numRuns: 200 })
  })

  it('JSON and YAML give one definition', async () => {
    await fc.assert(fc.asyncProperty(arbitraryWorkflow, async (document) => {
      const json = await loadDefinition({ uri: 'a.sw.json', text: JSON.stringify(document) }, SPEC)
      const yaml = await loadDefinition({ uri: 'a.sw.yaml', text: stringify(document) }, SPEC)
      expect(yaml.definition).to.deep.equal(json.definition)
      expect(parseDocument(stringify(json.definition), { uri: 'b.yaml' }).value).to.deep.equal(JSON.parse(JSON.stringify(json.definition)))
    }), { numRuns: 100 })
  })

  it('a definition is plain JSON', () => {
    fc.assert(fc.property(arbitraryWorkflow, (document) => {
      const definition = normalise(document)
      expect(JSON.parse(JSON.stringify(definition))).to.deep.equal(definition)
    }), { numRuns: 100 })
  })

  it('every value of a JSON text is found where it stands', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      const lines = text.split('\n')
      const parsed = parseDocument(text, { uri: 'a.json', format: 'json' })
      const visit = (part: Json, pointer: string): void => {
        const position = parsed.position(pointer)
        expect(position, pointer).to.not.equal(undefined)
        const rest = (lines[position!.line - 1] ?? '').slice(position!.column - 1)
        expect(rest.startsWith(Array.isArray(part) ? '[' : isJsonObject(part) ? '{' : JSON.stringify(part)), rest).to.equal(true)
        if (typeof part === 'object' && part !== null) for (const [key, child] of Object.entries(part)) visit(child, pointer + toPointer([key]))
      }
      visit(value as Json, '')
    }), { numRuns: 200 })
  })

  it('any text is loaded or refused with a DefinitionError', async () => {
    await fc.assert(fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.string({ unit: fc.constantFrom('{', '}', '[', ']', ':', ',', '-', '&', '*', '!', '|', '>', '?', '"', "'", '#', '%', '@', '`', ' ', '\n', '\t', 'a', '1') })), fc.constantFrom('a.sw.json', 'a.sw.yaml'), async (text, uri) => {
      expect(await outcome(text, uri)).to.equal('refused')
    }), { numRuns: 300 })
  })

  it('any damaged definition is loaded or refused with a DefinitionError', async () => {
    await fc.assert(fc.asyncProperty(arbitraryWorkflow, fc.boolean(), fc.array(damage, { minLength: 1, maxLength: 3 }), async (document, asJson, damages) => {
      const text = damages.reduce(applyDamage, asJson ? JSON.stringify(document, undefined, 1) : stringify(document))
      await outcome(text, asJson ? 'a.sw.json' : 'a.sw.yaml')
    }), { numRuns: 300 })
  })

  it('any JSON in the place of any part is judged, never thrown at', () => {
    fc.assert(fc.property(arbitraryWorkflow, fc.tuple(fc.nat(), strange), fc.constantFrom<'spec' | 'sonataflow'>('spec', 'sonataflow'), (document, [choice, value], profile) => {
      const mutant = structuredClone(document)
      const places = placesOf(mutant)
      const place = places[choice % places.length]
      if (place !== undefined) place.parent[place.key] = value
      const violations = validate(mutant, { profile })
      if (violations.length === 0) expressionSites(normalise(mutant, { profile }))
      if (violations.length === 0) lint(mutant, { profile })
    }), { numRuns: 500 })
  })

  it('tells each fault of a broken definition once, expressions that do not compile among them', async () => {
    const inspect = (refused: LoadedDefinition): readonly Violation[] => findExpressionFaults(refused, DEPLOY)
    await fc.assert(fc.asyncProperty(arbitraryWorkflow, fc.array(fc.tuple(fc.nat(), strange), { minLength: 1, maxLength: 3 }), async (document, changes) => {
      const mutant = structuredClone(document)
      for (const [choice, value] of changes) {
        const places = placesOf(mutant)
        const place = places[choice % places.length]
        if (place !== undefined) place.parent[place.key] = value
      }
      const error: unknown = await loadDefinition({ uri: 'mutant.sw.json', text: JSON.stringify(mutant) }, { ...SPEC, inspect }).then(() => undefined, (caught: unknown) => caught)
      if (error === undefined) return
      expect(error, String(error)).to.be.instanceOf(DefinitionError)
      const told = (error as DefinitionError).violations.map(({ pointer, message }) => `${pointer} ${message}`)
      expect(told).to.deep.equal([...new Set(told)])
    }), { numRuns: 300 })
  })
})

interface Place {
  readonly parent: Record<string, Json>
  readonly key: string
}

function placesOf(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value as Record<string, Json>).flatMap(([key, child]) => [{ parent: value as Record<string, Json>, key }, ...placesOf(child)])
}
