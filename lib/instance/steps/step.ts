import type { Json, JsonObject } from '../../common/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import type { Bindings, MaybePromise } from '../../expressions/index.ts'
import type { PathContext, RetryProgress } from '../context.ts'
import type { Address } from '../../translation/index.ts'
import type { Program } from '../program.ts'

/** What a step needs from the instance that takes it. */
export interface StepScope {
  readonly program: Program
  /** Variables for expressions evaluated against a context. */
  bindings(context: PathContext): Bindings
  /** A fresh CloudEvent id, stable when the step is repeated after a crash. */
  nextEventId(): string
  /** Completes an event with the attributes that every event of the instance carries. */
  stamp(event: CloudEventRecord, context: PathContext): CloudEventRecord
  /** A number from 0 (included) to 1 (excluded). */
  random(): number
  /** Told which condition a switch took, for the history; -1 is the default. */
  chose?(state: number, choice: number): void
  /** Told that an action will be tried again, for the history. */
  retries?(params: StepParams, progress: RetryProgress): void
}

/** A machine event as steps see it. */
export interface StepEvent {
  readonly type: string
  readonly output?: unknown
  readonly error?: unknown
  readonly actorId?: string
  readonly data?: unknown
}

/** Static facts of a step: where in the definition it stands. */
export type StepParams = JsonObject & {
  readonly state?: number
  readonly branch?: number
  readonly action?: number
  /** Key of the step that may fail and be retried. */
  readonly node?: string
  /** Key of a way out of the state. */
  readonly leave?: string
  /** Node at which a compensation ends. */
  readonly returnTo?: string
}

/** Changed parts of a context; `undefined` clears one. */
export type Patch = { readonly [Key in keyof PathContext]?: PathContext[Key] | undefined }

/** Changes the context of a machine; pure, and total: it never throws. */
export type FlowStep = (context: PathContext, params: StepParams, event: StepEvent, scope: StepScope) => Patch

/** Evaluates expressions and changes the context; may throw, and is asynchronous for JSONata. */
export type EvaluatingStep = (context: PathContext, params: StepParams, scope: StepScope) => MaybePromise<Patch>

/** Goes on with a value now or later. */
export function chain<From, To>(value: MaybePromise<From>, next: (value: From) => MaybePromise<To>): MaybePromise<To> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The compiled state of a step. */
export function stateOf(program: Program, params: StepParams): Program['states'][number] {
  return program.states[params.state ?? 0] as Program['states'][number]
}

/** A filter that selects nothing filters nothing in profile `spec`; it gives null in `sonataflow` (S147, A02). */
export function filtered(program: Program, data: Json, value: Json): Json {
  return value === null && program.profile === 'spec' ? data : value
}

/** The address in the parameters of a step. */
export function addressOf(params: StepParams): Address & { readonly first?: number } {
  return params.state === undefined ? { ...params, state: 0 } : params as StepParams & { readonly state: number }
}
