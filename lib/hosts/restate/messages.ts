import type { Json, JsonObject } from '../../common/index.ts'
import type { CloudEventRecord, CorrelationValues } from '../../events/index.ts'
import type { DetachedOrigin, HistoryStep, InstanceFacts, ParentLink, Result, SubflowCommand } from '../../instance/index.ts'
import type { InstanceRecord } from '../host.ts'
import type { SubflowEnd } from '../live-instance.ts'

/** A call that came to something, in a form that can be sent. */
export type Outcome =
  | Result
  | { readonly event: CloudEventRecord }
  | { readonly awaits: string }
  | { readonly subflow: Omit<SubflowCommand, 'finish' | 'kind'> }
  /** An asynchronous call that was prepared: the instance hands it out and goes on. */
  | { readonly detached: true }

/** Facts of an instance that are not settled before it begins: its workflow is looked for then. */
export interface Wanted {
  readonly id: string
  readonly workflowId: string
  readonly version?: string
  readonly input: Json
  readonly headers: Readonly<Record<string, string>>
  readonly parent?: ParentLink
  readonly variables?: JsonObject
  readonly timeout?: number
}

/** Starts an instance. */
export interface StartMessage {
  readonly kind: 'start'
  readonly at: number
  /** What to start: settled by the sender, or to be looked for. */
  readonly settled?: { readonly facts: InstanceFacts; readonly definition: string }
  readonly wanted?: Wanted
  readonly startFrom?: string
  readonly events?: readonly CloudEventRecord[]
  readonly correlation?: CorrelationValues
  /** Compared when the instance exists already: an input under an idempotency key, or an event. */
  readonly startedBy?: string
  /** Answer as soon as it exists. */
  readonly atOnce?: boolean
}

/** What an operator does to an instance. */
export type Operation =
  | { readonly name: 'replaceData'; readonly data: Json }
  | { readonly name: 'mergeData'; readonly data: JsonObject }
  | { readonly name: 'abort' | 'retrigger' | 'skip' }
  | { readonly name: 'trigger'; readonly nodeId: string }
  | { readonly name: 'retriggerNode' | 'cancelNode'; readonly nodeInstanceId: string }
  | { readonly name: 'reschedule'; readonly nodeInstanceId: string; readonly dueAt: number }

/** What moves an instance on; `at` is the instant of it, milliseconds since the epoch. */
export type Message =
  | StartMessage
  | { readonly kind: 'event'; readonly at: number; readonly event: CloudEventRecord; readonly correlated: boolean }
  | { readonly kind: 'settle'; readonly at: number; readonly token: string; readonly attempt: number; readonly outcome: Outcome }
  | { readonly kind: 'timer'; readonly at: number; readonly token: string; readonly dueAt: number }
  | { readonly kind: 'child'; readonly at: number; readonly token: string; readonly childId: string; readonly end?: SubflowEnd }
  | { readonly kind: 'operate'; readonly at: number; readonly workflowId: string; readonly operation: Operation }
  /** Its parent gave it up, or has ended. */
  | { readonly kind: 'stop'; readonly at: number }
  | { readonly kind: 'listen'; readonly at: number; readonly waiter: string }
  | { readonly kind: 'purge'; readonly at: number }

/** What a message came to. */
export interface Reply {
  readonly record?: InstanceRecord
  /** Whether nothing is under way: the record is the answer; else the answer follows. */
  readonly quiet: boolean
  /** Whether the instance took the event, or began with this start. */
  readonly taken?: boolean
  readonly refusal?: { readonly code: string; readonly message: string; readonly details?: JsonObject }
}

/** An asynchronous action, with all that is needed to carry it out once its instance may have ended. */
export interface DetachedMessage {
  readonly facts: InstanceFacts
  readonly definition: string
  readonly origin: DetachedOrigin
}

/** What a turn asks the engine to do. */
export type Action =
  | { readonly kind: 'call'; readonly token: string; readonly attempt: number }
  | { readonly kind: 'detached'; readonly message: DetachedMessage }
  | { readonly kind: 'timer'; readonly token: string; readonly dueAt: number }
  | { readonly kind: 'publish'; readonly event: CloudEventRecord }
  | { readonly kind: 'start'; readonly wanted: Wanted }
  | { readonly kind: 'stop'; readonly instanceId: string }
  | { readonly kind: 'tellParent'; readonly parentId: string; readonly token: string; readonly end?: SubflowEnd }
  /** Replaces what the instance waits for under an event type. */
  | { readonly kind: 'subscribe'; readonly type: string; readonly rev: number; readonly waits: readonly IndexedWait[] }
  | { readonly kind: 'history'; readonly steps: readonly HistoryStep[] }
  | { readonly kind: 'forgetHistory' }
  | { readonly kind: 'answer'; readonly waiter: string; readonly record: InstanceRecord | null }
  | { readonly kind: 'purge'; readonly at: number }

/** A wait as the index of its event type knows it: enough to tell whether an event fits. */
export interface IndexedWait {
  readonly instanceId: string
  readonly type: string
  /** The key that it stands under. */
  readonly key: string
  /** Parts of the event definition. */
  readonly definition: JsonObject
  readonly known: CorrelationValues
  readonly byTypeOnly: boolean
  readonly workflowId: string
  readonly businessKey?: string
  /** It waits where its definition begins. */
  readonly atStart: boolean
}
