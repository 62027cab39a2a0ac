import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Violation } from '../errors/index.ts'
import { nearestNames, toPointer } from '../common/index.ts'
import type { Schema } from './schema.ts'

/** Validates a value against one schema; violations are in the order in which they stand in the schema. */
export type SchemaValidator = (value: unknown) => Violation[]

/** Compiles a schema to a validator whose messages name the nearest known field. */
export function compileSchema(schema: Schema): SchemaValidator {
  const ajv = new Ajv({ strict: false, allErrors: true, verbose: true })
  const validate: ValidateFunction = ajv.compile(schema)
  return (value) => validate(value) ? [] : (validate.errors ?? []).map(toViolation)
}

function toViolation(error: ErrorObject): Violation {
  const params = error.params as Readonly<Record<string, unknown>>
  if (error.keyword === 'additionalProperties') return unknownField(error, String(params['additionalProperty']))
  if (error.keyword === 'required') {
    const name = String(params['missingProperty'])
    return { pointer: error.instancePath, message: `the field "${name}" is missing` }
  }
  if (error.keyword === 'enum') return unknownValue(error, params['allowedValues'])
  if (error.data === null && error.keyword === 'type') {
    const message = `null is given where ${String(params['type'])} is expected`
    return { pointer: error.instancePath, message, hint: 'give a value or leave the field out; a cluster removes nulls, and an absent field means any' }
  }
  return { pointer: error.instancePath, ...describe(error, params) }
}

function describe(error: ErrorObject, params: Readonly<Record<string, unknown>>): Omit<Violation, 'pointer'> {
  // Schemas with a `description` say there what a good value looks like.
  const expected = (error.parentSchema as { readonly description?: string } | undefined)?.description
  switch (error.keyword) {
    case 'pattern':
      return { message: `${quote(error.data)} is not ${expected ?? `of the form ${String(params['pattern'])}`}` }
    case 'minItems':
      return { message: 'the list is empty', ...(expected === undefined ? {} : { hint: expected }) }
    case 'uniqueItems':
      return { message: `${quote((error.data as readonly unknown[])[Number(params['i'])])} is listed twice` }
    default:
      return { message: error.message ?? `fails "${error.keyword}"` }
  }
}

function quote(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

function unknownField(error: ErrorObject, name: string): Violation {
  const parent = error.parentSchema as { readonly properties?: Readonly<Record<string, unknown>> } | undefined
  const known = Object.keys(parent?.properties ?? {})
  const [nearest] = nearestNames(name, known)
  const hint = nearest === undefined ? `known fields: ${known.join(', ')}` : `did you mean "${nearest}"?`
  return { pointer: error.instancePath + toPointer([name]), message: `unknown field ${quote(name)}`, hint }
}

function unknownValue(error: ErrorObject, allowed: unknown): Violation {
  const names = Array.isArray(allowed) ? allowed.map(String) : []
  const [nearest] = typeof error.data === 'string' ? nearestNames(error.data, names) : []
  const hint = nearest === undefined ? `allowed: ${names.join(', ')}` : `did you mean "${nearest}"?`
  return { pointer: error.instancePath, message: `${quote(error.data)} is not allowed here`, hint }
}
