import type { Cancellation, CancelSignal, Json, JsonObject } from '../common/index.ts'
import type { EventDefinition } from '../definition/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import type { PathContext } from './context.ts'
import type { EffectInput } from './effect.ts'
import type { WorkflowError } from './workflow-error.ts'

/** How an effect ended. */
export type Result = { readonly output: unknown } | { readonly error: WorkflowError }

/** What comes of looking at an action: its result, or something that a host has to carry out. */
export type Prepared =
  | { readonly kind: 'outcome'; readonly outcome: Result }
  | { readonly kind: 'command'; readonly command: CallCommand | SubflowCommand }
  | { readonly kind: 'publish'; readonly event: CloudEventRecord }
  /** The action is a wait for an event of that type. */
  | { readonly kind: 'await'; readonly type: string }

/** How a command ended: with a result, or, where expressions take time, with what is to be done next. */
export type Outcome = Result | { readonly prepared: Prepared }

/** What an instance asks its host to do; the host answers with the token. */
export type Command =
  | CallCommand
  | { readonly kind: 'timer'; readonly token: string; readonly dueAt: number }
  | SubflowCommand
  | { readonly kind: 'publish'; readonly event: CloudEventRecord }

/** What an asynchronous action was prepared from: enough to prepare it again. */
export interface DetachedOrigin {
  readonly input: EffectInput
  readonly context: PathContext
}

/** A function call, or an evaluation that takes time. */
export interface CallCommand {
  readonly kind: 'call'
  readonly token: string
  /** Nobody waits for the answer (S102). */
  readonly detached: boolean
  /** Given with what nobody waits for: the instance does not hold it any more. */
  readonly origin?: DetachedOrigin
  /** Changes nothing outside. */
  readonly isPure?: boolean
  /** Carries it out: at once, or later. Never throws. */
  run(signal: CancelSignal): MaybePromise<Outcome>
  /** It is under way already, and is given up with this. */
  readonly begun?: { readonly cancellation: Cancellation; readonly outcome: Promise<Outcome> }
}

/** The start of another workflow (S185–S195). */
export interface SubflowCommand {
  readonly kind: 'subflow'
  readonly token: string
  readonly workflowId: string
  readonly version?: string
  readonly input: Json
  readonly variables?: JsonObject
  readonly detached: boolean
  readonly origin?: DetachedOrigin
  readonly onParentComplete: 'terminate' | 'continue'
  /** Filters what it gave. Never throws. */
  finish(output: Json): MaybePromise<Outcome>
}

/** What an instance waits for from outside. */
export interface EventWait {
  readonly token: string
  /** Event definitions, with the entry of the state that each belongs to. */
  readonly events: readonly { readonly definition: EventDefinition; readonly entry: number }[]
}
