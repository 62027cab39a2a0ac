import { TurnoverMap, type Clock } from '../common/index.ts'
import type { InstancePage, InstanceQuery, InstanceRecord } from './host.ts'
import { recordOf, type LiveInstance } from './live-instance.ts'

/** Ended instances kept in memory at most, however long they may stay. */
const MOST_ENDED = 100_000

/** The instances that a host holds in memory: those that live, and for a while those that have ended. */
export class Lives {
  readonly #clock: Clock
  readonly #retention: number
  readonly #live = new TurnoverMap<string, LiveInstance>()
  readonly #finished = new Map<string, InstanceRecord>()
  #whenEmpty: (() => void)[] = []

  constructor(clock: Clock, retention: number) {
    this.#clock = clock
    this.#retention = retention
  }

  get size(): number {
    return this.#live.size
  }

  get(id: string): LiveInstance | undefined {
    return this.#live.get(id)
  }

  all(): LiveInstance[] {
    return [...this.#live.values()]
  }

  add(live: LiveInstance): void {
    this.#live.set(live.facts.id, live)
  }

  /** Takes an instance out. Gives false when it was not there. */
  remove({ facts: { id } }: LiveInstance): boolean {
    if (!this.#live.delete(id)) return false
    if (this.#live.size === 0) this.#tellEmpty()
    return true
  }

  /** Remembers an instance that has ended. */
  remember(live: LiveInstance): void {
    if (this.#retention <= 0) return
    this.#finished.set(live.facts.id, recordOf(live))
    const oldest = this.#clock.now() - this.#retention
    for (const [id, { endedAt }] of this.#finished) {
      if (endedAt !== undefined && endedAt >= oldest) break
      this.#finished.delete(id)
    }
    forgetOldest(this.#finished, MOST_ENDED)
  }

  finished(id: string): InstanceRecord | undefined {
    return this.#finished.get(id)
  }

  /** Calls back when an instance was the last one. */
  whenEmpty(callback: () => void): void {
    this.#whenEmpty.push(callback)
  }

  #tellEmpty(): void {
    const callbacks = this.#whenEmpty
    this.#whenEmpty = []
    for (const callback of callbacks) callback()
  }

  /** The records that fit a query; where `includes` says no, the instance is listed from elsewhere. */
  matching(query: InstanceQuery, includes: (live: LiveInstance) => boolean = () => true): readonly InstanceRecord[] {
    const all = [...this.#finished.values(), ...this.all().filter(includes).map(recordOf)]
    return all.filter((record) => fitsQuery(record, query))
  }
}

/** Removes the entries that came first until no more than so many are left. */
export function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

/** Whether an instance is one of those that a query asks for. */
export function fitsQuery(record: InstanceRecord, query: InstanceQuery): boolean {
  return (query.workflowId === undefined || record.workflowId === query.workflowId) &&
    (query.status === undefined || query.status.includes(record.status)) &&
    (query.businessKey === undefined || record.businessKey === query.businessKey) &&
    (query.startedAfter === undefined || record.startedAt >= query.startedAfter) &&
    (query.startedBefore === undefined || record.startedAt <= query.startedBefore)
}

/** Cuts a page: newest first; the cursor is the last record of the page before. */
export function pageOf(records: readonly InstanceRecord[], { limit, cursor }: InstanceQuery): InstancePage {
  const sorted = [...records].reverse().sort((left, right) => right.startedAt - left.startedAt)
  const after = cursor === undefined ? 0 : sorted.findIndex(({ id }) => id === cursor) + 1
  const instances = sorted.slice(after, after + limit)
  const last = instances.at(-1)
  return after + limit < sorted.length && last !== undefined ? { instances, cursor: last.id } : { instances }
}
