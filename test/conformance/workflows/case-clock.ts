import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'
import { CaseFault } from './case-fault.ts'

/** Waits until everything that was ready to run in this process has run once. */
export async function turn(): Promise<void> {
  await new Promise<void>((resolve) => { setImmediate(resolve) })
}

/** The clock of a case: stands still until the runner moves it, and lets what became due finish before it goes on. */
export class CaseClock {
  readonly clock: VirtualClock
  readonly start: number
  private held = 0
  private pumping = false

  constructor(start?: string) {
    this.start = start === undefined ? Date.UTC(2026, 0, 1) : Date.parse(start)
    if (Number.isNaN(this.start)) throw new CaseFault(`clock "${start ?? ''}" is no instant`)
    this.clock = createVirtualClock(this.start)
  }

  /** Milliseconds since the case began, on its own clock. */
  get elapsed(): number {
    return this.clock.now() - this.start
  }

  /** Moves time, timer by timer; `settle` runs after each, so that what a timer starts can set timers of its own. */
  async advance(milliseconds: number, settle: () => Promise<void>): Promise<void> {
    const target = this.clock.now() + milliseconds
    await settle()
    for (let next = this.clock.next(); next !== undefined && next <= target; next = this.clock.next()) {
      this.clock.moveTo(next)
      await settle()
    }
    this.clock.moveTo(target)
    await settle()
  }

  /** Moves time by itself as long as a stub server holds an answer back; called when it begins to. */
  hold(): () => void {
    this.held++
    void this.pump()
    return () => { this.held-- }
  }

  private async pump(): Promise<void> {
    if (this.pumping) return
    this.pumping = true
    while (this.held > 0) {
      // The other side of the socket needs real turns to notice an abort or to read an answer.
      for (let turns = 0; turns < 20; turns++) await turn()
      const next = this.clock.next()
      if (this.held > 0 && next !== undefined) this.clock.moveTo(next)
    }
    this.pumping = false
  }
}
