import { afterArrivals } from '../common/index.ts'
import { HostError } from '../errors/index.ts'
import { toWorkflowError } from '../instance/index.ts'
import type { Durability } from './durability.ts'
import type { Journal } from './journal.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'

/** Milliseconds after which a store that failed is tried again. */
const RETRY_AFTER = 1000
/** Milliseconds between two purges. */
const PURGE_EVERY = 60_000

/** A write that belongs to a commit. */
export type Write = (journal: Journal) => void

/** What commits need. */
export interface CommitsOptions {
  readonly parts: Parts
  readonly durability: Durability
  readonly shelf: Shelf
  readonly write: (journal: Journal, live: LiveInstance) => void
  /** All of these are written: they may have their effects. */
  readonly written: (batch: readonly LiveInstance[]) => void
  /** A commit failed: what was not written has not happened. */
  readonly lost: () => void
  /** The store can be written again. */
  readonly mended: () => Promise<void>
}

interface Caller {
  readonly done: () => void
  readonly failed: (error: HostError) => void
}

/**
 * Writes what one tick of the event loop brings as one commit, and only then lets it have effects.
 *
 * When a commit fails, everything that it held is as if it had not happened: callers are refused, instances go on from what is stored.
 */
export class Commits {
  readonly #options: CommitsOptions
  /** Replaced and not cleared: the tables of a set that lives long keep alive what they held (see TurnoverMap). */
  #dirty = new Set<LiveInstance>()
  #writes: Write[] = []
  #callers: Caller[] = []
  #scheduled = false
  #purgedAt = -Infinity
  #cancelRetry: () => void = () => undefined

  constructor(options: CommitsOptions) {
    this.#options = options
  }

  /** Nothing is left to write. */
  get isIdle(): boolean {
    return !this.#scheduled && this.#dirty.size === 0
  }

  /** Whether an instance has moved since it was last written. */
  isPending(live: LiveInstance): boolean {
    return this.#dirty.has(live)
  }

  /** An instance has moved: it belongs to the next commit. */
  add(live: LiveInstance): void {
    this.#dirty.add(live)
    this.#schedule()
  }

  /** Adds a write to the next commit; while the store cannot be written it is left out, and what it tells is found out again. */
  later(write: Write): void {
    const { shelf } = this.#options
    if (shelf.phase === 'closed' || shelf.problem !== undefined) return
    this.#writes.push(write)
    this.#schedule()
  }

  /** Answers when everything is written that has happened so far. */
  after(done: () => void, failed: (error: HostError) => void): void {
    if (this.isIdle && this.#writes.length === 0) done()
    else this.#callers.push({ done, failed })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    afterArrivals(() => { this.#options.parts.queue.add(() => { this.flush() }) })
  }

  /** Commits what there is. */
  flush(): void {
    this.#scheduled = false
    const { shelf, written } = this.#options
    if (shelf.journal === undefined && this.#dirty.size === 0 && this.#writes.length === 0) return
    const batch = [...this.#dirty]
    const callers = this.#callers
    this.#callers = []
    try {
      if (batch.length > 0 || this.#writes.length > 0) this.#commit(batch)
      written(batch)
    } catch (error) {
      this.#fail(batch, callers, error)
      return
    }
    for (const { done } of callers) done()
  }

  #commit(batch: readonly LiveInstance[]): void {
    const { shelf, durability: { probe }, write } = this.#options
    const journal = shelf.open()
    const writes = this.#writes
    this.#writes = []
    this.#dirty = new Set()
    probe?.('before-commit')
    journal.begin()
    for (const live of batch) write(journal, live)
    for (const more of writes) more(journal)
    this.#purge(journal)
    journal.commit()
    for (const { durable } of batch) if (durable !== undefined) durable.stored = true
    probe?.('after-commit')
  }

  #purge(journal: Journal): void {
    const { parts: { options }, durability } = this.#options
    const now = options.clock.now()
    if (now - this.#purgedAt < PURGE_EVERY) return
    this.#purgedAt = now
    journal.purge(now - (options.retention ?? 0), now - durability.inboxRetention)
  }

  /** Runs what reads or writes the store and has no caller that could be told: a failure is the store's. */
  attend(piece: () => void): void {
    try {
      piece()
    } catch (error) {
      this.#fail([], [], error)
    }
  }

  #fail(batch: readonly LiveInstance[], callers: readonly Caller[], cause: unknown): void {
    const error = cause instanceof HostError
      ? cause
      : new HostError({ code: 'STORE_UNAVAILABLE', message: `The store could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
    const { parts: { options, ends }, shelf, lost } = this.#options
    if (!(cause instanceof HostError)) options.log.error({ error: toWorkflowError(cause) }, 'defect while writing to the store')
    shelf.journal?.rollback()
    shelf.problem = error
    shelf.forgetDefinitions()
    options.log.error({ code: error.code }, `${error.message}; instances stand still until it can be written again`)
    this.#writes = []
    lost()
    const unwritten = new Set([...batch, ...this.#dirty])
    this.#dirty = new Set()
    for (const live of unwritten) {
      if (live.durable?.stored === true) shelf.keepHeaders(live.facts)
      const { waiters } = live
      live.waiters = []
      ends.drop(live)
      const told = live.durable?.stored === true ? standsStill(live, error) : error
      for (const waiter of waiters) waiter(live, told)
    }
    for (const { failed } of [...callers, ...this.#callers]) failed(error)
    this.#callers = []
    this.#retryLater()
  }

  #retryLater(): void {
    const { clock } = this.#options.parts.options
    this.#cancelRetry()
    this.#cancelRetry = clock.at(clock.now() + RETRY_AFTER, () => { this.#options.parts.queue.add(() => { this.#retry() }) })
  }

  #retry(): void {
    const { shelf, parts: { options, lives }, mended } = this.#options
    if (shelf.phase === 'closed') return
    try {
      const journal = shelf.open()
      journal.begin()
      journal.putSchedule('', { deployedAt: options.clock.now() })
      journal.commit()
      shelf.putAway = journal.countAlive() - lives.all().filter(({ durable }) => durable?.stored === true).length
    } catch {
      // Still the problem that has been told.
      shelf.journal?.rollback()
      this.#retryLater()
      return
    }
    shelf.problem = undefined
    options.log.info({}, 'the store can be written again')
    mended().catch((error: unknown) => { options.log.error({ error: toWorkflowError(error) }, 'recovery failed') })
  }

  /** Tries no more to write again. */
  stopRetrying(): void {
    this.#cancelRetry()
  }
}

// Whoever started it must not start it again.
function standsStill({ facts: { id } }: LiveInstance, { message, details, cause }: HostError): HostError {
  return new HostError({
    code: 'STORE_UNAVAILABLE',
    message: `Instance ${id} has begun, and goes on by itself when the store can be written again: do not start it again. ${message}`,
    details: { ...details, processInstanceId: id },
    cause,
  })
}
