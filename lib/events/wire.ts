import { setOwn } from '../common/index.ts'
import { assertAttributes, invalidEvent, type AttributeOptions } from './attributes.ts'
import { fromBase64, toBase64 } from './base64.ts'
import type { CloudEventRecord, EventMode } from './cloud-event.ts'
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts'
import { decodeUtf8, parseJsonBytes } from './json-bytes.ts'
import { toJsonText } from './json-text.ts'
import { isJsonMediaType, isUtf8, parseMediaType } from './media-type.ts'
import { decodeStructured, encodeStructured, type DecodeOptions } from './structured.ts'

/** Media type of one event in structured mode. */
export const EVENT_MEDIA_TYPE = 'application/cloudevents+json'
/** Media type of a batch. */
export const BATCH_MEDIA_TYPE = 'application/cloudevents-batch+json'

/** Headers as `node:http` gives them: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const PREFIX = 'ce-'

/**
 * Tells how a request carries an event, or that it carries none: `ce-id` decides before the media type (function-runtime.md §3).
 *
 * A batch is no event here; nor is a JSON body that happens to look like one.
 */
export function eventModeOf(headers: RequestHeaders): EventMode | undefined {
  if (headers['ce-id'] !== undefined) return 'binary'
  const contentType = headers['content-type']
  if (typeof contentType !== 'string') return undefined
  return parseMediaType(contentType)?.essence === EVENT_MEDIA_TYPE ? 'structured' : undefined
}

/** Tells whether a request carries one event, in either mode. */
export function isCloudEventRequest(headers: RequestHeaders): boolean {
  return eventModeOf(headers) !== undefined
}

/**
 * Reads the event of an HTTP request or answer. Without `ce-id` the body is taken as the JSON event format, whatever its media type.
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`; message and `details.attribute` name the attribute at fault
 */
export function decodeHttp(
  message: { readonly headers: RequestHeaders; readonly body: Uint8Array },
  options: DecodeOptions = {},
): { mode: EventMode; event: CloudEventRecord } {
  if (message.headers['ce-id'] !== undefined) {
    const attributes = decodeAttributes(message.headers, options)
    const data = decodeData(message.body, attributes.datacontenttype, options)
    return { mode: 'binary', event: { ...attributes, ...data } }
  }
  const contentType = message.headers['content-type']
  const mediaType = typeof contentType === 'string' ? parseMediaType(contentType) : undefined
  if (mediaType !== undefined && !isUtf8(mediaType)) throw invalidEvent('body', 'is not in UTF-8; no other charset can be read')
  return { mode: 'structured', event: decodeStructured(message.body, options) }
}

/**
 * Writes an event as headers and body of an HTTP request or answer.
 *
 * @returns body `undefined` when the event has no data in binary mode
 * @throws {@link EventError} `CLOUD_EVENT_INVALID` when the record is not a valid event
 */
export function encodeHttp(
  event: CloudEventRecord,
  mode: EventMode,
): { headers: Record<string, string>; body: Uint8Array | undefined } {
  const { data, data_base64: base64, ...attributes } = event
  assertAttributes(attributes)
  if (mode === 'structured') {
    return { headers: { 'content-type': EVENT_MEDIA_TYPE }, body: encodeStructured(event) }
  }
  const headers = encodeAttributes(event)
  if (base64 !== undefined) return { headers, body: fromBase64(base64) }
  if (data === undefined) return { headers, body: undefined }
  headers['content-type'] ??= 'application/json'
  const mediaType = parseMediaType(headers['content-type'])
  const isText = typeof data === 'string' && mediaType !== undefined && !isJsonMediaType(mediaType)
  return { headers, body: Buffer.from(isText ? data : toJsonText(data)) }
}

/**
 * Writes the attributes of a valid event as headers of binary mode, `datacontenttype` as `content-type`; data is left to the
 * caller (CloudEvents HTTP binding §3.1.3).
 */
export function encodeAttributes(event: CloudEventRecord): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name in event) {
    const value = event[name]
    if (value === undefined || name === 'data' || name === 'data_base64') continue
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (name === 'datacontenttype') {
      headers['content-type'] = text
      continue
    }
    const spelling = name === 'dataschema' && event.specversion === '0.3' ? 'schemaurl' : name
    headers[PREFIX + spelling] = encodeHeaderValue(text)
  }
  return headers
}

/**
 * Reads the attributes of an event in binary mode; the body is left to the caller (CloudEvents HTTP binding §3.1).
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`
 */
export function decodeAttributes(headers: RequestHeaders, options: AttributeOptions = {}): CloudEventRecord {
  const attributes: Record<string, string> = {}
  const version03 = headers['ce-specversion'] === '0.3'
  for (const header in headers) {
    if (!header.startsWith(PREFIX)) continue
    const value = headers[header]
    if (value === undefined) continue
    const name = header.slice(PREFIX.length)
    // The media type of the data is the header Content-Type; the encoding of 0.3 is about JSON documents only.
    if (name === 'datacontenttype' || (version03 && name === 'datacontentencoding')) continue
    const decoded = decodeHeaderValue(typeof value === 'string' ? value : value.join(', '))
    if (decoded === undefined) throw invalidEvent(name, 'is not UTF-8')
    setOwn(attributes, version03 && name === 'schemaurl' ? 'dataschema' : name, decoded)
  }
  const contentType = headers['content-type']
  if (typeof contentType === 'string') attributes['datacontenttype'] = contentType
  assertAttributes(attributes, options)
  return attributes as unknown as CloudEventRecord
}

/**
 * Reads the body of an event in binary mode by its media type: JSON to its value, `text/*` to text, anything else to base64; an
 * empty body is no data (http-contract.md §5).
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID` when the body is not what its media type says
 */
function decodeData(
  body: Uint8Array,
  contentType: string | undefined,
  options: DecodeOptions = {},
): Pick<CloudEventRecord, 'data' | 'data_base64'> {
  if (body.byteLength === 0) return {}
  const mediaType = contentType === undefined ? undefined : parseMediaType(contentType)
  if (mediaType !== undefined && isJsonMediaType(mediaType)) {
    if (!isUtf8(mediaType)) throw invalidEvent('datacontenttype', 'names another charset than UTF-8 for JSON')
    const parsed = parseJsonBytes(body, options.maxDepth)
    if ('reason' in parsed) throw invalidEvent('data', parsed.reason)
    return { data: parsed.value }
  }
  if (mediaType?.essence.startsWith('text/') === true) {
    const text = isUtf8(mediaType) ? decodeUtf8(body) : undefined
    if (text === undefined) throw invalidEvent('data', 'is not text in UTF-8')
    return { data: text }
  }
  return { data_base64: toBase64(body) }
}
