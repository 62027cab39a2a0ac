import type { Cancel, Clock } from '../../lib/common/index.ts'

/** A clock that a test moves; nothing sleeps. */
export interface VirtualClock extends Clock {
  /** The instant of the next callback, or `undefined` when none is waiting. */
  next(): number | undefined
  /** Moves time to an instant, running every callback due until then in order. Time never goes back. */
  moveTo(instant: number): void
  /** Moves time by so many milliseconds. */
  advance(milliseconds: number): void
  /** How many callbacks wait: 0 after a clean end. */
  readonly pending: number
}

/** Creates a clock that stands still at `start` until it is moved. */
export function createVirtualClock(start = Date.UTC(2026, 0, 1)): VirtualClock {
  let now = start
  let sequence = 0
  const entries = new Map<number, { instant: number; callback: () => void }>()
  const earliest = (): [number, { instant: number; callback: () => void }] | undefined => {
    let found: [number, { instant: number; callback: () => void }] | undefined
    for (const entry of entries) if (!found || entry[1].instant < found[1].instant) found = entry
    return found
  }
  const clock: VirtualClock = {
    now: () => now,
    at(instant, callback): Cancel {
      const id = sequence++
      entries.set(id, { instant, callback })
      return () => { entries.delete(id) }
    },
    next: () => earliest()?.[1].instant,
    moveTo(instant) {
      for (let entry = earliest(); entry && entry[1].instant <= instant; entry = earliest()) {
        entries.delete(entry[0])
        now = Math.max(now, entry[1].instant)
        entry[1].callback()
      }
      now = Math.max(now, instant)
    },
    advance(milliseconds) { clock.moveTo(now + milliseconds) },
    get pending() { return entries.size },
  }
  return clock
}
