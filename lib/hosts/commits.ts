import { afterArrivals } from '../common/index.ts'
import { HostError } from '../errors/index.ts'
import { toWorkflowError } from '../instance/index.ts'
import type { Durability } from './durability.ts'
import type { Journal } from './journal.ts'
import type { LiveInstance } from './live-instance.ts'
import { Mending } from './mending.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'
import { asStoreFailure } from './store-failure.ts'

/** Milliseconds for which a commit waits for more, at most, when nothing is under way before it. */
const LONGEST_WAIT = 3
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
  /** A commit is made: the store knows what it held. */
  readonly committed: () => void
  /** What a commit held is safe: it may have its effects. */
  readonly safe: (turns: readonly CommittedTurn[]) => void
  /** What is not committed has not happened. */
  readonly lost: () => void
  /** The store can be written again: what it holds is to be taken up, which ends the problem. */
  readonly mended: () => Promise<void>
}

/** An instance of a commit, and how many of its commands are to be carried out when that is safe. */
export interface CommittedTurn {
  readonly live: LiveInstance
  readonly commands: number
}

/** A commit that is made and that the disk has not confirmed yet. */
interface Batch {
  readonly turns: readonly CommittedTurn[]
  readonly callers: Caller[]
}

interface Caller {
  readonly done: () => void
  readonly failed: (error: HostError) => void
}

/**
 * Commits together what a few iterations of the event loop bring, and lets it have effects when the disk has confirmed it: it is safe
 * then. Until then the process goes on with other things, and what they bring makes up the next commit.
 *
 * When a commit fails, everything that it held is as if it had not happened: callers are refused, instances go on from what is stored.
 */
export class Commits {
  readonly #options: CommitsOptions
  readonly #mending: Mending
  /** Replaced and not cleared: the tables of a set that lives long keep alive what they held (see TurnoverMap). */
  #dirty = new Set<LiveInstance>()
  #writes: Write[] = []
  #callers: Caller[] = []
  #batch: Batch | undefined
  #scheduled = false
  #purgedAt = -Infinity

  constructor(options: CommitsOptions) {
    this.#options = options
    this.#mending = new Mending({ ...options, isBusy: () => this.#batch !== undefined })
  }

  /** All that has happened is safe. */
  get isSafe(): boolean {
    return this.#batch === undefined && this.#isEmpty
  }

  /** Nothing is left to do. */
  get isIdle(): boolean {
    return !this.#scheduled && this.isSafe
  }

  /** Nothing has come together for the next commit. */
  get #isEmpty(): boolean {
    return this.#dirty.size === 0 && this.#writes.length === 0
  }

  /** Whether an instance has moved and that is not safe yet. */
  isPending(live: LiveInstance): boolean {
    return this.#dirty.has(live) || this.#batch?.turns.some((turn) => turn.live === live) === true
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

  /** Answers when everything is safe that has happened so far. */
  whenSafe(done: () => void, failed: (error: HostError) => void): void {
    if (!this.#isEmpty) this.#callers.push({ done, failed })
    else if (this.#batch !== undefined) this.#batch.callers.push({ done, failed })
    else done()
  }

  #schedule(): void {
    // What comes while the disk works is committed when it has answered.
    if (this.#scheduled || this.#batch !== undefined) return
    this.#scheduled = true
    this.#collect(0, this.#options.parts.options.clock.now())
  }

  // A commit costs the same for one instance and for thirty. The first iteration that brings nothing more ends the wait, so that what
  // comes alone waits for no other.
  #collect(had: number, since: number): void {
    afterArrivals(() => {
      const { clock } = this.#options.parts.options
      const has = this.#dirty.size + this.#writes.length
      // A clock that was set back must not prolong it.
      if (has > had && Math.abs(clock.now() - since) < LONGEST_WAIT) this.#collect(has, since)
      else this.#options.parts.queue.add(() => { this.#flush() })
    })
  }

  #flush(isLast = false): void {
    this.#scheduled = false
    const { shelf, parts: { queue } } = this.#options
    if (this.#batch !== undefined || this.#isEmpty || shelf.phase === 'closed') return
    // What comes while the store fails is written when it is mended: see `resume`.
    if (shelf.problem !== undefined && !isLast) return
    const moved = this.#dirty
    const callers = this.#callers
    this.#callers = []
    try {
      const journal = shelf.open()
      const batch: Batch = { turns: this.#commit(journal), callers }
      this.#batch = batch
      journal.sync((error) => { queue.add(() => { this.#confirmed(batch, error) }) })
    } catch (error) {
      const turns = this.#batch?.turns ?? []
      this.#batch = undefined
      this.#fail(error, { turns, callers }, moved)
    }
  }

  #commit(journal: Journal): readonly CommittedTurn[] {
    const { durability: { probe }, write, committed } = this.#options
    const moved = [...this.#dirty]
    const writes = this.#writes
    this.#writes = []
    this.#dirty = new Set()
    probe?.('before-commit')
    journal.begin()
    for (const live of moved) write(journal, live)
    for (const more of writes) more(journal)
    this.#purge(journal)
    journal.commit()
    const turns = moved.map((live): CommittedTurn => {
      if (live.durable !== undefined) live.durable.stored = true
      return { live, commands: live.durable?.commands.length ?? 0 }
    })
    committed()
    probe?.('after-commit')
    return turns
  }

  #purge(journal: Journal): void {
    const { parts: { options }, durability } = this.#options
    const now = options.clock.now()
    if (now - this.#purgedAt < PURGE_EVERY) return
    this.#purgedAt = now
    journal.purge(now - (options.retention ?? 0), now - durability.inboxRetention)
  }

  /** The disk has answered. */
  #confirmed(batch: Batch, error?: HostError): void {
    // Who closes does not wait for the answer.
    if (this.#batch !== batch) return
    this.#batch = undefined
    try {
      const problem = error ?? this.#options.shelf.problem
      if (problem !== undefined) throw problem
      this.#options.safe(batch.turns)
    } catch (cause) {
      this.#fail(cause, batch)
      return
    }
    if (!this.#isEmpty) this.#schedule()
    for (const { done } of batch.callers) done()
  }

  /** The store is mended: what has come meanwhile is written. */
  resume(): void {
    if (!this.#isEmpty) this.#schedule()
  }

  /** Commits what there is, and returns when it is safe, or has failed. */
  finish(): void {
    // What becomes safe may lead to another commit.
    while (this.#batch !== undefined || !this.#isEmpty) {
      if (this.#batch === undefined) this.#flush(true)
      if (this.#batch !== undefined) this.#confirmNow(this.#batch)
    }
  }

  #confirmNow(batch: Batch): void {
    try {
      this.#options.shelf.journal?.syncNow()
    } catch (error) {
      this.#confirmed(batch, asStoreFailure(error))
      return
    }
    this.#confirmed(batch)
  }

  /** Runs what reads or writes the store and has no caller that could be told: a failure is the store's. */
  attend(piece: () => void): void {
    try {
      piece()
    } catch (error) {
      this.#fail(error, { turns: [], callers: [] })
    }
  }

  #fail(cause: unknown, { turns, callers }: Batch, moved: ReadonlySet<LiveInstance> = new Set()): void {
    if (!(cause instanceof HostError)) this.#options.parts.options.log.error({ error: toWorkflowError(cause) }, 'defect while writing to the store')
    const error = asStoreFailure(cause)
    const known = new Set(turns.map(({ live }) => live))
    const others = new Set([...moved, ...this.#dirty].filter((live) => !known.has(live)))
    const refused = [...callers, ...this.#callers]
    this.#dirty = new Set()
    this.#writes = []
    this.#callers = []
    this.#mending.begin(error, known, others)
    for (const { failed } of refused) failed(error)
  }

  /** Tries no more to write again. */
  stopRetrying(): void {
    this.#mending.stop()
  }
}
