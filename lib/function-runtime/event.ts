import { CloudEvent } from 'cloudevents'
import { assertAttributes, assertExtension, invalidEvent, type CloudEventRecord } from '../events/index.ts'

/** Attributes of an event that a function gives back; whatever is set wins over the defaults of the function. */
export interface EventAttributes {
  readonly id?: string
  readonly source?: string
  readonly type?: string
  readonly time?: string
  readonly subject?: string
  readonly datacontenttype?: string
  readonly dataschema?: string
  /** Extensions: lower-case letters and digits. */
  readonly [extension: string]: unknown
}

const DATA = Symbol.for('sonatina.event-output')

/** An event to answer with, made by {@link event}. */
export interface EventOutput<Data> {
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Data of the event; absent when it has none. */
  readonly [DATA]?: { readonly value: Data }
}

/**
 * Makes the event that a function answers with (rule 7).
 *
 * Only what is given is set; id, source and type have the defaults of function-runtime.md §5. Without `data` the answer has none.
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID` when a name or value is none that an event may carry
 *
 * @example
 * event({ type: 'purchase.success' }).attributes // => { type: 'purchase.success' }
 */
export function event<Data = never>(attributes: EventAttributes & { readonly data?: Data }): EventOutput<Data> {
  const { data, ...rest } = attributes
  const set: Record<string, string | number | boolean> = {}
  for (const name of Object.keys(rest)) {
    const value = rest[name]
    if (value === undefined) continue
    if (name === 'specversion') throw invalidEvent(name, 'cannot be set; the answer has the version of the request')
    assertExtension(name, value)
    set[name] = value as string | number | boolean
  }
  // The rest of the check wants a whole event; the defaults come later.
  assertAttributes({ specversion: '1.0', id: 'default', source: 'default', type: 'default', ...set })
  return Object.freeze({ attributes: Object.freeze(set), [DATA]: data === undefined ? undefined : { value: data } }) as EventOutput<Data>
}

/** Tells whether a value was made by {@link event}. */
export function isEventOutput(value: unknown): value is EventOutput<unknown> {
  return typeof value === 'object' && value !== null && DATA in value
}

/** Gives the data of an answer; `undefined` when it has none. */
export function dataOf(output: EventOutput<unknown>): { readonly value: unknown } | undefined {
  return output[DATA]
}

/**
 * The incoming event as a handler gets it: the `cloudevents` package's class with attributes and extensions as fields, frozen.
 *
 * `data` is always there and of the descriptor's type.
 */
export type ReceivedEvent<Data> = Readonly<CloudEvent<Data>> & { readonly data: Data }

// The package's constructor invents an id and a time and reads base64 into a Uint32Array, so it is not run.
class IncomingEvent extends CloudEvent<unknown> {
  override toJSON(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this))
  }
}

/** Makes the event that a handler sees of a record and its decoded data. */
export function toReceivedEvent(record: CloudEventRecord, data: unknown): ReceivedEvent<unknown> {
  const { data: _encoded, data_base64: _bytes, dataschema, ...attributes } = record
  const received = Object.create(IncomingEvent.prototype) as Record<string, unknown>
  Object.assign(received, attributes, { data })
  if (dataschema !== undefined) received[record.specversion === '0.3' ? 'schemaurl' : 'dataschema'] = dataschema
  return Object.freeze(received) as unknown as ReceivedEvent<unknown>
}
