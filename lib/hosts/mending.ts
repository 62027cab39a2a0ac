import type { Cancel } from '../common/index.ts'
import type { HostError } from '../errors/index.ts'
import { toWorkflowError } from '../instance/index.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'
import { hasEndedUnsafely, standsStill } from './store-failure.ts'

/** Milliseconds after which a store that failed is tried again. */
const RETRY_AFTER = 1000

/** What mending needs. */
export interface MendingOptions {
  readonly parts: Parts
  readonly shelf: Shelf
  /** What is not committed has not happened. */
  readonly lost: () => void
  /** The store can be written again: what it holds is to be taken up, which ends the problem. */
  readonly mended: () => Promise<void>
  /** A commit is under way: it is not the time to try. */
  readonly isBusy: () => boolean
}

/** Keeps everything still while the store fails, and takes it up again from what is stored. */
export class Mending {
  readonly #options: MendingOptions
  #cancelRetry: Cancel | undefined

  constructor(options: MendingOptions) {
    this.#options = options
  }

  /** Gives up what is in memory of instances that are not safe; `committed` are those whose commit is made. */
  begin(error: HostError, committed: ReadonlySet<LiveInstance>, others: ReadonlySet<LiveInstance>): void {
    const { parts: { options }, shelf, lost } = this.#options
    shelf.journal?.rollback()
    const isKnown = shelf.problem === error
    shelf.problem = error
    shelf.forgetDefinitions()
    if (!isKnown) options.log.error({ code: error.code }, `${error.message}; instances stand still until it can be written again`)
    lost()
    for (const live of committed) this.#giveUp(live, live.endedAt === undefined ? standsStill(live, error) : hasEndedUnsafely(live, error), live.endedAt === undefined)
    // A sub-flow that is about to begin could not: its parent asks for it again.
    const starting = this.#options.parts.lives.all().filter((live) => live.durable !== undefined && live.starting.size > 0 && !committed.has(live))
    for (const live of new Set([...others, ...starting])) {
      const isStored = live.durable?.stored === true
      this.#giveUp(live, isStored ? standsStill(live, error) : error, isStored)
    }
    this.#retryLater()
  }

  #giveUp(live: LiveInstance, error: HostError, comesBack: boolean): void {
    const { parts: { ends }, shelf } = this.#options
    if (comesBack) shelf.keepHeaders(live.facts)
    else shelf.forgetHeaders(live.facts.id)
    const { waiters } = live
    live.waiters = []
    ends.drop(live)
    for (const waiter of waiters) waiter(live, error)
  }

  #retryLater(): void {
    // Another failure does not put the next attempt off.
    if (this.#cancelRetry !== undefined) return
    const { clock } = this.#options.parts.options
    this.#cancelRetry = clock.at(clock.now() + RETRY_AFTER, () => {
      this.#cancelRetry = undefined
      this.#options.parts.queue.add(() => { this.#retry() })
    })
  }

  #retry(): void {
    const { shelf, parts: { options }, isBusy, mended } = this.#options
    if (shelf.phase === 'closed' || shelf.problem === undefined) return
    if (isBusy()) {
      this.#retryLater()
      return
    }
    try {
      const journal = shelf.open()
      journal.begin()
      journal.putSchedule('', { deployedAt: options.clock.now() })
      journal.commit()
      journal.syncNow()
    } catch {
      // Still the problem that has been told.
      shelf.journal?.rollback()
      this.#retryLater()
      return
    }
    mended().catch((error: unknown) => {
      options.log.error({ error: toWorkflowError(error) }, 'recovery failed')
      this.#retryLater()
    })
  }

  /** Tries no more. */
  stop(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
  }
}
