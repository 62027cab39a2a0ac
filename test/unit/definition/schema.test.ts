import { expect } from 'chai'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isJsonObject, type Json, type JsonObject } from '../../../lib/common/index.ts'
import { lint, validate } from '../../../lib/definition/index.ts'
import { findSchemaViolations } from '../../../lib/definition/schema-violations.ts'
import { corpusFolder } from './support/corpus.ts'

// CommonJS whose types name the default export only.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/**
 * Where our verdict on a probe differs from that of the official schema, and why. */
const DIFFERENCES: Readonly<Record<string, { readonly ours: boolean; readonly reason: string }>> = {
  'sleep before+after': { ours: true, reason: 'S110: its oneOf contradicts its own third branch' },
  'inject with onErrors': { ours: true, reason: 'S073: the text has onErrors on every state' },
  'multiplier 2.3': { ours: true, reason: 'S215: multipleOf 0.01 fails by float error' },
  'multiplier 0.07': { ours: true, reason: 'S215' },
  'multiplier 1.15': { ours: true, reason: 'S215' },
  'multiplier 4.35': { ours: true, reason: 'S215' },
  'maxAttempts 0': { ours: true, reason: 'S213: 0 means no retry in the text' },
  'retry without maxAttempts': { ours: true, reason: 'S213: optional in the text' },
  'end false': { ours: false, reason: 'S266: false is meaningless' },
  'end + transition usedForCompensation': { ours: false, reason: 'S240: nothing leads to a compensation state, not even the start' },
  'dataInputSchema obj without failOn': { ours: true, reason: 'S024: the text gives it a default' },
  'start object without schedule': { ours: true, reason: 'S254: a schedule is needed for a scheduled start only' },
  'contextAttributes array': { ours: true, reason: 'S142: the form of an example of the specification' },
  'functionRef.arguments string': { ours: true, reason: 'S101: SonataFlow definitions have it' },
  'metadata non-string': { ours: true, reason: 'S183: metadata does not affect execution' },
  'functions relative uri': { ours: true, reason: 'S297: the form of an example of the specification' },
  'constants relative string': { ours: true, reason: 'S297' },
  'functions []': { ours: true, reason: 'S016: the form of an example of the specification' },
  'switch no default': { ours: true, reason: 'S045: examples of the specification omit it' },
  'foreach batchSize 0': { ours: false, reason: 'A26: no batch of nothing' },
  'atLeast without numCompleted': { ours: false, reason: 'S060: at least of what' },
  'state timeouts workflowExecTimeout': { ours: false, reason: 'S231: not allowed in a state' },
  'terminate string': { ours: true, reason: 'S269: SonataFlow definitions have it' },
  'auth basic scheme with bearer props': { ours: false, reason: 'S283: properties belong to a scheme' },
  'states duplicate names': { ours: false, reason: 'S008: names are targets' },
  'specVersion 0.7': { ours: false, reason: 'S006: this runtime runs 0.8' },
  'specVersion missing': { ours: true, reason: 'S006: 58 of 78 SonataFlow definitions lack it' },
  'eventRef without resultEventRef': { ours: true, reason: 'S103: SonataFlow ignores it' },
  'consumed event no source': { ours: true, reason: 'S132: SonataFlow matches by type' },
  'cron object': { ours: false, reason: 'S261: validUntil is a date-time' },
}

/** What the probes are careless about: names that are not defined, an operation "o" that is none. */
const BESIDE_THE_POINT = /is not defined|is no state|is no operation|not connected/

const folder = corpusFolder('workflows/spec-0.8')

;(folder === undefined ? describe.skip : describe)('definition schema against the official one', () => {
  if (folder === undefined) return
  const home = folder
  const official = compileOfficial(join(home, 'schema'))
  const probes = JSON.parse(readFileSync(join(home, 'schema-probes.json'), 'utf8')) as readonly { name: string; valid: boolean; document: JsonObject }[]

  for (const { name, valid, document } of probes) {
    const difference = DIFFERENCES[name]
    const ours = difference?.ours ?? valid
    it(`${ours ? 'accepts' : 'refuses'} the probe "${name}"${difference === undefined ? '' : ` (${difference.reason})`}`, () => {
      const faults = validate(document, { profile: 'sonataflow' }).filter(({ message }) => !BESIDE_THE_POINT.test(message))
      expect(faults.map(({ message }) => message).join('; ') === '', JSON.stringify(faults)).to.equal(ours)
    })
  }

  it('lists only differences that are there', () => {
    const same = Object.entries(DIFFERENCES).filter(([name, { ours }]) => probes.find((probe) => probe.name === name)?.valid === ours)
    expect(same.map(([name]) => name)).to.deep.equal([])
  })

  const documents = readDocuments(join(home, 'examples'))

  it('accepts every example that the official schema accepts, as far as form goes', () => {
    for (const [name, document] of documents) {
      if (official(document)) expect(findSchemaViolations(document, 'tolerant'), name).to.deep.equal([])
    }
  })

  it('tells every departure from the official schema as a tolerance, whatever is left out or replaced', () => {
    const silent: string[] = []
    let tried = 0
    for (const { change, mutant } of documents.slice(0, 24).flatMap(mutate)) {
      tried += 1
      if (official(mutant) || validate(mutant, { profile: 'sonataflow' }).length > 0) continue
      const told = lint(mutant, { profile: 'sonataflow' }).some(({ rule }) => rule.startsWith('tolerated-'))
      if (!told && !isOfficialFault(official)) silent.push(`${change}: ${JSON.stringify(official.errors?.map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`))}`)
    }
    expect(tried).to.be.at.least(5_000)
    expect(silent).to.deep.equal([])
  })

  it('refuses for its form nothing that the official schema accepts, whatever is left out or replaced', () => {
    const refused = new Set<string>()
    for (const { change, mutant } of documents.slice(0, 24).flatMap(mutate)) {
      if (!official(mutant)) continue
      for (const { pointer, message } of findSchemaViolations(mutant, 'tolerant')) {
        if (!STRICTER.some((pattern) => pattern.test(`${pointer} ${message}`))) refused.add(`${change}: ${pointer} ${message}`)
      }
    }
    expect([...refused]).to.deep.equal([])
  })
})

/** Where our form is stricter than the official schema, on purpose. */
const STRICTER = [
  /no duration$/, // Durations are texts of any kind there.
  /\/(name|outputCollection|maxAttempts|inputCollection|iterationParam|refName|workflowId|eventRef|triggerEventRef|type|source) .*is an empty text/, // An empty name names nothing.
]

/** Faults of the official schema itself: what it rejects by them needs no tolerance of ours. */
function isOfficialFault({ errors }: ValidateFunction): boolean {
  const keywords = new Set((errors ?? []).map(({ keyword }) => keyword))
  return keywords.has('multipleOf') || (errors ?? []).some(({ keyword, instancePath, params }) =>
    (keyword === 'minimum' && instancePath.endsWith('/maxAttempts')) ||
    (keyword === 'format' && (params as { format?: string }).format === 'uri') ||
    (keyword === 'oneOf' && instancePath.endsWith('/sleep')))
}

function compileOfficial(directory: string): ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats(ajv)
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json') && name !== 'workflow.json')) {
    ajv.addSchema(JSON.parse(readFileSync(join(directory, file), 'utf8')) as object)
  }
  return ajv.compile(JSON.parse(readFileSync(join(directory, 'workflow.json'), 'utf8')) as object)
}

function readDocuments(directory: string): readonly (readonly [string, JsonObject])[] {
  return readdirSync(directory).sort().flatMap((file) => {
    try {
      const document = parse(readFileSync(join(directory, file), 'utf8')) as Json
      return isJsonObject(document) ? [[file, document] as const] : []
    } catch {
      return [] // Some published texts do not parse; corpus.test.ts holds that they are refused.
    }
  })
}

interface Mutant {
  readonly change: string
  readonly mutant: JsonObject
}

/** Leaves out each property in turn, and replaces each value by one of another kind. */
function mutate([name, document]: readonly [string, JsonObject]): readonly Mutant[] {
  return pathsOf(document).flatMap((path) => ([undefined, 1, '', 'x', true, [], {}] as const).flatMap((replacement) => {
    const mutant = structuredClone(document) as Record<string, Json>
    let place = mutant
    for (const token of path.slice(0, -1)) place = place[token] as Record<string, Json>
    const last = path.at(-1) ?? ''
    if (replacement === undefined && Array.isArray(place)) return []
    if (replacement === undefined) Reflect.deleteProperty(place, last)
    else place[last] = replacement
    return [{ change: `${name} /${path.join('/')} ${replacement === undefined ? 'left out' : `= ${JSON.stringify(replacement)}`}`, mutant }]
  }))
}

function pathsOf(value: Json): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value as Readonly<Record<string, Json>>).flatMap(([key, child]) => [
    [key], ...(['data', 'arguments', 'metadata', 'constants'].includes(key) ? [] : pathsOf(child).map((path) => [key, ...path])),
  ])
}
