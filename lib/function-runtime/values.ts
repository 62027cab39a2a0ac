import { fromBase64, decodeUtf8, isJsonMediaType, isUtf8, parseJsonBytes, parseMediaType, toJsonText } from '../events/index.ts'
import { FunctionError, RequestError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import type { Checked } from './conversion.ts'

/** What a function takes or gives, compiled: the descriptor without its wrapper and whether it was wrapped. */
export interface Slot {
  readonly kind: 'json' | 'text' | 'bytes' | 'nothing'
  /** Present for kind `json`. */
  readonly schema: CompiledSchema | undefined
  /** Whether the descriptor was `cloudEvent(…)`. */
  readonly wrapped: boolean
  /** Name of the function, for messages. */
  readonly function: string
  /** How deep JSON may be nested. */
  readonly maxDepth: number
}

/** A body as text or bytes, ready to be sent. */
export interface EncodedData {
  readonly body: string | Buffer
  readonly contentType: string
}

/**
 * Turns a parsed JSON value into what the handler gets.
 *
 * @param value `undefined` and null mean that there is none
 * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID` with JSON pointers
 */
export function readJson(slot: Slot, value: unknown): unknown {
  if (slot.kind === 'nothing') return undefined
  if (value === undefined || value === null) {
    if (slot.schema?.acceptsNull === true) return null
    throw invalidArgument(slot.function, 'it needs an input and none was given')
  }
  if (slot.kind === 'text') {
    if (typeof value === 'string') return value
    throw invalidArgument(slot.function, 'the value must be string')
  }
  const checked: Checked = slot.schema === undefined ? { fault: 'the value must be bytes' } : slot.schema.read(value)
  if ('fault' in checked) throw invalidArgument(slot.function, checked.fault)
  return checked.value
}

/**
 * Turns the raw body of a binary event into what the handler gets (function-runtime.md §5).
 *
 * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID`; {@link RequestError} `REQUEST_NOT_JSON`
 */
export function readBinaryData(slot: Slot, body: Uint8Array, contentType: string | undefined): unknown {
  if (slot.kind === 'nothing') return undefined
  if (slot.kind === 'bytes') return Uint8Array.from(body)
  const mediaType = contentType === undefined ? undefined : parseMediaType(contentType)
  const isText = mediaType?.essence.startsWith('text/') === true && !isJsonMediaType(mediaType)
  if (slot.kind === 'text' && isText) {
    const text = isUtf8(mediaType) ? decodeUtf8(body) : undefined
    if (text !== undefined) return text
    throw invalidArgument(slot.function, 'the data is not text in UTF-8')
  }
  if (body.byteLength === 0) return readJson(slot, undefined)
  if (mediaType !== undefined && !(isJsonMediaType(mediaType) && isUtf8(mediaType))) {
    throw invalidArgument(slot.function, `the data is ${mediaType.essence}; send JSON in UTF-8`)
  }
  return readJson(slot, parseJson(body, slot.maxDepth))
}

/**
 * Turns the data of a structured event into what the handler gets (function-runtime.md §5).
 *
 * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID`; {@link RequestError} `REQUEST_NOT_JSON`
 */
export function readRecordData(slot: Slot, record: CloudEventRecord): unknown {
  if (slot.kind === 'nothing') return undefined
  const { data, data_base64: base64, datacontenttype } = record
  if (base64 !== undefined) return readBinaryData(slot, fromBase64(base64), datacontenttype)
  if (data === undefined || data === null) return readJson(slot, null)
  const mediaType = datacontenttype === undefined ? undefined : parseMediaType(datacontenttype)
  const isJson = mediaType === undefined || isJsonMediaType(mediaType)
  if (slot.kind === 'bytes') return Uint8Array.from(Buffer.from(isJson || typeof data !== 'string' ? toJsonText(data) : data))
  if (isJson || (slot.kind === 'text' && mediaType.essence.startsWith('text/'))) return readJson(slot, data)
  throw invalidArgument(slot.function, `the data is ${mediaType.essence}; send JSON`)
}

/**
 * Parses a JSON body.
 *
 * @throws {@link RequestError} `REQUEST_NOT_JSON`
 */
export function parseJson(body: Uint8Array, maxDepth: number): unknown {
  const parsed = parseJsonBytes(body, maxDepth)
  if ('value' in parsed) return parsed.value
  throw new RequestError({ code: 'REQUEST_NOT_JSON', message: `The body ${parsed.reason}` })
}

/**
 * Turns what a handler gave into JSON, validated.
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` when it does not fit the output descriptor
 */
export function writeJson(slot: Slot, given: unknown): unknown {
  if (slot.kind === 'text') {
    if (typeof given === 'string') return given
    throw invalidOutput(slot.function, 'it is not text')
  }
  const checked = writeChecked(slot, given)
  if ('fault' in checked) throw invalidOutput(slot.function, checked.fault)
  return checked.value
}

/**
 * Turns what a handler gave into the body of an answer.
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` when it does not fit the output descriptor, or is a cycle or a BigInt
 */
export function writeBody(slot: Slot, given: unknown): EncodedData {
  if (slot.kind === 'bytes') {
    if (given instanceof Uint8Array) {
      // Koa knows Buffers only.
      return { body: Buffer.from(given.buffer, given.byteOffset, given.byteLength), contentType: 'application/octet-stream' }
    }
    throw invalidOutput(slot.function, 'it is no Uint8Array')
  }
  const value = writeJson(slot, given)
  try {
    return { body: toJsonText(value), contentType: 'application/json' }
  } catch (error) {
    throw invalidOutput(slot.function, 'it is not JSON', error)
  }
}

/** Makes the error for output that is not what the function promises. */
export function invalidOutput(name: string, reason: string, cause?: unknown): FunctionError {
  return new FunctionError({ code: 'FUNCTION_FAILED', message: `The output of function ${name} is wrong: ${reason}`, cause })
}

function writeChecked(slot: Slot, given: unknown): Checked {
  try {
    return slot.schema === undefined ? { fault: 'it has no schema' } : slot.schema.write(given)
  } catch (error) {
    // A cycle against a schema that refers to itself ends in a RangeError.
    return { fault: `it is not JSON (${error instanceof Error ? error.name : 'error'})` }
  }
}

function invalidArgument(name: string, reason: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `The input of function ${name} is wrong: ${reason}` })
}
