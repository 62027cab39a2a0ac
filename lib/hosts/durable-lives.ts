import type { HostError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { HistoryStep } from '../instance/index.ts'
import { Commits, type CommittedTurn, type Write } from './commits.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Durability } from './durability.ts'
import { DurableEffects } from './durable-effects.ts'
import { DurableWrites } from './durable-writes.ts'
import { stopId } from './ends.ts'
import type { EventStarts } from './event-starts.ts'
import type { InstancePage, InstanceQuery, InstanceRecord } from './host.ts'
import { Inbox } from './inbox.ts'
import { bodyOf, type StoredSchedule, type StoredStart } from './journal.ts'
import type { DurableLife, LiveInstance } from './live-instance.ts'
import { pageOf } from './lives.ts'
import type { Durables, NewInstance, Parts } from './parts.ts'
import { Recovery } from './recovery.ts'
import { Resumption } from './resumption.ts'
import { Shelf } from './shelf.ts'
import { NO_TIMERS } from './stored-form.ts'

/**
 * Keeps instances in a store: a turn is committed, together with others, and safe before it has effects; what only
 * waits is put away and brought back when something comes for it.
 */
export class DurableLives implements Durables {
  readonly #parts: Parts
  readonly #durability: Durability
  readonly #shelf: Shelf
  readonly #commits: Commits
  readonly #resumption: Resumption
  readonly #effects: DurableEffects
  readonly #inbox: Inbox
  readonly #recovery: Recovery

  constructor(parts: Parts, durability: Durability, starts: EventStarts) {
    this.#parts = parts
    this.#durability = durability
    const shelf = new Shelf(durability)
    const writes = new DurableWrites(parts, durability, shelf)
    const commits = new Commits({
      parts,
      durability,
      shelf,
      write: (journal, live) => { writes.write(journal, live) },
      committed: () => { this.#inbox.forget() },
      safe: (turns) => { this.#safe(turns) },
      lost: () => {
        this.#inbox.forget()
        this.#effects.clear()
        starts.forget()
      },
      mended: () => this.#recovery.recover(),
    })
    const newLife = (): DurableLife => this.#newLife()
    const resumption = new Resumption({ parts, shelf, commits, newLife })
    const common = { parts, durability, shelf, commits, resumption }
    this.#shelf = shelf
    this.#commits = commits
    this.#resumption = resumption
    this.#effects = new DurableEffects({ ...common, newLife })
    this.#inbox = new Inbox(common)
    this.#recovery = new Recovery({ ...common, starts, effects: this.#effects })
    this.#keepGatherings(starts)
  }

  #keepGatherings(starts: EventStarts): void {
    starts.keepWith({
      gathered: (workflow, { id, events, correlation, since }) => {
        if (!this.#durability.isDurable(workflow)) return
        const gathering = { id, definition: workflow.loaded.source.hash, events: [...events], correlation, since }
        this.#commits.later((journal) => {
          this.#shelf.keepDefinition(journal, workflow)
          journal.putGathering(gathering)
        })
      },
      given: (workflow, id) => { if (this.#durability.isDurable(workflow)) this.#commits.later((journal) => { journal.removeGathering(id) }) },
    })
  }

  get problem(): HostError | undefined {
    return this.#shelf.problem
  }

  get putAway(): number {
    return this.#shelf.putAway
  }

  /** All that has happened is safe. */
  get isSafe(): boolean {
    return this.#commits.isSafe
  }

  /** Nothing is left to write. */
  get isIdle(): boolean {
    return this.#commits.isIdle
  }

  // --- lives ---

  lifeOf({ workflow, parent, request, effectId, input }: NewInstance): DurableLife | undefined {
    // Who waits for a sub-flow cannot be forgotten while it is kept.
    const isKept = parent?.link.token === undefined ? this.#durability.isDurable(workflow) : parent.live.durable !== undefined
    if (!isKept) return undefined
    if (this.problem !== undefined) throw this.problem
    this.#shelf.open()
    const life = this.#newLife()
    if (effectId !== undefined) life.alongside.push(this.#effects.carried(effectId))
    if (request?.idempotencyKey !== undefined) life.place = { key: `${request.workflowId}\n${request.idempotencyKey}`, body: bodyOf(input) }
    if (parent?.live.durable !== undefined && parent.link.onParentComplete === 'terminate') parent.live.durable.hasDependents = true
    return life
  }

  #newLife(): DurableLife {
    return { keeper: this, stored: false, isBare: true, steps: [], nextStep: 0, commands: [], timers: NO_TIMERS, waits: [], alongside: [], hasDependents: false }
  }

  moved(live: LiveInstance): void {
    const life = live.durable
    const { lives, ends, turns, waits } = this.#parts
    if (life === undefined || this.#shelf.phase === 'closed' || lives.get(live.facts.id) !== live) return
    if (live.endedAt !== undefined) {
      // Its end is committed, and not safe yet.
      for (const write of life.alongside) this.#commits.later(write)
      life.alongside = []
      return
    }
    life.commands.push(...live.instance.takeCommands())
    if (this.#leavesNothing(live, life)) {
      ends.conclude(live)
      turns.rest(live)
      return
    }
    waits.update(live)
    this.#commits.add(live)
  }

  /** It ended without an effect or a wait: nothing could be lost that its caller does not see. */
  #leavesNothing({ instance, facts }: LiveInstance, life: DurableLife): boolean {
    if (life.stored || life.commands.length > 0 || life.alongside.length > 0 || life.place !== undefined) return false
    const { status } = instance
    return (status === 'completed' || status === 'aborted') && instance.continuation === undefined && facts.parent === undefined &&
      (this.#parts.options.retention ?? 0) === 0
  }

  isPending(live: LiveInstance): boolean {
    return this.#commits.isPending(live)
  }

  note(live: LiveInstance, step: HistoryStep): void {
    if (this.#durability.history) live.durable?.steps.push(step)
  }

  stopping({ facts, workflow, durable }: LiveInstance, childId: string): void {
    const kept = { ...facts, headers: this.#durability.storedHeaders(facts.headers) }
    durable?.alongside.push((journal) => {
      journal.addIntention({ id: stopId(childId), facts: kept, definition: workflow.loaded.source.hash, effect: { kind: 'stop', instanceId: childId } })
    })
  }

  find(id: string): LiveInstance | undefined {
    return this.#resumption.find(id)
  }

  #safe(committed: readonly CommittedTurn[]): void {
    const { lives, turns } = this.#parts
    const current: CommittedTurn[] = []
    for (const turn of committed) {
      // The parent of a sub-flow may have taken its end from the store meanwhile.
      if (lives.get(turn.live.facts.id) === turn.live) current.push(turn)
      else turns.release(turn.live)
    }
    if (current.length === 0) return
    for (const { live, commands } of current) {
      for (const dueAt of live.durable?.timers.values() ?? []) this.#recovery.alarm.set(dueAt)
      if (this.#shelf.phase === 'open') this.#effects.carryOut(live, commands)
    }
    this.#durability.probe?.('before-answer')
    for (const { live } of current) this.#effects.rest(live)
  }

  // --- events ---

  awaken(event: CloudEventRecord): void {
    this.#inbox.awaken(event)
  }

  isNew(event: CloudEventRecord, live: LiveInstance): boolean {
    return this.#inbox.isNew(event, live)
  }

  isNewStart(event: CloudEventRecord, workflow: DeployedWorkflow): boolean {
    return this.#inbox.isNewStart(event, workflow)
  }

  // --- commits ---

  /** Answers when everything is safe that has happened so far. */
  whenSafe(done: () => void, failed: (error: HostError) => void): void {
    this.#commits.whenSafe(done, failed)
  }

  carry(effectId: string): boolean {
    return this.#effects.carry(effectId)
  }

  carried(effectId: string): Write {
    return this.#effects.carried(effectId)
  }

  done(effectId: string): void {
    this.#effects.done(effectId)
  }

  release(childId: string, parentId: string): void {
    const { journal } = this.#shelf
    // A parent that cannot be read now may be read by another release.
    if (this.problem !== undefined || (this.#parts.lives.get(parentId) === undefined && journal?.isAlive(parentId) === true)) return
    this.#commits.later((store) => { store.release(childId, (this.#parts.options.retention ?? 0) > 0) })
  }

  /** Takes up what the store holds. */
  recover(): Promise<void> {
    return this.#recovery.recover()
  }

  // --- reading ---

  record(id: string): InstanceRecord | undefined {
    return this.#shelf.journal?.get(id)?.record
  }

  history(id: string): readonly HistoryStep[] {
    const { journal } = this.#shelf
    const life = this.#parts.lives.get(id)?.durable
    return [...journal?.history(id) ?? [], ...life?.steps ?? journal?.sleeper(id)?.steps ?? []]
  }

  async list(query: InstanceQuery): Promise<InstancePage> {
    const { lives } = this.#parts
    const { journal } = this.#shelf
    if (journal === undefined) return pageOf(lives.matching(query), query)
    // What cannot be written has not happened: the store can still be read.
    if (this.problem === undefined) await new Promise<void>((resolve) => { this.whenSafe(resolve, () => { resolve() }) })
    const [startedAt, id = ''] = query.cursor?.split(' ') ?? []
    const before = startedAt === undefined ? {} : { before: { startedAt: Number(startedAt), id } }
    const stored = journal.list({ ...query, ...before, limit: query.limit + 1 })
    // What is not stored is under way at this moment: it stands on the first page.
    const passing = startedAt === undefined ? lives.matching(query, ({ durable }) => durable?.stored !== true) : []
    const { cursor: _, ...rest } = query
    const page = pageOf([...[...stored].reverse(), ...passing], rest)
    const last = page.instances.at(-1)
    return page.cursor === undefined || last === undefined ? page : { ...page, cursor: `${String(last.startedAt)} ${last.id}` }
  }

  startOf(place: string): StoredStart | undefined {
    return this.#shelf.journal?.getStart(place)
  }

  /** What schedules have started, by their definition. */
  readonly schedules = {
    get: (workflow: DeployedWorkflow): StoredSchedule | undefined => this.#durability.isDurable(workflow) ? this.#shelf.open().getSchedule(scheduleId(workflow)) : undefined,
    put: (workflow: DeployedWorkflow, schedule: StoredSchedule): void => {
      if (this.#durability.isDurable(workflow)) this.#commits.later((journal) => { journal.putSchedule(scheduleId(workflow), schedule) })
    },
  }

  /** Writes what is left and closes the store; what is under way is taken up by the next process. */
  close(): void {
    const shelf = this.#shelf
    shelf.phase = 'closing'
    this.#recovery.alarm.clear()
    this.#commits.stopRetrying()
    const { lives, waits, turns } = this.#parts
    if (shelf.journal !== undefined) this.#commits.finish()
    shelf.phase = 'closed'
    this.#recovery.alarm.clear()
    this.#commits.stopRetrying()
    this.#effects.outbox.clear()
    for (const live of lives.all()) {
      if (live.durable === undefined) continue
      for (const call of live.calls.values()) call.abort()
      waits.remove(live)
      lives.remove(live)
      turns.release(live)
    }
    shelf.close()
  }
}

function scheduleId({ program: { definition } }: DeployedWorkflow): string {
  return `${definition.id}\n${definition.version}`
}
