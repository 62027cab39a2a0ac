import type { Json, JsonObject } from '../../common/index.ts'
import { isJsonObject } from '../../common/index.ts'
import { FunctionError } from '../../errors/index.ts'
import { isJsonArray } from '../json-array.ts'
import type { OperationModel, ParameterModel } from './model.ts'

/** Gives a checked value, ready to be written; throws when it cannot be sent. */
export type ValueCheck = (value: Json) => Json

/** How an operation is called in messages. */
function describeOperation(operation: Pick<OperationModel, 'operationId' | 'document'>): string {
  return `operation ${operation.operationId} (${operation.document})`
}

/** Makes the error of an argument that cannot be sent; `problem` says what is wrong and what to do. */
export function argumentError(operation: Pick<OperationModel, 'operationId' | 'document'>, problem: string): FunctionError {
  return new FunctionError({
    code: 'FUNCTION_ARGUMENT_INVALID',
    message: `${describeOperation(operation)}: ${problem}`,
    details: { operationId: operation.operationId, document: operation.document },
  })
}

/**
 * Compiles the checks of a value that hold whatever the place (openapi-functions.md §2): no object where a scalar is asked, no
 * number that lost digits or is not a number of JSON. A JSON text where an array or object is asked is parsed, as swagger-client does.
 */
export function compileValueCheck(operation: OperationModel, parameter: ParameterModel): ValueCheck {
  const { schema } = parameter
  const types = typesOf(schema)
  const place = `${parameter.in} parameter "${parameter.name}"`
  const parses = operation.version === 3 && asksStructure(schema)
  const scalar = types !== undefined && !types.includes('object') && !types.includes('array')
  const integer = types?.includes('integer') ?? false
  return (value) => {
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw argumentError(operation, `${place} is a number out of range; give it as text`)
      if (integer && !Number.isSafeInteger(value) && Number.isInteger(value)) {
        throw argumentError(operation, `${place} is an integer beyond 2^53-1, which has lost digits; give it as text`)
      }
      return value
    }
    if (typeof value === 'string') return parses ? parseStructure(value) : value
    if (scalar && isJsonObject(value)) throw argumentError(operation, `${place} takes ${types.join(' or ')}, not an object`)
    return value
  }
}

const CONTROL = /[\u0000-\u001f\u007f]/

/** Asserts that a path value does not change the path. @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID` */
export function assertPathValue(operation: OperationModel, name: string, { value, written }: { readonly value: Json; readonly written: string }): void {
  const place = `path parameter "${name}"`
  if (written === '') throw argumentError(operation, `${place} is empty, which would change the path; give it a value`)
  if (typeof value === 'string' ? CONTROL.test(value) : CONTROL.test(JSON.stringify(value))) {
    throw argumentError(operation, `${place} contains a control character`)
  }
}

// Visible ASCII, blank, tab and the upper half of Latin-1: what undici and RFC 9110 §5.5 allow.
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** Asserts that a text can be a header value. @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID` */
export function assertHeaderValue(operation: Pick<OperationModel, 'operationId' | 'document'>, place: string, value: string): void {
  if (!HEADER_VALUE.test(value)) {
    throw argumentError(operation, `${place} contains a line break, a control character or a character outside Latin-1`)
  }
}

/** Gives the types that a schema allows; `undefined` when it does not say. */
export function typesOf(schema: JsonObject | true): readonly string[] | undefined {
  if (schema === true) return undefined
  const type = schema['type']
  if (typeof type === 'string') return [type]
  if (isJsonArray(type)) return type.filter((item): item is string => typeof item === 'string')
  return undefined
}

function asksStructure(schema: JsonObject | true): boolean {
  if (schema === true) return false
  const types = typesOf(schema)
  if (types !== undefined) return types.includes('object') || types.includes('array')
  return ['oneOf', 'anyOf'].some((keyword) => {
    const branches = schema[keyword]
    return isJsonArray(branches) && branches.some((branch) => isJsonObject(branch) && asksStructure(branch))
  })
}

function parseStructure(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
