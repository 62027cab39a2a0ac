import type { CloudEventRecord } from '../../events/index.ts'
import type { Action } from './messages.ts'
import type { Child, Life } from './life.ts'

/** A life while it is changed, and what is to be done when the change is over. */
export class Draft {
  readonly life: Omit<Life, 'record'>
  readonly timers: Record<string, number>
  readonly calls: Record<string, number>
  readonly children: Record<string, Child>
  readonly awaits: Record<string, string>
  readonly dependents: string[]
  readonly received: Record<string, number>
  readonly actions: Action[] = []
  /** Calls whose answers are no longer wanted. */
  readonly givenUp: string[] = []
  nextStep: number
  #counter: number

  constructor(life: Omit<Life, 'record'>) {
    this.life = life
    this.timers = { ...life.timers }
    this.calls = { ...life.calls }
    this.children = { ...life.children }
    this.awaits = { ...life.awaits }
    this.dependents = [...life.dependents]
    this.received = { ...life.received }
    this.nextStep = life.nextStep
    this.#counter = life.counter
  }

  /** The numbers given out so far. */
  get counter(): number {
    return this.#counter
  }

  /** The next number of the instance. */
  next(): number {
    this.#counter += 1
    return this.#counter
  }

  /** Whether an event has not come before; it is then known. */
  isNew({ source, id }: CloudEventRecord, at: number): boolean {
    const key = `${source}|${id}`
    if (key in this.received) return false
    this.received[key] = at
    return true
  }

  /** Drops what belongs to effects that are not pending any more, and events that have been known long enough. */
  prune(pending: ReadonlyMap<string, unknown>, receivedBefore: number): void {
    for (const kept of [this.timers, this.calls, this.children, this.awaits]) {
      for (const token of Object.keys(kept)) if (!pending.has(token)) forget(kept, token)
    }
    for (const [key, at] of Object.entries(this.received)) if (at < receivedBefore) forget(this.received, key)
  }
}

/** Takes an entry out. */
export function forget(entries: Record<string, unknown>, key: string): void {
  Reflect.deleteProperty(entries, key)
}
