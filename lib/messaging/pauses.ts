import type { Clock } from '../common/index.ts'

/** Pauses between attempts, which can be ended all at once. */
export interface Pauses {
  /** Waits for so many milliseconds; false when the pauses were ended before. */
  wait(milliseconds: number): Promise<boolean>
  /** Ends all pauses, also those that are yet to come. */
  end(): void
}

/** Creates pauses on a clock. */
export function createPauses(clock: Clock): Pauses {
  const waiting = new Set<() => void>()
  let isEnded = false
  return {
    wait(milliseconds) {
      if (isEnded) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (passed: boolean): void => {
          waiting.delete(giveUp)
          resolve(passed)
        }
        const cancel = clock.at(clock.now() + milliseconds, () => { end(true) })
        const giveUp = (): void => {
          cancel()
          end(false)
        }
        waiting.add(giveUp)
      })
    },
    end() {
      isEnded = true
      for (const giveUp of waiting) giveUp()
    },
  }
}
