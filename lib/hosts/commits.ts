import { afterArrivals } from '../common/index.ts'
import { HostError } from '../errors/index.ts'
import { toWorkflowError, type Command } from '../instance/index.ts'
import type { Durability } from './durability.ts'
import type { Journal } from './journal.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'

/** Milliseconds after which a store that failed is tried again. */
const RETRY_AFTER = 1000
/** Milliseconds for which a commit waits at most while each iteration of the event loop brings more for it. */
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
  /** All of these are safe: they may have their effects. */
  readonly written: (turns: readonly WrittenTurn[]) => void
  /** A commit failed: what was not written has not happened. */
  readonly lost: () => void
  /** The store can be written again. */
  readonly mended: () => Promise<void>
}

/** What an instance has become, and what it asks for since it was last written. */
export interface WrittenTurn {
  readonly live: LiveInstance
  readonly commands: readonly Command[]
}

/** A commit that is made and that the disk has not confirmed yet. */
interface Batch {
  readonly turns: readonly WrittenTurn[]
  readonly callers: Caller[]
}

interface Caller {
  readonly done: () => void
  readonly failed: (error: HostError) => void
}

/**
 * Writes what a few iterations of the event loop bring as one commit, and lets it have effects when the disk has confirmed it. Until
 * then the process goes on with other things, and what they bring makes up the next commit.
 *
 * When a commit fails, everything that it held is as if it had not happened: callers are refused, instances go on from what is stored.
 */
export class Commits {
  readonly #options: CommitsOptions
  /** Replaced and not cleared: the tables of a set that lives long keep alive what they held (see TurnoverMap). */
  #dirty = new Set<LiveInstance>()
  #writes: Write[] = []
  #callers: Caller[] = []
  #batch: Batch | undefined
  #scheduled = false
  #purgedAt = -Infinity
  #cancelRetry: () => void = () => undefined

  constructor(options: CommitsOptions) {
    this.#options = options
  }

  /** Nothing is left to write. */
  get isIdle(): boolean {
    return !this.#scheduled && this.#batch === undefined && this.#isEmpty
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

  /** Nothing has come together for the next commit. */
  get #isEmpty(): boolean {
    return this.#dirty.size === 0 && this.#writes.length === 0
  }

  /** Answers when everything is safe that has happened so far. */
  after(done: () => void, failed: (error: HostError) => void): void {
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

  #flush(): void {
    this.#scheduled = false
    if (this.#batch !== undefined || this.#isEmpty) return
    const moved = [...this.#dirty]
    const callers = this.#callers
    this.#callers = []
    let batch: Batch
    let isSafe: boolean
    try {
      const journal = this.#options.shelf.open()
      batch = { turns: this.#commit(journal, moved), callers }
      this.#batch = batch
      isSafe = !journal.sync((error) => { this.#options.parts.queue.add(() => { this.#confirmed(batch, error) }) })
    } catch (error) {
      this.#batch = undefined
      this.#fail(moved, callers, error)
      return
    }
    if (isSafe) this.#confirmed(batch)
  }

  #commit(journal: Journal, moved: readonly LiveInstance[]): readonly WrittenTurn[] {
    const { durability: { probe }, write, committed } = this.#options
    const writes = this.#writes
    this.#writes = []
    this.#dirty = new Set()
    probe?.('before-commit')
    journal.begin()
    for (const live of moved) write(journal, live)
    for (const more of writes) more(journal)
    this.#purge(journal)
    journal.commit()
    const turns = moved.map((live): WrittenTurn => ({ live, commands: takeWritten(live) }))
    committed()
    probe?.('after-commit')
    return turns
  }

  /** The disk has answered. */
  #confirmed(batch: Batch, error?: HostError): void {
    // Who closes does not wait for the answer.
    if (this.#batch !== batch) return
    this.#batch = undefined
    try {
      if (error !== undefined) throw error
      this.#options.written(batch.turns)
    } catch (cause) {
      this.#fail(batch.turns.map(({ live }) => live), batch.callers, cause)
      return
    }
    for (const { done } of batch.callers) done()
    if (!this.#isEmpty) this.#schedule()
  }

  /** Commits what there is, and returns when it is safe. */
  finish(): void {
    const { shelf } = this.#options
    // What becomes known by a commit may lead to another one.
    while (this.#batch !== undefined || (!this.#isEmpty && shelf.problem === undefined)) {
      if (this.#batch === undefined) this.#flush()
      if (this.#batch !== undefined) this.#confirmNow(this.#batch)
    }
  }

  #confirmNow(batch: Batch): void {
    try {
      this.#options.shelf.journal?.syncNow()
    } catch (error) {
      this.#confirmed(batch, toHostError(error))
      return
    }
    this.#confirmed(batch)
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
    const error = toHostError(cause)
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
    if (this.#batch !== undefined) {
      this.#retryLater()
      return
    }
    try {
      const journal = shelf.open()
      journal.begin()
      journal.putSchedule('', { deployedAt: options.clock.now() })
      journal.commit()
      journal.syncNow()
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

function toHostError(cause: unknown): HostError {
  if (cause instanceof HostError) return cause
  return new HostError({ code: 'STORE_UNAVAILABLE', message: `The store could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
}

function takeWritten({ durable }: LiveInstance): readonly Command[] {
  if (durable === undefined) return []
  const { commands } = durable
  durable.stored = true
  durable.commands = []
  return commands
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
