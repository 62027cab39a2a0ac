/** Ends a scheduled callback; calling it twice, or after the callback ran, does nothing. */
export type Cancel = () => void

/** The only source of time: injected everywhere, so that tests and replays move it themselves. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Runs a callback once at or after an instant (milliseconds since the epoch). */
  at(instant: number, callback: () => void): Cancel
}

// Timers of the system stand still while the machine sleeps, and do not see that its clock was put forward: a far instant is looked
// at again and again, in milliseconds.
const LONGEST_TIMEOUT = 60_000

/**
 * Creates the clock of the machine.
 *
 * Its timers do not keep the process alive by themselves: a server that listens does.
 */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    at(instant, callback) {
      let timer: NodeJS.Timeout
      const arm = (): void => {
        const left = instant - Date.now()
        timer = left > LONGEST_TIMEOUT ? setTimeout(arm, LONGEST_TIMEOUT) : setTimeout(callback, Math.max(0, left))
        timer.unref()
      }
      arm()
      return () => { clearTimeout(timer) }
    },
  }
}
