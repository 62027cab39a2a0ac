import type { ErrorObject, ValidateFunction } from 'ajv'
import type Ajv2020 from 'ajv/dist/2020.js'
import type AjvDraft04 from 'ajv-draft-04'
import type addFormats from 'ajv-formats'
import { createRequire } from 'node:module'
import type { Json, JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import { argumentError, type ValueCheck } from './arguments.ts'
import type { OperationModel, ParameterModel } from './model.ts'

// Read when arguments are to be checked: few ask for it, and Ajv is a part of the start that all would pay for.
const load = createRequire(import.meta.url)

/**
 * Compiles the checks of `sonatina.openapi.validate-arguments`: every parameter and the body against the schemas of the document.
 *
 * Values of parameters are compared as the document types them: a text that reads as the number or boolean asked for passes.
 */
export function compileArgumentValidation(operation: OperationModel, document: JsonObject): {
  readonly parameter: (parameter: ParameterModel) => ValueCheck
  readonly body: ValueCheck
} {
  const compile = createCompiler(document)
  const validateBody = operation.body === undefined || operation.body.schema === true ? undefined : compile(operation.body.schema, false)
  return {
    parameter(parameter) {
      if (parameter.schema === true) return (value) => value
      const validate = compile(parameter.schema, true)
      return check(operation, { place: `${parameter.in} parameter "${parameter.name}"`, coerces: true }, validate)
    },
    body: validateBody === undefined ? (value) => value : check(operation, { place: 'the body', coerces: false }, validateBody),
  }
}

type Compile = (schema: JsonObject, coerce: boolean) => ValidateFunction

function createCompiler(document: JsonObject): Compile {
  const options = { strict: false, allErrors: true, validateFormats: true, logger: false } as const
  const modern = typeof document['openapi'] === 'string' && document['openapi'].startsWith('3.1')
  const { default: Ajv } = modern ? load('ajv/dist/2020.js') as typeof Ajv2020 : load('ajv-draft-04') as typeof AjvDraft04
  const { default: formats } = load('ajv-formats') as typeof addFormats
  const make = (coerceTypes: boolean): Ajv2020.default | AjvDraft04.default => {
    const ajv = new Ajv({ ...options, coerceTypes })
    formats(ajv)
    return ajv
  }
  const strict = make(false)
  const coercing = make(true)
  // Cyclic schemas keep references into the document; here they must be relative to the schema that is compiled.
  const shared = relative(Object.fromEntries(Object.entries(document).filter(([key]) => SHARED.test(key)))) as JsonObject
  return (schema, coerce) => {
    try {
      return (coerce ? coercing : strict).compile({ ...shared, allOf: [relative(schema)] })
    } catch (cause) {
      throw new DefinitionError({
        code: 'DEFINITION_INVALID',
        message: `A schema of the document cannot be checked (sonatina.openapi.validate-arguments): ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      })
    }
  }
}

/** Members of a document that schemas refer to. */
const SHARED = /^(?:components|definitions|x-.*)$/

function relative(value: Json): Json {
  if (Array.isArray(value)) return value.map(relative)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => {
    if (key === '$ref' && typeof member === 'string') return [key, member.replace(/^[^#]*#/, '#')]
    return [key, relative(member)]
  }))
}

function check(operation: OperationModel, { place, coerces }: { readonly place: string; readonly coerces: boolean }, validate: ValidateFunction): ValueCheck {
  return (value) => {
    // Coercion changes what it validates.
    const candidate: unknown = coerces ? structuredClone(value) : value
    if (validate(candidate)) return value
    throw argumentError(operation, `${place} does not fit the document: ${describe(validate.errors ?? [])}`)
  }
}

function describe(errors: readonly ErrorObject[]): string {
  return [...new Set(errors.slice(0, 5).map((error) => {
    const allowed = error.keyword === 'enum' ? ` (${(error.params as { allowedValues: readonly unknown[] }).allowedValues.map(String).join(', ')})` : ''
    return `${error.instancePath === '' ? '' : `${error.instancePath} `}${error.message ?? error.keyword}${allowed}`
  }))].join('; ')
}
