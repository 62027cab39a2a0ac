import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { atPointer, fromPointer, nearestNames, toPointer } from '../common/index.ts'
import type { Violation } from '../errors/index.ts'
import type { Mode } from './schema/build.ts'
import { compileSchema } from './schema/compile.ts'

/** A place where a document departs from the schema. */
export interface SchemaFinding extends Violation {
  /** Keyword of JSON Schema that failed. */
  readonly keyword: string
  /** The tolerance that lets it pass all the same, when there is one. */
  readonly tolerance?: string
}

const validators: Partial<Record<Mode, ValidateFunction>> = {}

/** Finds where a document departs from our schema of 0.8, in document order. */
export function findSchemaViolations(document: unknown, mode: Mode): readonly SchemaFinding[] {
  // What is strict is tolerable: for definitions to the letter the tolerant schema is never compiled.
  if (mode === 'tolerant' && validatorOf('strict')(document)) return []
  const validator = validatorOf(mode)
  if (validator(document)) return []
  const findings = (validator.errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => toFinding(error, document))
  // One place can fail the same keyword through several references.
  return [...new Map(findings.map((finding) => [`${finding.pointer}\n${finding.message}`, finding])).values()]
}

function validatorOf(mode: Mode): ValidateFunction {
  return validators[mode] ??= compileSchema(mode)
}

function toFinding(error: ErrorObject, document: unknown): SchemaFinding {
  const describe = DESCRIPTIONS[error.keyword]
  const described = describe?.(error) ?? { message: error.message ?? 'is not as the schema says' }
  const pointer = error.instancePath + (described.property === undefined ? '' : toPointer([described.property]))
  const tolerance = toleranceOf(error)
  const { message, hint } = described
  return {
    pointer,
    message: withStateName(message, pointer, document),
    keyword: error.keyword,
    ...(hint === undefined ? {} : { hint }),
    ...(tolerance === undefined ? {} : { tolerance }),
  }
}

/** Puts the name of the state before a message: `/states/7` alone tells an author little. */
export function withStateName(message: string, pointer: string, document: unknown): string {
  const [part, index] = fromPointer(pointer)
  const name = part === 'states' && index !== undefined ? atPointer(document, toPointer([part, index, 'name'])) : undefined
  return typeof name === 'string' && name !== '' ? `state ${name}: ${message}` : message
}

interface Described {
  readonly message: string
  readonly hint?: string
  /** The property meant, when it is not the place itself. */
  readonly property?: string
}

type Facts = Readonly<Record<string, unknown>>

const DESCRIPTIONS: Readonly<Record<string, (error: ErrorObject) => Described>> = {
  required: ({ params }) => describeMissing(textOf(params, 'missingProperty')),
  additionalProperties: (error) => describeUnknown(textOf(error.params, 'additionalProperty'), error),
  enum: ({ data, params }) => describeChoice(data, (params as { allowedValues: readonly unknown[] }).allowedValues),
  type: ({ data, params }) => ({
    message: `is ${kindOf(data)}`,
    hint: `it must be ${[(params as Facts)['type']].flat().map((type) => TYPE_WORDS[String(type)] ?? String(type)).join(' or ')}`,
  }),
  minItems: () => ({ message: 'is empty (minItems 1)', hint: 'give at least one, or leave it out' }),
  minLength: () => ({ message: 'is an empty text', hint: 'write something, or leave it out' }),
  uniqueItems: () => ({ message: 'names something twice', hint: 'name each once' }),
  pattern: ({ data }) => ({ message: `is ${JSON.stringify(data)}`, hint: 'write true, or an object' }),
  format: ({ data }) => ({
    message: `${JSON.stringify(data)} is no duration`,
    hint: 'write ISO 8601 of days and below, such as "PT30S" or "P7D"; months and years have no fixed length',
  }),
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text', object: 'an object', array: 'a list', boolean: 'true or false', number: 'a number', null: 'nothing',
}

const MISSING_HINTS: Readonly<Record<string, string>> = {
  operation: 'a function says what it calls, e.g. "specs/orders.yaml#createOrder"; containers described in metadata are not run',
  states: 'a definition has at least one state',
  type: 'it is one of operation, switch, inject, parallel, event, sleep, foreach, callback',
}

function describeMissing(property: string): Described {
  return { message: `${property} is missing`, hint: MISSING_HINTS[property] ?? 'add it' }
}

/** Names of older versions of the language and common slips, with what to write. */
const UNKNOWN_HINTS: Readonly<Record<string, string>> = {
  actionFilter: 'write actionDataFilter',
  eventTimeout: 'write timeouts.eventTimeout',
  parameters: 'write arguments',
  retryRef: 'it belongs to the action',
  retryableErrors: 'it belongs to the action',
  nonRetryableErrors: 'it belongs to the action',
  usedForCompensation: 'an event state cannot compensate another (S240)',
}

function describeUnknown(property: string, { parentSchema }: ErrorObject): Described {
  const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {})
  const near = nearestNames(property, known)
  const hint = UNKNOWN_HINTS[property] ??
    (near.length > 0 ? `did you mean ${near.join(' or ')}?` : `known are ${known.sort().join(', ')}`)
  return { message: `additional property ${property}`, hint, property }
}

const TYPES_OF_OLD: Readonly<Record<string, string>> = {
  delay: 'a delay is a sleep state since 0.7',
  subflow: 'a sub-flow is an action with subFlowRef since 0.7',
  console: 'write type custom with operation sysout',
}

function describeChoice(data: unknown, allowed: readonly unknown[]): Described {
  const words = [...new Set(allowed.map(String))]
  const near = typeof data === 'string' ? nearestNames(data, words) : []
  const old = typeof data === 'string' ? TYPES_OF_OLD[data] : undefined
  return {
    message: `is ${typeof data === 'object' ? kindOf(data) : JSON.stringify(data)}`,
    hint: [old, near.length > 0 ? `did you mean ${near.join(' or ')}?` : undefined, `it is one of ${words.join(', ')}`]
      .filter((part) => part !== undefined).join('; '),
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : JSON.stringify(value)
}

function toleranceOf({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  const schema = (parentSchema ?? {}) as {
    tolerance?: string
    tolerances?: { absent: Record<string, string>; extra: Record<string, { tolerance: string }>; open: boolean }
  }
  if (keyword === 'required') return schema.tolerances?.absent[textOf(params, 'missingProperty')]
  if (keyword === 'additionalProperties' && schema.tolerances !== undefined) {
    return schema.tolerances.extra[textOf(params, 'additionalProperty')]?.tolerance ?? (schema.tolerances.open ? 'unknown-property' : undefined)
  }
  return schema.tolerance
}

function textOf(params: unknown, name: string): string {
  return String((params as Facts)[name])
}
