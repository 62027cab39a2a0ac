import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from '../common/index.ts'
import type { Descriptor, InputOf, OutputOf } from './descriptors.ts'
import type { ReceivedEvent } from './event.ts'

/** How a function is called and what it takes and gives (function-runtime.md §1). */
export interface FunctionOptions<Input extends Descriptor = Descriptor, Output extends Descriptor = Descriptor> {
  /** Path segment, and event type when there is no trigger. @default the name of the export, of the handler or of the method */
  readonly name?: string
  /** What the handler takes; `nothing` when it takes nothing. */
  readonly input: Input
  /** What the handler gives back; `nothing` when it gives nothing. */
  readonly output: Output
  /** Type of the events that call it; `*` takes what no other function takes. */
  readonly trigger?: string
  /** Type of the answering event. @default `<name>.output` */
  readonly responseType?: string
  /** Source of the answering event. @default the name */
  readonly responseSource?: string
  /** Attributes that the event must have, name without case, value exactly. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Matches property names of the input without case. @default false */
  readonly caseInsensitive?: boolean
}

/** What accompanies a call. */
export interface FunctionContext {
  /** The incoming event; `undefined` for plain HTTP. */
  readonly event: ReceivedEvent<unknown> | undefined
  /** Aborts when the caller leaves, the time is up or the runtime stops. */
  readonly signal: AbortSignal
  /** Log whose lines carry the name of the function. */
  readonly log: Logger
  /** Headers of the request, names in lower case; empty for a call within the process. */
  readonly headers: Readonly<IncomingHttpHeaders>
}

/** The code of a function. */
export type Handler<Input extends Descriptor, Output extends Descriptor> = (
  input: InputOf<Input>,
  context: FunctionContext,
) => OutputOf<Output> | Promise<OutputOf<Output>>

const HOSTED = Symbol.for('sonatina.function')

/** A function ready to be served; call `handler` directly in unit tests. */
export interface HostedFunction<Input extends Descriptor = Descriptor, Output extends Descriptor = Descriptor> {
  readonly options: FunctionOptions<Input, Output>
  readonly handler: Handler<Input, Output>
}

/** A function whose types are only known at run time. */
export interface AnyHostedFunction {
  readonly options: FunctionOptions
  readonly handler: (input: never, context: FunctionContext) => unknown
  /** Why it cannot be served, found where it was declared. */
  readonly fault?: string
}

/**
 * Declares a function: descriptors say what it takes and gives, and the types of the handler follow from them.
 *
 * Nothing is checked here; whoever serves the function reports all faults of all functions together.
 *
 * @example
 * const double = defineFunction({ name: 'double', input: json({ type: 'integer' }), output: json({ type: 'integer' }) }, (n) => n * 2)
 */
export function defineFunction<const Input extends Descriptor, const Output extends Descriptor>(
  options: FunctionOptions<Input, Output>,
  handler: Handler<Input, Output>,
): HostedFunction<Input, Output> {
  return markHosted({ options, handler })
}

/** Marks a declaration as a function to serve. @internal */
export function markHosted<F extends AnyHostedFunction>(declared: F): F {
  Object.defineProperty(declared, HOSTED, { value: true })
  return Object.freeze(declared)
}

/** Tells whether a value was made by {@link defineFunction}, also by another copy of the package. */
export function isHostedFunction(value: unknown): value is AnyHostedFunction {
  return typeof value === 'object' && value !== null && HOSTED in value
}
