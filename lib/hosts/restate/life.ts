import type { Json } from '../../common/index.ts'
import { HostError } from '../../errors/index.ts'
import type { InstanceFacts, PersistedInstance } from '../../instance/index.ts'
import type { InstanceRecord, InstanceStatus } from '../host.ts'

/** Form of the state that this release writes; a reader refuses what it does not know. */
const FORM = 1

/** A sub-flow that an action waits for. */
export interface Child {
  readonly id: string
  readonly workflowId: string
  /** How often it has continued as another workflow. */
  readonly generation: number
  /** Nothing is under way in it. */
  readonly quiet: boolean
}

/** What the engine keeps of an instance: the state of its object. */
export interface Life {
  readonly form: number
  readonly facts: InstanceFacts
  /** Hash of the definition's text. */
  readonly definition: string
  /** Absent once it has ended. */
  readonly state?: PersistedInstance
  /** For callers; the data of a living one stands in its state only. */
  readonly record: Omit<InstanceRecord, 'data'> & { readonly data?: Json }
  readonly nextStep: number
  /** Numbers given out so far: to attempts of calls, and to changes of what it waits for. */
  readonly counter: number
  /** Due instants of the timers that were set, by token. */
  readonly timers: Readonly<Record<string, number>>
  /** Calls handed out, by token; an answer to another attempt is stale. */
  readonly calls: Readonly<Record<string, number>>
  readonly children: Readonly<Record<string, Child>>
  /** Actions that turned out to wait for an event of a type, by token. */
  readonly awaits: Readonly<Record<string, string>>
  /** Ids of sub-flows that end with it (S192). */
  readonly dependents: readonly string[]
  /** What it is known to wait for, by event type: a digest of each. */
  readonly subscribed: Readonly<Record<string, string>>
  /** Received events and when they came. */
  readonly received: Readonly<Record<string, number>>
  /** Who waits for an answer: ids of awakeables. */
  readonly waiters: readonly string[]
  /** Somebody was told that the answer follows, and has not asked for it yet. */
  readonly owed: boolean
  /** Input that was given under an idempotency key, or the event that began it; a second start is compared with it. */
  readonly startedBy?: string
  /** Steps of it are kept. */
  readonly noted: boolean
  /** Its parent knows that it is quiet. */
  readonly toldQuiet: boolean
  /** The invocation that carries a call out and can be interrupted. */
  readonly running?: string
  /** It was aborted by an interruption; the operator who asked for it is about to read the answer. */
  readonly interrupted?: boolean
}

/** What lists are made from, kept beside the life so that a list reads little. */
export interface Head {
  readonly workflowId: string
  readonly status: InstanceStatus
  readonly startedAt: number
  readonly businessKey?: string
  readonly endedAt?: number
  /** Until when it can be found after its end, milliseconds since the epoch. */
  readonly visibleUntil?: number
}

/** A life that has not begun. */
export function newLife(facts: InstanceFacts, definition: string): Omit<Life, 'record'> {
  return {
    form: FORM, facts, definition, nextStep: 0, counter: 0, timers: {}, calls: {}, children: {}, awaits: {}, dependents: [],
    subscribed: {}, received: {}, waiters: [], owed: false, noted: false, toldQuiet: false,
  }
}

/**
 * Checks that this release knows a stored life.
 *
 * @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` when a newer release wrote it
 */
export function assertKnownForm({ form, facts }: Life): void {
  if (form <= FORM) return
  throw new HostError({
    code: 'SNAPSHOT_INCOMPATIBLE',
    message: `Instance ${facts.id} of "${facts.workflowId}" has a state of form ${String(form)}; this release knows ${String(FORM)}. Let workers of the release that wrote it finish it`,
  })
}

/** The record of a stored life. */
export function recordOfLife({ record, state }: Life): InstanceRecord {
  if (state === undefined) return { data: null, ...record }
  const { context } = state.snapshot as unknown as { readonly context: { readonly data: Json } }
  return { ...record, data: context.data }
}
