import { expect } from 'chai'
import { createSystemClock } from '../../../lib/common/index.ts'

interface Timer {
  readonly run: () => void
  readonly milliseconds: number
}

describe('common/clock', () => {
  const { setTimeout: realTimer } = globalThis
  const { now: realNow } = Date
  let now = 0
  let timers: Timer[] = []
  beforeEach(() => {
    now = 1_000_000
    timers = []
    Date.now = () => now
    globalThis.setTimeout = ((run: () => void, milliseconds: number) => {
      timers.push({ run, milliseconds })
      return { unref: () => undefined }
    }) as unknown as typeof setTimeout
  })
  afterEach(() => {
    globalThis.setTimeout = realTimer
    Date.now = realNow
  })
  const elapse = (milliseconds: number): void => {
    now += milliseconds
    for (const { run } of timers.splice(0)) run()
  }

  it('runs a callback at its instant, however far that is', () => {
    let runs = 0
    createSystemClock().at(now + 150_000, () => { runs += 1 })
    elapse(60_000)
    elapse(60_000)
    expect([runs, timers.map(({ milliseconds }) => milliseconds)]).to.deep.equal([0, [30_000]])
    elapse(30_000)
    expect([runs, timers]).to.deep.equal([1, []])
  })

  // Timers of the system stand still while it sleeps, and know nothing of its clock.
  it('runs what has become due while the machine slept, within a minute', () => {
    let runs = 0
    createSystemClock().at(now + 10 * 3_600_000, () => { runs += 1 })
    now += 11 * 3_600_000
    expect(timers.map(({ milliseconds }) => milliseconds)).to.deep.equal([60_000])
    elapse(60_000)
    elapse(0)
    expect(runs).to.equal(1)
  })
})
