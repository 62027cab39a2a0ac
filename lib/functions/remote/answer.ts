import { isUtf8 } from 'node:buffer'
import type { Json } from '../../common/index.ts'
import { FunctionError } from '../../errors/index.ts'
import { isJsonMediaType, parseMediaType, type MediaType } from '../../events/index.ts'
import type { FunctionResult } from '../invoker.ts'

/** An answer as it came, body decompressed and complete. */
export interface RemoteAnswer {
  readonly status: number
  readonly statusText: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** How an answer is read. */
export interface AnswerOptions {
  /** Who was called, for messages: never an address, which callers of the workflow must not see. */
  readonly callee: string
  /** Facts for `details` of errors, such as the operationId. */
  readonly details?: Readonly<Record<string, Json>>
  /** `metadata.failOnStatusCode`. @default true */
  readonly failOnStatus?: boolean
  readonly method: string
  /** Milliseconds since the epoch; for a `Retry-After` that names an instant. */
  readonly now: number
}

// Longest remote text in an error message, characters.
const MAX_MESSAGE = 8192
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504])

/**
 * Turns an answer into the result of a function (openapi-functions.md §5): JSON to its value, other text to a string, bytes to
 * base64, nothing to null.
 *
 * @throws {@link FunctionError} `REST_STATUS` for a status outside 2xx, `FUNCTION_FAILED` when it says JSON but is not
 */
export function readAnswer(answer: RemoteAnswer, options: AnswerOptions): FunctionResult {
  const response = { statusCode: answer.status, statusMessage: answer.statusText, headers: answer.headers }
  const successful = answer.status >= 200 && answer.status < 300
  if (!successful && (options.failOnStatus ?? true)) throw statusError(answer, options)
  if (answer.body.byteLength === 0 || answer.status === 204 || answer.status === 205 || options.method === 'HEAD') {
    return { output: null, response }
  }
  return { output: decodeBody(answer, options), response }
}

function decodeBody(answer: RemoteAnswer, options: AnswerOptions): Json {
  const contentType = answer.headers['content-type']
  const mediaType = contentType === undefined || contentType === '' ? undefined : parseMediaType(contentType)
  if (mediaType === undefined) {
    const text = decodeText(answer.body, undefined)
    return text === undefined ? toBase64(answer.body) : parseOr(text, text)
  }
  if (isJsonMediaType(mediaType)) return parseJson(answer, mediaType, options)
  if (isText(mediaType)) return decodeText(answer.body, mediaType) ?? toBase64(answer.body)
  return toBase64(answer.body)
}

function parseJson(answer: RemoteAnswer, mediaType: MediaType, options: AnswerOptions): Json {
  const text = decodeText(answer.body, mediaType)
  if (text === undefined) throw notJson(`it is not text in ${mediaType.charset ?? 'UTF-8'}`, { answer, mediaType, options })
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw notJson(faultOf(text, cause), { answer, mediaType, options })
  }
}

function notJson(reason: string, { answer, mediaType, options }: { readonly answer: RemoteAnswer; readonly mediaType: MediaType; readonly options: AnswerOptions }): FunctionError {
  return new FunctionError({
    code: 'FUNCTION_FAILED',
    message: `${options.callee} answered ${String(answer.status)} with ${mediaType.essence} that is not JSON: ${reason}`,
    details: { ...options.details },
  })
}

const TOKEN = /\s+|[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Says where a text stops being JSON, without the text: the parser's message quotes what stands there, which may be anything. */
function faultOf(text: string, cause: unknown): string {
  const told = cause instanceof Error ? /at position \d+/.exec(cause.message)?.[0] : undefined
  if (told !== undefined) return `a fault ${told}`
  let position = 0
  for (TOKEN.lastIndex = 0; TOKEN.test(text); position = TOKEN.lastIndex);
  return position < text.length ? `a fault at position ${String(position)}` : 'it ends too early, or its parts do not fit'
}

function parseOr(text: string, fallback: Json): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return fallback
  }
}

/** Decodes by the charset given, UTF-8 by default; `undefined` when the bytes are not text in it. */
function decodeText(body: Uint8Array, mediaType: MediaType | undefined): string | undefined {
  const charset = mediaType?.charset
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return isUtf8(body) ? withoutMark(toBuffer(body).toString('utf8')) : undefined
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function isText({ essence }: MediaType): boolean {
  return essence.startsWith('text/') || essence.endsWith('+xml') || essence === 'application/xml' ||
    essence === 'application/x-www-form-urlencoded' || essence === 'application/javascript' || essence === 'application/yaml'
}

function toBase64(bytes: Uint8Array): string {
  return toBuffer(bytes).toString('base64')
}

function statusError(answer: RemoteAnswer, options: AnswerOptions): FunctionError {
  const text = toBuffer(answer.body.subarray(0, 4 * MAX_MESSAGE)).toString('utf8').trim()
  const retryAfter = retryAfterOf(answer.headers['retry-after'], options.now)
  return new FunctionError({
    code: 'REST_STATUS',
    message: (text === '' ? answer.statusText || `Status ${String(answer.status)}` : text).slice(0, MAX_MESSAGE),
    status: answer.status,
    retryable: RETRYABLE.has(answer.status),
    ...(retryAfter !== undefined && { retryAfter }),
    details: { callee: options.callee, ...options.details },
  })
}

/** Reads `Retry-After` (RFC 9110 §10.2.3) as milliseconds from now. */
function retryAfterOf(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - now)
}
