import type { Json } from '../common/index.ts'

/** The attributes of a CloudEvent that the specification knows. */
interface KnownAttributes {
  /** `0.3` or `1.<minor>`, as received. */
  readonly specversion: string
  readonly id: string
  /** URI reference of the producer; with `id` it identifies the event. */
  readonly source: string
  readonly type: string
  /** RFC 3339 instant, as text; never invented by the codec. */
  readonly time?: string
  readonly subject?: string
  /** Media type of the data; absent means JSON. */
  readonly datacontenttype?: string
  readonly dataschema?: string
  /** A JSON value, or the text of a `text/*` event; absent: no data. Never together with `data_base64`. */
  readonly data?: Json
  /** Bytes as base64 (RFC 4648 §4, padded). */
  readonly data_base64?: string
}

/**
 * A CloudEvent inside the product: plain JSON, as it is stored, correlated and handed to expressions.
 *
 * One shape for all versions: what 0.3 calls `schemaurl` stands in `dataschema`, base64 data always in `data_base64`; the codec
 * writes it back in the words of `specversion` (https://github.com/cloudevents/spec, versions 0.3 and 1.x). Extension attributes
 * (lower-case letters and digits) are text, 32-bit integer or boolean.
 *
 * Two types in one, because programs without `exactOptionalPropertyTypes` see `undefined` in what is optional, which is no JSON.
 */
export type CloudEventRecord = KnownAttributes & { readonly [extension: string]: Json }

/** How an event travels: attributes in headers, or everything in one JSON document. */
export type EventMode = 'binary' | 'structured'
