import { createRequire } from 'node:module'
import type * as Ajv07 from 'ajv'
import type { AnySchemaObject, ErrorObject, Options, ValidateFunction } from 'ajv'
import type AjvCore from 'ajv/dist/core.js'
import type * as Ajv19 from 'ajv/dist/2019.js'
import type * as Ajv20 from 'ajv/dist/2020.js'
import type Ajv04 from 'ajv-draft-04'
import type AjvFormats from 'ajv-formats'
import { isJsonObject, type Json } from '../common/index.ts'
import { DefinitionError, type Violation } from '../errors/index.ts'
import type { DataSchema } from './types.ts'

/** How a data schema is compiled. */
export interface DataSchemaOptions {
  /** Most violations that are listed. @default 50 */
  readonly limit?: number
}

/** Checks data against a compiled schema; no violations when it fits. */
export type DataValidator = (data: Json) => readonly Violation[]

// Read when the first schema of data is compiled: most definitions have none, and Ajv is a tenth of the start.
const load = createRequire(import.meta.url)

const SETTINGS: Options = { allErrors: true, strict: false, validateFormats: true, logger: false }

/**
 * Makers of the validator of each draft; one instance each, made when it is first needed: making one takes
 * milliseconds.
 */
const DRAFTS: Readonly<Record<string, () => AjvCore.default>> = {
  '04': () => new (load('ajv-draft-04') as typeof Ajv04.default)(SETTINGS),
  // The only draft that Ajv knows and does not bring along compiled in.
  '06': () => new (load('ajv') as typeof Ajv07).Ajv(SETTINGS).addMetaSchema(load('ajv/dist/refs/json-schema-draft-06.json') as AnySchemaObject),
  '07': () => new (load('ajv') as typeof Ajv07).Ajv(SETTINGS),
  '2019-09': () => new (load('ajv/dist/2019.js') as typeof Ajv19).Ajv2019(SETTINGS),
  '2020-12': () => new (load('ajv/dist/2020.js') as typeof Ajv20).Ajv2020(SETTINGS),
}
const instances = new Map<string, AjvCore.default>()

/**
 * Compiles the JSON Schema of workflow data once, for the draft that its `$schema` names: 04, 06, 07, 2019-09 or
 * 2020-12; 07 without one.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` when it is no valid schema, or refers to something that is
 * not in it;
 * `DEFINITION_UNSUPPORTED` for another draft
 *
 * @example
 * const check = compileDataSchema({ schema: { type: 'object', required: ['name'] }, failOnValidationErrors: true })
 * check({})[0]?.message // "must have required property 'name'"
 */
export function compileDataSchema({ schema, uri }: DataSchema, { limit = 50 }: DataSchemaOptions = {}): DataValidator {
  const validator = compile(schema, uri)
  return (data) => {
    if (validator(data)) return []
    return (validator.errors ?? []).slice(0, limit).map(toViolation)
  }
}

function compile(schema: DataSchema['schema'], uri: string | undefined): ValidateFunction {
  const name = uri ?? 'The data schema'
  const ajv = instanceFor(schema, name)
  try {
    return ajv.compile(schema)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `${name} is no valid JSON Schema: ${reason}`, cause: error })
  } finally {
    // The compiled function is all that is kept.
    if (typeof schema === 'object') ajv.removeSchema(schema)
  }
}

function instanceFor(schema: DataSchema['schema'], name: string): AjvCore.default {
  const declared = isJsonObject(schema) && typeof schema['$schema'] === 'string' ? schema['$schema'] : undefined
  const draft = declared === undefined ? '07' : /^https?:\/\/json-schema\.org\/(?:draft-|draft\/)([\d-]+)\/schema#?$/.exec(declared)?.[1] ?? ''
  // Names stay known to an instance; two definitions may bring schemas with one `$id`.
  const isNamed = /"(\$id|id)":"/.test(JSON.stringify(schema))
  const known = isNamed ? undefined : instances.get(draft)
  if (known !== undefined) return known
  const create = DRAFTS[draft]
  if (create === undefined) {
    throw new DefinitionError({
      code: 'DEFINITION_UNSUPPORTED',
      message: `${name} declares $schema ${String(declared)}; drafts 04, 06, 07, 2019-09 and 2020-12 are supported`,
    })
  }
  const ajv = create()
  const addFormats = load('ajv-formats') as typeof AjvFormats.default
  addFormats(ajv)
  if (!isNamed) instances.set(draft, ajv)
  return ajv
}

function toViolation({ instancePath, keyword, message, params }: ErrorObject): Violation {
  const facts = params as Readonly<Record<string, unknown>>
  const choices = keyword === 'enum' ? `: ${JSON.stringify(facts['allowedValues'])}` : ''
  const extra = keyword === 'additionalProperties' ? `: ${String(facts['additionalProperty'])}` : ''
  return { pointer: instancePath, message: `${message ?? `fails ${keyword}`}${choices}${extra}` }
}
