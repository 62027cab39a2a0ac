import { isJsonObject, setOwn, type Json, type JsonObject } from '../common/index.ts'
import { assertAttributes, invalidEvent, type AttributeOptions } from './attributes.ts'
import { isBase64 } from './base64.ts'
import type { CloudEventRecord } from './cloud-event.ts'
import { parseJsonBytes } from './json-bytes.ts'
import { toJsonText } from './json-text.ts'

/** What a caller may loosen or tighten when reading events. */
export interface DecodeOptions extends AttributeOptions {
  /** Reads camelCase attribute names as lower case instead of refusing them, in structured events. @default false */
  readonly lenientNames?: boolean
  /** Deepest nesting of the JSON that is read. @default 1000 */
  readonly maxDepth?: number
}

/**
 * Reads one event of the JSON event format (structured mode).
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`
 */
export function decodeStructured(body: Uint8Array, options: DecodeOptions = {}): CloudEventRecord {
  return fromDocument(parseBody(body, options), options)
}

/**
 * Reads a batch of the JSON batch format: an array of events, possibly empty.
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID` when one of them is invalid; nothing of the batch is handed out then
 */
export function decodeBatch(body: Uint8Array, options: DecodeOptions = {}): CloudEventRecord[] {
  const documents = parseBody(body, options)
  if (!Array.isArray(documents)) throw invalidEvent('body', 'is not an array; a batch is a JSON array of events')
  return documents.map((document: Json) => fromDocument(document, options))
}

/**
 * Makes a record of one parsed JSON document of the JSON event format.
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`
 */
export function fromDocument(document: Json, options: DecodeOptions = {}): CloudEventRecord {
  if (!isJsonObject(document)) throw invalidEvent('body', 'is not a JSON object')
  const { attributes, data, base64, base64Member } = splitMembers(document, options.lenientNames === true)
  assertAttributes(attributes)
  if (base64 === undefined) return (data === undefined ? attributes : { ...attributes, data }) as CloudEventRecord
  if (data !== undefined) throw invalidEvent('data_base64', 'stands beside data; an event has one of them')
  if (typeof base64 !== 'string' || !isBase64(base64)) throw invalidEvent(base64Member, 'is not base64')
  return { ...attributes, data_base64: base64 } as unknown as CloudEventRecord
}

interface Members {
  /** In the words of version 1.0. */
  readonly attributes: Record<string, Json>
  readonly data: Json | undefined
  readonly base64: Json | undefined
  /** Member that the base64 stood in. */
  readonly base64Member: 'data' | 'data_base64'
}

function splitMembers(document: JsonObject, lenientNames: boolean): Members {
  const attributes: Record<string, Json> = {}
  let data: Json | undefined
  let base64: Json | undefined
  for (const key of Object.keys(document)) {
    const value = document[key] ?? null
    const name = lenientNames ? key.toLowerCase() : key
    // JSON null is the format's way to say that a member is not set; only `data` can be null.
    if (name === 'data') data = value
    else if (value !== null && name === 'data_base64') base64 = value
    else if (value !== null) setOwn(attributes, name, value)
  }
  const members: Members = { attributes, data, base64, base64Member: 'data_base64' }
  return attributes['specversion'] === '0.3' ? fromVersion03(members) : members
}

// Version 0.3 has other names for the schema, and marks base64 beside the data.
function fromVersion03(members: Members): Members {
  const { schemaurl, datacontentencoding: encoding, ...attributes } = members.attributes
  const renamed = schemaurl === undefined ? attributes : { ...attributes, dataschema: schemaurl }
  if (encoding === undefined) return { ...members, attributes: renamed }
  if (typeof encoding !== 'string' || !/^(?:base64|7bit|8bit|binary)$/i.test(encoding)) {
    throw invalidEvent('datacontentencoding', 'is not base64; no other encoding of 0.3 can be read')
  }
  const isEncoded = encoding.toLowerCase() === 'base64' && members.data !== undefined && members.data !== null
  if (!isEncoded) return { ...members, attributes: renamed }
  return { attributes: renamed, data: undefined, base64: members.data, base64Member: 'data' }
}

/** Makes the JSON document of an event, in the words of its own version (JSON event format §3). */
export function toDocument(event: CloudEventRecord): Record<string, Json> {
  if (event.specversion !== '0.3') return { ...event }
  const { dataschema, data_base64: base64, ...rest } = event
  const document: Record<string, Json> = { ...rest }
  if (dataschema !== undefined) document['schemaurl'] = dataschema
  if (base64 !== undefined) {
    document['datacontentencoding'] = 'base64'
    document['data'] = base64
  }
  return document
}

/** Writes an event in the JSON event format as UTF-8. */
export function encodeStructured(event: CloudEventRecord): Uint8Array {
  return Buffer.from(toJsonText(toDocument(event)))
}

/** Writes events in the JSON batch format as UTF-8. */
export function encodeBatch(events: readonly CloudEventRecord[]): Uint8Array {
  return Buffer.from(toJsonText(events.map(toDocument)))
}

function parseBody(body: Uint8Array, options: DecodeOptions): Json {
  const parsed = parseJsonBytes(body, options.maxDepth)
  if ('reason' in parsed) throw invalidEvent('body', parsed.reason)
  return parsed.value
}
