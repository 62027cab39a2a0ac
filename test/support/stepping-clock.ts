import type { Clock } from '../../lib/common/index.ts'
import { createVirtualClock, type VirtualClock } from './clock.ts'

/** A clock whose time of day can be set while its timers run on, as those of a machine do. */
export interface SteppingClock extends Clock {
  /** Lets time pass: so many milliseconds on the time of day and for timers alike. */
  advance(milliseconds: number): void
  /** Sets the time of day by so many milliseconds, back when negative; timers that run do not notice. */
  step(milliseconds: number): void
}

/** Creates a clock that stands still until it is moved. */
export function createSteppingClock(start?: number): SteppingClock {
  const timers: VirtualClock = createVirtualClock(start)
  let ahead = 0
  return {
    now: () => timers.now() + ahead,
    // What a timer counts is the time that passes, not the time of day.
    at: (instant, callback) => timers.at(Math.max(timers.now(), instant - ahead), callback),
    advance: (milliseconds) => { timers.advance(milliseconds) },
    step: (milliseconds) => { ahead += milliseconds },
  }
}
