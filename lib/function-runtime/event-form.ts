import type { Context } from 'koa'
import { RequestError } from '../errors/index.ts'
import {
  EVENT_MEDIA_TYPE,
  decodeAttributes,
  decodeHttp,
  encodeAttributes,
  isJsonMediaType,
  parseMediaType,
  toBase64,
  toDocument,
  toJsonText,
  type CloudEventRecord,
  type EventMode,
  type RequestHeaders,
} from '../events/index.ts'
import type { EventAnswer } from './answer-event.ts'
import { readBody } from './body.ts'
import { toReceivedEvent, type ReceivedEvent } from './event.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'
import type { ResolvedFunction } from './resolve-functions.ts'
import { readBinaryData, readRecordData, writeBody } from './values.ts'

const MAX_ATTRIBUTES = 100
const MAX_ATTRIBUTE_SIZE = 64 * 1024

/** An event request, read. */
export interface EventRequest {
  readonly mode: EventMode
  readonly record: CloudEventRecord
  /** Raw body of a binary event. */
  readonly body: Uint8Array
}

/**
 * Reads the event of a request; the data of a binary event is left for the function that takes it (function-runtime.md §5).
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`; {@link RequestError} for limits
 */
export async function readEvent(ctx: Context, mode: EventMode, options: ResolvedFunctionRuntimeOptions): Promise<EventRequest> {
  const { headers } = ctx.req
  if (mode === 'binary') assertWithinLimits(headers)
  const body = await readBody(ctx.req, options.maxBodySize)
  if (mode === 'binary') {
    return { mode, body, record: decodeAttributes(options.lenientEvents ? completed(headers, options.export !== undefined) : headers) }
  }
  const { event } = decodeHttp({ headers, body }, { lenientNames: options.lenientEvents, maxDepth: options.maxDepth })
  return { mode, body, record: event }
}

/**
 * Reads the input of a function from the event that it takes.
 *
 * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID`; {@link RequestError} `REQUEST_NOT_JSON`
 */
export function readEventInput({ input }: ResolvedFunction, { mode, record, body }: EventRequest): unknown {
  const data = mode === 'binary' ? readBinaryData(input, body, record.datacontenttype) : readRecordData(input, record)
  return input.wrapped ? toReceivedEvent(record, data) : data
}

/** Gives the event that `context.event` shows: the handler's own input where that is the event, else with the data it was given. */
export function contextEvent(one: ResolvedFunction, request: EventRequest, input: unknown): ReceivedEvent<unknown> {
  return one.input.wrapped ? input as ReceivedEvent<unknown> : toReceivedEvent(request.record, input)
}

/**
 * Answers an event, in the mode of the request (rule 6); 204 without an answer.
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` when the output is not what the function promises
 */
export function answerEvent(ctx: Context, mode: EventMode, answer: EventAnswer | undefined): void {
  if (answer === undefined) ctx.status = 204
  else if (mode === 'binary') answerBinary(ctx, answer)
  else answerStructured(ctx, answer)
}

function answerBinary(ctx: Context, { record, data, slot }: EventAnswer): void {
  const encoded = data === undefined ? undefined : writeBody(slot, data.value)
  ctx.status = encoded === undefined ? 204 : 200
  ctx.set(encodeAttributes(record))
  if (encoded === undefined) return
  if (record.datacontenttype === undefined) ctx.set('Content-Type', encoded.contentType)
  ctx.body = isRawText(record.datacontenttype, data?.value) ? data?.value : encoded.body
}

function answerStructured(ctx: Context, { record, data, slot }: EventAnswer): void {
  ctx.status = 200
  ctx.set('Content-Type', EVENT_MEDIA_TYPE)
  if (data === undefined) {
    ctx.body = toJsonText(toDocument(record))
    return
  }
  const { body, contentType } = writeBody(slot, data.value)
  const complete: CloudEventRecord = { ...record, datacontenttype: record.datacontenttype ?? contentType }
  ctx.body = typeof body === 'string'
    // The data is JSON text already.
    ? `${toJsonText(toDocument(complete)).slice(0, -1)},"data":${body}}`
    : toJsonText(toDocument({ ...complete, data_base64: toBase64(body) }))
}

// Text under a media type such as text/plain goes out as it is; JSON quotes it.
function isRawText(contentType: string | undefined, value: unknown): boolean {
  if (contentType === undefined || typeof value !== 'string') return false
  const mediaType = parseMediaType(contentType)
  return mediaType !== undefined && !isJsonMediaType(mediaType)
}

function assertWithinLimits(headers: RequestHeaders): void {
  let count = 0
  let size = 0
  for (const name in headers) {
    if (!name.startsWith('ce-')) continue
    count++
    size += name.length + (headers[name]?.length ?? 0)
  }
  if (count > MAX_ATTRIBUTES || size > MAX_ATTRIBUTE_SIZE) {
    throw new RequestError({
      code: 'HEADERS_TOO_LARGE',
      message: `An event has at most ${String(MAX_ATTRIBUTES)} attributes of ${String(MAX_ATTRIBUTE_SIZE)} bytes together`,
    })
  }
}

// What Funqy does without: the version, and under `export` the type and source that nothing is matched against.
function completed(headers: RequestHeaders, exported: boolean): RequestHeaders {
  const defaults = exported ? { 'ce-specversion': '1.0', 'ce-type': 'unknown', 'ce-source': '/' } : { 'ce-specversion': '1.0' }
  return { ...defaults, ...headers }
}
