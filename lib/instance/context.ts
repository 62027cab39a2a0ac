import type { Json, JsonObject } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { Pages } from './pages.ts'
import type { WorkflowError } from './workflow-error.ts'

/** Context of a machine: plain JSON, replaced and never changed in place. */
export interface PathContext {
  /** Workflow data; an iteration's or isolated branch's own; null in a branch that shares the workflow's. */
  readonly data: Json
  /** True for a spawned path that works on data of its own. */
  readonly own?: boolean
  /** Index of the state entered last. */
  readonly state?: number
  /** `$item` and the like (S079). */
  readonly variables?: JsonObject
  /** An error that has no handler, or none yet. */
  readonly failure?: RecordedFailure
  /** The error handled last: `$WORKFLOW.error` (A11). */
  readonly error?: WorkflowError
  /** Index of the condition that a switch chose; -1 for its default. */
  readonly choice?: number
  /** Retries of actions so far, by node. */
  readonly retries?: Readonly<Record<string, RetryProgress>>
  readonly join?: { readonly required: number; readonly completed: number }
  readonly loop?: LoopProgress
  /** Events still to come before an `exclusive: false` state goes on. */
  readonly expected?: number
  /** The answer of a callback that came before its action was done. */
  readonly answer?: EventOutput
  /** Completed states that can be compensated, oldest first (S241). */
  readonly completed?: readonly number[]
  readonly compensating?: { readonly queue: readonly number[]; readonly returnTo: string }
  /** Events that the current step produces. */
  readonly outbox?: readonly CloudEventRecord[]
  readonly continuation?: Continuation
  readonly ending?: 'completed' | 'aborted' | 'timedOut'
  /** Correlation attributes of the instance (S135). */
  readonly correlation?: Readonly<Record<string, string>>
  /** `$WORKFLOW.prevActionResult`. */
  readonly previous?: Json
  /** `$WORKFLOW.statusCode`, `.statusMessage`, `.responseHeaders`. */
  readonly response?: ResponseFacts
  /** Result of the last action of a spawned path. */
  readonly result?: Json
}

/** An error and where it arose. */
export interface RecordedFailure extends WorkflowError {
  /** `<state>` or `<state>/<branch>/<action>`. */
  readonly failedNodeId: string
}

/** How far the retries of an action have come. */
export interface RetryProgress {
  /** Retries scheduled so far. */
  readonly count: number
  /** Delay before the current one, milliseconds. */
  readonly delay: number
  /** The delay without jitter and cap, from which the next one is computed (A27). */
  readonly base: number
}

/** A foreach state at work. */
export interface LoopProgress {
  readonly items: readonly Json[]
  readonly batch: number
  /** Index of the next item to spawn. */
  readonly next: number
  readonly completed: number
  /** Result of each iteration by index; null where an iteration gave none. */
  readonly pages?: Pages<Json>
  /** The same as stores hold it that were written before there were pages. */
  readonly results?: readonly Json[]
}

/** What the answer to an HTTP call said besides its body. */
interface ResponseFacts {
  readonly statusCode: number
  readonly statusMessage: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a wait for events gives: the event and its filtered payload. */
export interface EventOutput {
  /** Index of the `onEvents` entry or event condition. */
  readonly entry: number
  readonly event: CloudEventRecord
  readonly payload: Json
  readonly correlation?: Readonly<Record<string, string>>
}

/** What an action gives. */
export interface ActionOutput {
  readonly skipped?: boolean
  /** Filtered result; absent merges nothing. */
  readonly result?: Json
  readonly response?: ResponseFacts
}

/** What a spawned path gives. */
export interface PathOutput {
  readonly failure?: RecordedFailure
  /** Data of its own, to be merged at the join. */
  readonly data?: Json
  readonly result?: Json
}

/** `continueAs` of an end (S272–S276). */
export interface Continuation {
  readonly workflowId: string
  readonly version?: string
  readonly input: Json
  readonly timeout?: number
}

/** What the root machine gives when it ends. */
export interface WorkflowOutput {
  readonly data: Json
  readonly ending: 'completed' | 'aborted' | 'timedOut'
  readonly continuation?: Continuation
}
