import type { EventOutput, ReceivedEvent } from './event.ts'
import type { Infer, JsonSchema } from './schema-types.ts'

declare const VALUE: unique symbol
const DESCRIPTOR = Symbol.for('sonatina.descriptor')

interface Described<Kind extends string, Value> {
  readonly kind: Kind
  /** Carries the type only; no such property exists at run time. */
  readonly [VALUE]?: Value
}

/** A JSON value that fits a schema. */
export interface JsonDescriptor<Value = unknown> extends Described<'json', Value> {
  readonly schema: JsonSchema
}
/** A text. */
export type TextDescriptor = Described<'text', string>
/** Bytes; travel by CloudEvent only (rule 2). */
export type BytesDescriptor = Described<'bytes', Uint8Array>
/** No value. */
export type NothingDescriptor = Described<'nothing', undefined>
/** A value with the attributes of its CloudEvent (rules 1 and 7). */
export interface EventDescriptor<Inner extends DataDescriptor = DataDescriptor> extends Described<'cloudEvent', unknown> {
  readonly inner: Inner
}

/** Descriptors that a CloudEvent can carry. */
export type DataDescriptor = JsonDescriptor | TextDescriptor | BytesDescriptor | NothingDescriptor
/** What the input or output of a function can be: a closed set (rule 4). */
export type Descriptor = DataDescriptor | EventDescriptor

/** The value that a handler receives. */
export type InputOf<D extends Descriptor> =
  D extends EventDescriptor<infer Inner> ? ReceivedEvent<InputOf<Inner>>
  : D extends Described<string, infer Value> ? Value
  : never

// What a handler without a return statement gives.
type NoOutput = ReturnType<() => void>

/** The value that a handler gives back, or a promise of it. */
export type OutputOf<D extends Descriptor> =
  D extends EventDescriptor<infer Inner> ? EventOutput<InputOf<Inner>> | null | undefined
  : D extends NothingDescriptor ? NoOutput
  : D extends Described<string, infer Value> ? Value
  : never

/**
 * Describes a JSON value: a bean, map, list, text, number, integer or boolean (function-runtime.md §1).
 *
 * The handler's type is inferred from a literal schema or a TypeBox schema.
 *
 * @example
 * const Person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
 * const greet = defineFunction({ name: 'greet', input: json(Person), output: text }, (person) => `Hello ${person.name}`)
 * greet.options.name // => 'greet'
 */
export function json<const Schema extends JsonSchema>(schema: Schema): JsonDescriptor<Infer<Schema>> {
  return mark({ kind: 'json', schema })
}

/** Describes a text: a JSON string, or the body of a `text/*` event. */
export const text: TextDescriptor = mark({ kind: 'text' })

/** Describes bytes: a `Uint8Array`, by CloudEvent only. */
export const bytes: BytesDescriptor = mark({ kind: 'bytes' })

/** Describes the absence of a value. */
export const nothing: NothingDescriptor = mark({ kind: 'nothing' })

/** Describes a value together with the attributes of its CloudEvent; an input like this needs an event (rule 1). */
export function cloudEvent<Inner extends DataDescriptor>(inner: Inner): EventDescriptor<Inner> {
  return mark({ kind: 'cloudEvent', inner })
}

/** Tells whether a value was made by one of the descriptors, also by another copy of the package. */
export function isDescriptor(value: unknown): value is Descriptor {
  return typeof value === 'object' && value !== null && DESCRIPTOR in value
}

function mark<D extends object>(descriptor: D): D {
  Object.defineProperty(descriptor, DESCRIPTOR, { value: true })
  return Object.freeze(descriptor)
}
