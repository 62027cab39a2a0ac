import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isJsonObject, type Json, type JsonObject } from '../common/index.ts'
import { RequestError } from '../errors/index.ts'
import { decodeUtf8, isUtf8, parseJsonBytes, parseMediaType } from '../events/index.ts'
import { findJsonFault } from './json-position.ts'

/** How much of a body is read. */
export interface BodyLimits {
  readonly maxBodySize: number
  readonly maxDepth: number
}

const EMPTY = Buffer.alloc(0)

/** Tells whether a request announces a body. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0'
}

/**
 * Reads the body of a request once, as it was sent.
 *
 * @throws {@link RequestError} `BODY_TOO_LARGE`; `REQUEST_INVALID` when the connection is cut before the end
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (!hasBody(request.headers)) return Promise.resolve(EMPTY)
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit))
  // Its events have passed: nobody would hear of it again.
  if (request.destroyed) return Promise.reject(cut(request.errored))
  return new Promise((resolve, reject) => {
    // Most bodies arrive in one piece, which is then handed on without a copy.
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let size = 0
    const stop = (error: Error): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) { stop(tooLarge(limit)); return }
      if (first === undefined) first = chunk
      else if (more === undefined) more = [first, chunk]
      else more.push(chunk)
    }
    const onEnd = (): void => { resolve(more === undefined ? first ?? EMPTY : Buffer.concat(more)) }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('error', (cause) => { stop(cut(cause)) })
  })
}

function cut(cause: Error | null): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message: 'The connection was cut before the body had arrived.', cause })
}

function tooLarge(limit: number): RequestError {
  return new RequestError({
    code: 'BODY_TOO_LARGE',
    message: `The body is larger than ${String(limit)} bytes. Send less, or raise sonatina.http.limits.max-body-size.`,
  })
}

/**
 * Reads and parses a JSON body; `undefined` when it is empty.
 *
 * @throws {@link RequestError} `MEDIA_TYPE_UNSUPPORTED`, `REQUEST_NOT_JSON` with the position, `BODY_TOO_LARGE`
 */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<Json | undefined> {
  const headers = request.headers
  // A body whose length is known is refused before it is read; an empty one needs no media type.
  const supported = isSupported(headers)
  if (!supported && Number(headers['content-length'] ?? 0) > 0) throw unsupported(headers)
  const bytes = await readBody(request, limits.maxBodySize)
  if (bytes.length === 0) return undefined
  if (!supported) throw unsupported(headers)
  return parseJson(bytes, limits.maxDepth)
}

/** Tells whether a body is compressed: none is unpacked. */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding !== '' && encoding !== 'identity'
}

function isSupported(headers: IncomingHttpHeaders): boolean {
  const contentType = headers['content-type']
  if (isEncoded(headers)) return false
  if (contentType === undefined || contentType === 'application/json') return true
  const mediaType = parseMediaType(contentType)
  return mediaType !== undefined && isUtf8(mediaType) && isWorkflowMediaType(mediaType.essence)
}

// Any JSON media type but those of events, which have an address of their own.
function isWorkflowMediaType(essence: string): boolean {
  if (essence === 'application/json') return true
  return /^application\/.+\+json$/.test(essence) && !/^application\/cloudevents(?:-batch)?\+json$/.test(essence)
}

function unsupported(headers: IncomingHttpHeaders): RequestError {
  const encoding = headers['content-encoding']
  const what = encoding === undefined ? `Content-Type "${headers['content-type'] ?? ''}"` : `Content-Encoding "${encoding}"`
  return new RequestError({
    code: 'MEDIA_TYPE_UNSUPPORTED',
    message: `A body with ${what} cannot be read. Send application/json in UTF-8, without content encoding.`,
  })
}

function parseJson(bytes: Uint8Array, maxDepth: number): Json {
  const parsed = parseJsonBytes(bytes, maxDepth)
  if (!('reason' in parsed)) return parsed.value
  const text = decodeUtf8(bytes)
  if (text === undefined || parsed.reason.includes('nested')) throw notJson(parsed.reason)
  const fault = findJsonFault(text)
  const where = fault.position >= text.length ? 'it ends too early' : `unexpected ${JSON.stringify(text[fault.position])}`
  throw notJson(`is not JSON: ${where}, at position ${String(fault.position)} (line ${String(fault.line)}, column ${String(fault.column)})`)
}

function notJson(reason: string): RequestError {
  return new RequestError({ code: 'REQUEST_NOT_JSON', message: `The body ${reason}.` })
}

/**
 * Takes the workflow data out of a parsed body: the whole object, or its member `workflowdata` (http-contract.md §2).
 *
 * @throws {@link RequestError} `REQUEST_INVALID` when the body has another shape
 */
export function toWorkflowData(body: Json | undefined): JsonObject {
  if (body === undefined || body === null) return {}
  if (!isJsonObject(body)) throw wrongShape(`The body is ${nameOf(body)}`)
  if (!Object.hasOwn(body, 'workflowdata')) return body
  const data = body['workflowdata']
  if (data === null || data === '' || data === undefined) return {}
  if (!isJsonObject(data)) throw wrongShape(`Member "workflowdata" is ${nameOf(data)}`)
  return data
}

function wrongShape(what: string): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message: `${what}. Workflow data is a JSON object, alone or as member "workflowdata".` })
}

function nameOf(value: Json): string {
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
