import type { ServerResponse } from 'node:http'
import { compact, type Cancel, type Clock } from '../common/index.ts'
import type { Notice, Recorder, Recording } from './recorder.ts'

/** Sends what happens to browsers as server-sent events. */
export interface EventStream {
  /** Serves one reader; false when there are too many. `lastEventId` asks for what came after it. */
  open(response: ServerResponse, lastEventId: string | undefined): boolean
  readonly readers: number
  close(): void
}

/** Bounds of an {@link EventStream}. */
export interface StreamLimits {
  /** @default 50 */
  readonly readers?: number
  /** Events kept for those who come back. @default 1000 */
  readonly kept?: number
  /** Bytes waiting for a reader beyond which its events are dropped. @default 1 MiB */
  readonly buffered?: number
}

interface Kept {
  readonly number: number
  readonly id: string
  readonly event: string
  readonly data: string
}

interface Reader {
  readonly response: ServerResponse
  dropped: number
}

/** Under this time a silent connection is not taken for dead by what stands between. */
const HEARTBEAT = 15_000

/**
 * Creates the stream of inspector events: `instance`, `step`, `message`, `dropped`, `reset`.
 *
 * Events carry no workflow data, so their cost does not depend on it; the page reads the instance again. Nothing is written while
 * nobody listens. A reader that does not read loses events, is told how many, and never holds the others up.
 */
export function createEventStream(recorder: Recorder, clock: Clock, { readers: most = 50, kept: keep = 1000, buffered = 1_048_576 }: StreamLimits = {}): EventStream {
  // Numbers of an earlier process mean nothing in this one.
  const log = new EventLog(clock.now().toString(36), keep)
  const readers = new Set<Reader>()
  let stop: Cancel | undefined
  const send = (reader: Reader, one: Kept): void => {
    if (reader.response.writableLength > buffered) {
      reader.dropped += 1
      return
    }
    if (reader.dropped > 0) {
      reader.response.write(`event: dropped\ndata: {"count":${String(reader.dropped)}}\n\n`)
      reader.dropped = 0
    }
    write(reader.response, one)
  }
  const take = (notice: Notice): void => {
    for (const [event, value] of eventsOf(notice)) {
      const one = log.add(event, value)
      for (const reader of readers) send(reader, one)
    }
  }
  const start = (): Cancel => {
    const unsubscribe = recorder.subscribe(take)
    const beat = (): void => {
      for (const { response } of readers) if (response.writableLength < buffered) response.write(': alive\n\n')
      heartbeat = clock.at(clock.now() + HEARTBEAT, beat)
    }
    let heartbeat = clock.at(clock.now() + HEARTBEAT, beat)
    return () => {
      unsubscribe()
      heartbeat()
    }
  }
  const leave = (reader: Reader): void => {
    readers.delete(reader)
    if (readers.size > 0) return
    stop?.()
    stop = undefined
    // What happens while nobody listens is not kept: who comes back then reads everything again.
    log.clear()
  }
  const resume = (reader: Reader, lastEventId: string | undefined): void => {
    const missed = lastEventId === undefined ? undefined : log.after(lastEventId)
    if (missed === undefined) write(reader.response, { id: log.latest, event: lastEventId === undefined ? 'hello' : 'reset', data: '{}' })
    else for (const one of missed) send(reader, one)
  }
  return {
    open(response, lastEventId) {
      if (readers.size >= most) return false
      stop ??= start()
      const reader = { response, dropped: 0 }
      readers.add(reader)
      response.on('close', () => { leave(reader) })
      response.on('error', () => { leave(reader) })
      response.write(`retry: 1000\n: inspector\n\n`)
      resume(reader, lastEventId)
      return true
    },
    get readers() { return readers.size },
    close() {
      for (const { response } of readers) response.end()
    },
  }
}

function write(response: ServerResponse, { id, event, data }: Pick<Kept, 'id' | 'event' | 'data'>): void {
  response.write(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)
}

/** The events that a reader who comes back may still ask for, each with its number. */
class EventLog {
  readonly #epoch: string
  readonly #most: number
  readonly #kept: Kept[] = []
  #number = 0

  constructor(epoch: string, most: number) {
    this.#epoch = epoch
    this.#most = most
  }

  /** Id of the latest event. */
  get latest(): string {
    return `${this.#epoch}-${String(this.#number)}`
  }

  add(event: string, value: unknown): Kept {
    this.#number += 1
    const one = { number: this.#number, id: this.latest, event, data: JSON.stringify(value) }
    this.#kept.push(one)
    if (this.#kept.length > this.#most) this.#kept.shift()
    return one
  }

  /** Forgets all events; ids from before are not known any more. */
  clear(): void {
    this.#kept.length = 0
    this.#number += 1
  }

  /** Gives what came after an id; `undefined` when that cannot be told. */
  after(id: string): readonly Kept[] | undefined {
    const match = /^([0-9a-z]+)-(\d+)$/u.exec(id)
    const after = Number(match?.[2] ?? -1)
    const first = this.#kept[0]?.number ?? this.#number + 1
    if (match?.[1] !== this.#epoch || after + 1 < first || after > this.#number) return undefined
    return this.#kept.filter(({ number }) => number > after)
  }
}

/** The events that a notice makes, in this order. */
function eventsOf(notice: Notice): readonly (readonly [event: string, value: object])[] {
  if (notice.kind === 'instance') return [['instance', brief(notice.recording)]]
  const { step, recording } = notice
  const place = { instanceId: recording.id, workflowId: recording.workflowId, sequence: step.sequence, type: step.type, at: step.at, ...placeOf(step) }
  return [
    ['step', place],
    ...(MESSAGES.has(step.type) ? [['message', place] as const] : []),
    ...(step.type === 'started' || ENDS.has(step.type) ? [['instance', brief(recording)] as const] : []),
  ]
}

const MESSAGES = new Set(['started', 'actionStarted', 'actionCompleted', 'actionFailed', 'eventConsumed', 'eventProduced', 'completed', 'failed'])
const ENDS = new Set(['completed', 'failed', 'aborted'])

function placeOf({ state, branch, action }: { readonly state?: string; readonly branch?: string; readonly action?: string }): object {
  return compact({ state, branch, action })
}

function brief({ id, workflowId, version, status, startedAt, endedAt }: Recording): object {
  return compact({ id, workflowId, version, status, startedAt, endedAt })
}
