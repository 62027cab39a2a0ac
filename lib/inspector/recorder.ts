import type { Cancel } from '../common/index.ts'
import type { HistoryStep, InstanceFailure, InstanceRecord, InstanceStatus, WaitRecord } from '../hosts/index.ts'

/** What the recorder has to know of an instance. */
export interface InstanceIdentity {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly startedAt: number
  readonly businessKey?: string
  readonly parent?: { readonly instanceId: string }
}

/** An instance as it was seen in this process: references to its data, never copies. */
export interface Recording {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly startedAt: number
  readonly businessKey?: string
  readonly parentInstanceId?: string
  status: InstanceStatus
  endedAt?: number
  failure?: InstanceFailure
  waitingFor?: readonly WaitRecord[]
  readonly steps: HistoryStep[]
  /** Steps that were given up for newer ones. */
  dropped: number
}

/** Something that a reader may want to know at once. */
export type Notice =
  | { readonly kind: 'instance'; readonly recording: Recording }
  | { readonly kind: 'step'; readonly recording: Recording; readonly step: HistoryStep }

/** Remembers what instances did, within bounds. */
export interface Recorder {
  /** Takes a step; costs a few references while nobody reads. */
  step(step: HistoryStep, facts: InstanceIdentity): void
  /** Takes how an instance rests. */
  rest(record: InstanceRecord): void
  /** Recordings, the one that moved last at the end. */
  recordings(): Iterable<Recording>
  find(id: string): Recording | undefined
  /** Instances by workflow and status, of all that this process has seen. */
  counts(workflowId: string): Readonly<Partial<Record<InstanceStatus, number>>>
  /** Remembers a value that came from `$SECRET`: it is never shown. */
  secret(value: unknown): void
  readonly secrets: ReadonlySet<string>
  subscribe(reader: (notice: Notice) => void): Cancel
}

/** Bounds of a {@link Recorder}. */
export interface RecorderOptions {
  readonly records: number
  readonly instances: number
}

/** Shorter texts would hide too much that only looks alike. */
const SHORTEST_SECRET = 4
const MOST_SECRETS = 1000

/** Creates a {@link Recorder}. */
export function createRecorder({ records, instances }: RecorderOptions): Recorder {
  const recordings = new Map<string, Recording>()
  const tallies = new Tallies()
  const readers = new Set<(notice: Notice) => void>()
  const secrets = new Set<string>()
  const tell = (notice: Notice): void => { for (const reader of readers) reader(notice) }
  const move = (recording: Recording, status: InstanceStatus): void => {
    tallies.add(recording.workflowId, recording.status, -1)
    tallies.add(recording.workflowId, status, 1)
    recording.status = status
  }
  const open = (facts: InstanceIdentity): Recording => {
    const made = newRecording(facts)
    tallies.add(facts.workflowId, 'active', 1)
    recordings.set(facts.id, made)
    if (recordings.size > instances) recordings.delete(recordings.keys().next().value ?? '')
    return made
  }
  return {
    step(step, facts) {
      const recording = recordings.get(facts.id) ?? open(facts)
      // The one that moves is the youngest of the map.
      recordings.delete(facts.id)
      recordings.set(facts.id, recording)
      recording.steps.push(step)
      if (recording.steps.length > records) {
        // The first step holds the input.
        recording.steps.splice(1, 1)
        recording.dropped += 1
      }
      const ended = ENDINGS[step.type]
      if (ended !== undefined && recording.status !== ended) {
        move(recording, ended)
        if (ended !== 'error') recording.endedAt = step.at
      }
      if (readers.size > 0) tell({ kind: 'step', recording, step })
    },
    rest(record) {
      const recording = recordings.get(record.id)
      if (recording === undefined) return
      if (recording.status !== record.status) move(recording, record.status)
      if (record.endedAt !== undefined) recording.endedAt = record.endedAt
      renew(recording, record)
      if (readers.size > 0) tell({ kind: 'instance', recording })
    },
    recordings: () => recordings.values(),
    find: (id) => recordings.get(id),
    counts: (workflowId) => tallies.of(workflowId),
    secret(value) {
      if (typeof value === 'string' && value.length >= SHORTEST_SECRET && secrets.size < MOST_SECRETS) secrets.add(value)
    },
    secrets,
    subscribe(reader) {
      readers.add(reader)
      return () => { readers.delete(reader) }
    },
  }
}

/** What a resting instance no longer has, its recording must not have either. */
function renew(recording: Recording, { failure, waitingFor }: InstanceRecord): void {
  if (failure === undefined) delete recording.failure
  else recording.failure = failure
  if (waitingFor === undefined) delete recording.waitingFor
  else recording.waitingFor = waitingFor
}

type Counts = Partial<Record<InstanceStatus, number>>

/** Counts instances by workflow and status. */
class Tallies {
  readonly #counts = new Map<string, Counts>()

  of(workflowId: string): Counts {
    return this.#counts.get(workflowId) ?? {}
  }

  add(workflowId: string, status: InstanceStatus, number: 1 | -1): void {
    const counts = this.of(workflowId)
    counts[status] = (counts[status] ?? 0) + number
    this.#counts.set(workflowId, counts)
  }
}

const ENDINGS: Readonly<Partial<Record<HistoryStep['type'], InstanceStatus>>> = { completed: 'completed', failed: 'error', aborted: 'aborted' }

function newRecording({ id, workflowId, version, startedAt, businessKey, parent }: InstanceIdentity): Recording {
  return {
    id, workflowId, version, startedAt, status: 'active', steps: [], dropped: 0,
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(parent === undefined ? {} : { parentInstanceId: parent.instanceId }),
  }
}
