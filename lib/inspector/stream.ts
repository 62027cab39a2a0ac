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
  const epoch = clock.now().toString(36)
  const readers = new Set<Reader>()
  const kept: Kept[] = []
  let number = 0
  let unsubscribe: Cancel | undefined
  let heartbeat: Cancel | undefined
  const send = (reader: Reader, { number: id, event, data }: Kept): void => {
    if (reader.response.writableLength > buffered) {
      reader.dropped += 1
      return
    }
    if (reader.dropped > 0) {
      reader.response.write(`event: dropped\ndata: {"count":${String(reader.dropped)}}\n\n`)
      reader.dropped = 0
    }
    reader.response.write(`id: ${epoch}-${String(id)}\nevent: ${event}\ndata: ${data}\n\n`)
  }
  const publish = (event: string, value: unknown): void => {
    number += 1
    const one = { number, event, data: JSON.stringify(value) }
    kept.push(one)
    if (kept.length > keep) kept.shift()
    for (const reader of readers) send(reader, one)
  }
  const take = (notice: Notice): void => {
    if (notice.kind === 'instance') { publish('instance', brief(notice.recording)); return }
    const { step, recording } = notice
    const place = { instanceId: recording.id, workflowId: recording.workflowId, sequence: step.sequence, type: step.type, at: step.at, ...placeOf(step) }
    publish('step', place)
    if (MESSAGES.has(step.type)) publish('message', place)
    if (step.type === 'started' || ENDS.has(step.type)) publish('instance', brief(recording))
  }
  const beat = (): void => {
    for (const { response } of readers) if (response.writableLength < buffered) response.write(': alive\n\n')
    heartbeat = clock.at(clock.now() + HEARTBEAT, beat)
  }
  const leave = (reader: Reader): void => {
    readers.delete(reader)
    if (readers.size > 0) return
    unsubscribe?.()
    heartbeat?.()
    unsubscribe = undefined
    // What happens while nobody listens is not kept: who comes back then reads everything again.
    kept.length = 0
    number += 1
  }
  return {
    open(response, lastEventId) {
      if (readers.size >= most) return false
      if (readers.size === 0) {
        unsubscribe = recorder.subscribe(take)
        heartbeat = clock.at(clock.now() + HEARTBEAT, beat)
      }
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
  function resume(reader: Reader, lastEventId: string | undefined): void {
    const match = lastEventId === undefined ? null : /^([0-9a-z]+)-(\d+)$/u.exec(lastEventId)
    const after = Number(match?.[2] ?? -1)
    const first = kept[0]?.number ?? number + 1
    if (lastEventId !== undefined && (match?.[1] !== epoch || after + 1 < first || after > number)) {
      reader.response.write(`id: ${epoch}-${String(number)}\nevent: reset\ndata: {}\n\n`)
      return
    }
    if (lastEventId === undefined) reader.response.write(`id: ${epoch}-${String(number)}\nevent: hello\ndata: {}\n\n`)
    else for (const one of kept) if (one.number > after) send(reader, one)
  }
}

const MESSAGES = new Set(['started', 'actionStarted', 'actionCompleted', 'actionFailed', 'eventConsumed', 'eventProduced', 'completed', 'failed'])
const ENDS = new Set(['completed', 'failed', 'aborted'])

function placeOf({ state, branch, action }: { readonly state?: string; readonly branch?: string; readonly action?: string }): object {
  return compact({ state, branch, action })
}

function brief({ id, workflowId, version, status, startedAt, endedAt }: Recording): object {
  return compact({ id, workflowId, version, status, startedAt, endedAt })
}
