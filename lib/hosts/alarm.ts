import type { Cancel, Clock } from '../common/index.ts'

/** Rings at the earliest of many instants: one timer for all of them. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #dueAt = Infinity
  #cancel: Cancel = () => undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Makes sure that it rings at an instant, or before. */
  set(dueAt: number): void {
    if (dueAt >= this.#dueAt) return
    this.#cancel()
    this.#dueAt = dueAt
    this.#cancel = this.#clock.at(dueAt, () => {
      this.#dueAt = Infinity
      // Timers of the system may run a moment early, and its clock may have been set back.
      if (this.#clock.now() < dueAt) this.set(dueAt)
      else this.#ring()
    })
  }

  clear(): void {
    this.#cancel()
    this.#dueAt = Infinity
  }
}
