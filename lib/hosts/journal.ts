import type { Json } from '../common/index.ts'
import type { HostError } from '../errors/index.ts'
import type { CloudEventRecord, CorrelationValues } from '../events/index.ts'
import type { Continuation, DetachedOrigin, HistoryStep, InstanceFacts, PersistedInstance } from '../instance/index.ts'
import type { InstanceQuery, InstanceRecord, InstanceStatus } from './host.ts'

/** An instance as the store holds it. */
export interface StoredInstance {
  readonly facts: InstanceFacts
  /** Hash of the definition's text. */
  readonly definition: string
  readonly status: InstanceStatus
  /** Absent once it has ended. */
  readonly state?: PersistedInstance
  /** For callers; the data of a living one stands in its state only. */
  readonly record: InstanceRecord
  /** Something is to be done for it that its state alone does not wait for: it is brought back at start. */
  readonly busy: boolean
  /** It ended, and its parent has not taken the result up yet. */
  readonly undelivered: boolean
  /** A sub-flow that ends with its parent. */
  readonly dependent: boolean
  readonly continuation?: Continuation
  readonly nextStep: number
  /** Last steps, of an instance that something is under way for: they come to the history when it waits or has ended. */
  readonly steps?: readonly HistoryStep[]
  /** Under which idempotency key it was started. */
  readonly place?: string
}

/** What is needed to bring an instance back. */
export type StoredSleeper = Pick<StoredInstance, 'facts' | 'definition' | 'state' | 'nextStep' | 'steps' | 'place'>

/** Something that is to be done and that no state of an instance holds. */
type StoredEffect =
  | { readonly kind: 'detached'; readonly origin: DetachedOrigin }
  | { readonly kind: 'continue'; readonly continuation: Continuation }
  | { readonly kind: 'stop'; readonly instanceId: string }

/** An intention with the instance that it came from. */
export interface StoredIntention {
  readonly id: string
  readonly facts: InstanceFacts
  readonly definition: string
  readonly effect: StoredEffect
}

/** A definition as instances were started from it. */
export interface StoredDefinition {
  readonly hash: string
  readonly workflowId: string
  readonly version: string
  readonly uri: string
  readonly text: string
}

/** Events gathered for the start of an instance that needs several. */
export interface StoredGathering {
  readonly id: string
  readonly definition: string
  readonly events: readonly (readonly [ref: string, event: CloudEventRecord])[]
  readonly correlation: CorrelationValues
  /** Milliseconds since the epoch. */
  readonly since: number
}

/** What a start under an idempotency key came to. */
export interface StoredStart {
  readonly body: string
  readonly instanceId: string
  /** The instance once it has ended. */
  readonly record?: InstanceRecord
}

/** When a schedule began and last started something, milliseconds since the epoch. */
export interface StoredSchedule {
  readonly deployedAt: number
  readonly lastRun?: number
}

/** Which instances a page holds, with what was asked beside a query. */
export type StoredPage = InstanceQuery & { readonly before?: { readonly startedAt: number; readonly id: string } }

/**
 * The store of a host: one transaction at a time, all calls but `sync` synchronous.
 *
 * Every method throws {@link HostError} `STORE_UNAVAILABLE` when the store fails; the transaction has to be rolled back then.
 */
export interface Journal {
  begin(): void
  /** What the transaction holds survives the end of the process from now on, and a loss of power once it is safe: see `sync`. */
  commit(): void
  rollback(): void
  /** Calls back, at once or later, when all that is committed is safe. */
  sync(done: (error?: HostError) => void): void
  /** Returns when all that is committed is safe. */
  syncNow(): void
  /** Closes the store and gives its lock up. */
  close(): void

  /** Writes an instance; `isKnown` when there is a row of it, whose facts never change. */
  put(instance: StoredInstance, isKnown?: boolean): void
  /** A parent has taken up the result of a sub-flow: it is kept no longer than any other. */
  release(id: string, keep: boolean): void
  /** Removes an instance with its timers, waits, history and received events; `isBare` when it is known to have none. */
  remove(id: string, isBare?: boolean): void
  get(id: string): StoredInstance | undefined
  /** As much of an instance as brings it back: events come more often than readers. */
  sleeper(id: string): StoredSleeper | undefined
  list(page: StoredPage): readonly InstanceRecord[]
  /** Whether there is an instance that has not ended, whether it can be read or not. */
  isAlive(id: string): boolean
  /** Instances that have not ended. */
  countAlive(): number
  /** Ids of instances that have something to do at start. */
  busy(): readonly string[]
  /** The sub-flow that an effect of an instance started last. */
  childOf(parentId: string, token: string): string | undefined
  /** Ids of sub-flows that end with an instance. */
  dependentsOf(parentId: string): readonly string[]
  /** Ids of parents with a sub-flow whose result they have not taken up. */
  parentsOfUndelivered(): readonly string[]

  setTimers(id: string, timers: ReadonlyMap<string, number>): void
  /** Timers due until an instant, earliest first. */
  due(until: number, limit: number): readonly { readonly instanceId: string; readonly token: string }[]
  nextDue(after: number): number | undefined

  /** Writes what an instance waits for; `isFirst` when nothing of that has been written. */
  setWaits(id: string, keys: readonly string[], isFirst?: boolean): void
  /** Ids of instances that wait under one of the keys. */
  waiting(keys: readonly string[]): readonly string[]

  /** Whether an event has been applied to an instance, or to the starts of a definition. */
  hasReceived(event: string, target: string): boolean
  addReceived(event: string, target: string, at: number): void

  addOutgoing(id: string, event: CloudEventRecord): void
  removeOutgoing(id: string): void
  outgoing(): readonly { readonly id: string; readonly event: CloudEventRecord }[]

  addIntention(intention: StoredIntention): void
  removeIntention(id: string): void
  intentions(): readonly StoredIntention[]

  addHistory(id: string, steps: readonly HistoryStep[]): void
  history(id: string): readonly HistoryStep[]

  putDefinition(definition: StoredDefinition): void
  /** Definitions that living instances and intentions need. */
  definitions(): readonly StoredDefinition[]

  putGathering(gathering: StoredGathering): void
  removeGathering(id: string): void
  gatherings(): readonly StoredGathering[]

  putStart(place: string, start: StoredStart, at: number): void
  /** Keeps what an instance came to that was started under a key. */
  endStart(place: string, record: InstanceRecord): void
  getStart(place: string): StoredStart | undefined

  putSchedule(place: string, schedule: StoredSchedule): void
  getSchedule(place: string): StoredSchedule | undefined

  /** Removes what has been kept long enough: ended instances and, by the second instant, received events and idempotency keys. */
  purge(endedBefore: number, receivedBefore: number): void
}

/** Data that a body is compared by. */
export function bodyOf(input: Json): string {
  return JSON.stringify(input)
}
