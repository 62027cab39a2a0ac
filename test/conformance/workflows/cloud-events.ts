import { randomUUID } from 'node:crypto'
import type { Fields } from './case-file.ts'
import type { ReceivedRequest } from './servers/http-server.ts'

/** A CloudEvent as JSON, its data as a value. */
export type EventDocument = Fields

/** How a request over HTTP carries an event. */
export interface EventRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

// The codec of the product is not used here: the runner drives it from outside.

/** Encodes an event for a POST: attributes in `ce-*` headers, or everything in one document. */
export function encodeEvent(event: EventDocument, mode: 'structured' | 'binary', contentType?: string): EventRequest {
  // Some origins write an empty source; the binding wants a value.
  const complete: EventDocument = { ...event, source: event['source'] === '' ? '/conformance' : event['source'], id: event['id'] ?? randomUUID() }
  if (mode === 'structured') return { headers: { 'content-type': contentType ?? 'application/json' }, body: JSON.stringify(complete) }
  const { data, datacontenttype, ...attributes } = complete
  const headers = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, String(value)]))
  const media = contentType ?? (typeof datacontenttype === 'string' ? datacontenttype : 'application/json')
  return { headers: { 'content-type': media, ...headers }, body: data === undefined ? '' : JSON.stringify(data) }
}

/** Decodes the event that a request carries; `undefined` when it carries none. */
export function decodeEvent(request: ReceivedRequest): EventDocument | undefined {
  const media = request.headers['content-type'] ?? ''
  if (request.headers['ce-id'] === undefined) {
    const document = request.body as EventDocument | undefined
    return typeof document === 'object' && 'specversion' in document && 'type' in document ? document : undefined
  }
  const attributes = Object.entries(request.headers).filter(([name]) => name.startsWith('ce-')).map(([name, value]) => [name.slice(3), decodeHeader(value)])
  const data = request.text === '' ? {} : { data: /json/i.test(media) || media === '' ? request.body : request.text }
  return { ...Object.fromEntries(attributes) as Fields, ...(media === '' ? {} : { datacontenttype: media }), ...data }
}

// Values outside of printable ASCII are percent-encoded (HTTP protocol binding 3.1.3.2).
function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
