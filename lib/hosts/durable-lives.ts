import { HostError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import { toWorkflowError, type Command, type HistoryStep } from '../instance/index.ts'
import { Alarm } from './alarm.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Durability } from './durability.ts'
import { stopId } from './ends.ts'
import type { EventStarts } from './event-starts.ts'
import type { InstancePage, InstanceQuery, InstanceRecord } from './host.ts'
import { bodyOf, type Journal, type StoredIntention, type StoredInstance, type StoredSchedule, type StoredStart } from './journal.ts'
import { recordOf, type DurableLife, type LiveInstance, type SubflowEnd } from './live-instance.ts'
import { pageOf } from './lives.ts'
import { Outbox } from './outbox.ts'
import type { Durables, NewInstance, Parts } from './parts.ts'
import { sameTimers, timersOf, toStored } from './stored-form.ts'
import { keysOf, keysOfWaits } from './wait-index.ts'

/** Milliseconds after which a store that failed is tried again. */
const RETRY_AFTER = 1000
/** Milliseconds between two purges. */
const PURGE_EVERY = 60_000
const DUE_AT_ONCE = 1000

type Write = (journal: Journal) => void

interface Caller {
  readonly done: () => void
  readonly failed: (error: HostError) => void
}

/**
 * Keeps instances in a store: a turn is written, with all others of one tick of the event loop, before it has effects; what only
 * waits is put away and brought back when something comes for it.
 *
 * When a commit fails, everything that it held is as if it had not happened: callers are refused, instances go on from what is stored.
 */
export class DurableLives implements Durables {
  readonly #parts: Parts
  readonly #durability: Durability
  readonly #starts: EventStarts
  readonly #dirty = new Set<LiveInstance>()
  /** Definitions of stored instances, by the hash of their text. */
  readonly #workflows = new Map<string, DeployedWorkflow>()
  readonly #storedDefinitions = new Set<string>()
  /** Received events that are not written yet. */
  readonly #received = new Set<string>()
  /** Intentions that are being carried out. */
  readonly #carrying = new Set<string>()
  /** Headers of instances that are put away, as far as the store must not hold them. */
  readonly #headers = new Map<string, Readonly<Record<string, string>>>()
  readonly #alarm: Alarm
  readonly #outbox: Outbox
  #journal: Journal | undefined
  #writes: Write[] = []
  #callers: Caller[] = []
  #scheduled = false
  #closing = false
  #closed = false
  #purgedAt = -Infinity
  #cancelRetry: () => void = () => undefined
  problem: HostError | undefined
  putAway = 0

  constructor(parts: Parts, durability: Durability, starts: EventStarts) {
    const { options, queue } = parts
    this.#parts = parts
    this.#durability = durability
    this.#starts = starts
    this.#alarm = new Alarm(options.clock, () => { queue.add(() => { this.#ring() }) })
    this.#outbox = new Outbox({
      clock: options.clock,
      forward: durability.forward,
      loopback: (event) => options.loopback ? new Promise((resolve) => { queue.add(() => { parts.router.deliver(event); resolve() }) }) : Promise.resolve(),
      sent: (id) => { this.#later((journal) => { journal.removeOutgoing(id) }) },
    })
    starts.keepWith({
      gathered: (workflow, { id, events, correlation, since }) => {
        if (!durability.isDurable(workflow)) return
        const gathering = { id, definition: workflow.loaded.source.hash, events: [...events], correlation, since }
        this.#later((journal) => {
          this.#keepDefinition(journal, workflow)
          journal.putGathering(gathering)
        })
      },
      given: (workflow, id) => { if (durability.isDurable(workflow)) this.#later((journal) => { journal.removeGathering(id) }) },
    })
  }

  /** Nothing is left to write. */
  get isIdle(): boolean {
    return !this.#scheduled && this.#dirty.size === 0
  }

  #open(): Journal {
    if (this.#closed) throw new HostError({ code: 'HOST_CLOSED', message: 'The host is closed' })
    if (this.#journal === undefined) {
      this.#journal = this.#durability.open()
      this.putAway = this.#journal.countAlive()
    }
    return this.#journal
  }

  // --- lives ---

  lifeOf({ workflow, parent, request, effectId, input }: NewInstance): DurableLife | undefined {
    // Who waits for a sub-flow cannot be forgotten while it is kept.
    const isKept = parent?.link.token === undefined ? this.#durability.isDurable(workflow) : parent.live.durable !== undefined
    if (!isKept) return undefined
    if (this.problem !== undefined) throw this.problem
    this.#open()
    const life = this.#newLife()
    if (effectId !== undefined) life.alongside.push((journal) => { journal.removeIntention(effectId) })
    if (request?.idempotencyKey !== undefined) life.place = { key: `${request.workflowId}\n${request.idempotencyKey}`, body: bodyOf(input) }
    if (parent !== undefined && parent.live.durable !== undefined && parent.link.onParentComplete === 'terminate') parent.live.durable.hasDependents = true
    return life
  }

  #newLife(): DurableLife {
    return { keeper: this, stored: false, steps: [], nextStep: 0, commands: [], timers: new Map(), waits: [], alongside: [], hasDependents: false }
  }

  moved(live: LiveInstance): void {
    const life = live.durable
    if (life === undefined || this.#closed || this.#parts.lives.get(live.facts.id) !== live) return
    life.commands.push(...live.instance.takeCommands())
    if (this.#leavesNothing(live, life)) {
      this.#parts.ends.conclude(live)
      this.#parts.turns.rest(live)
      return
    }
    this.#parts.waits.update(live)
    this.#dirty.add(live)
    this.#schedule()
  }

  /** It ended without an effect or a wait: nothing could be lost that its caller does not see. */
  #leavesNothing({ instance, facts }: LiveInstance, life: DurableLife): boolean {
    if (life.stored || life.commands.length > 0 || life.alongside.length > 0 || life.place !== undefined) return false
    const { status } = instance
    return (status === 'completed' || status === 'aborted') && instance.continuation === undefined && facts.parent === undefined &&
      (this.#parts.options.retention ?? 0) === 0
  }

  note(live: LiveInstance, step: HistoryStep): void {
    if (this.#durability.history) live.durable?.steps.push(step)
  }

  stopping(live: LiveInstance, childId: string): void {
    const { facts, workflow } = live
    live.durable?.alongside.push((journal) => {
      journal.addIntention({ id: stopId(childId), facts, definition: workflow.loaded.source.hash, effect: { kind: 'stop', instanceId: childId } })
    })
  }

  find(id: string): LiveInstance | undefined {
    return this.#parts.lives.get(id) ?? this.#bringBack(id)
  }

  #bringBack(id: string): LiveInstance | undefined {
    if (this.problem !== undefined || this.#closed) return undefined
    const stored = this.#journal?.get(id)
    if (stored?.state === undefined) return undefined
    const workflow = this.#workflows.get(stored.definition)
    if (workflow === undefined) return undefined
    try {
      return this.#resume(stored, workflow)
    } catch (error) {
      const live = this.#parts.lives.get(id)
      if (live !== undefined) this.#parts.ends.drop(live)
      this.#parts.options.log.error({ instance: id, workflow: stored.facts.workflowId, code: 'SNAPSHOT_INCOMPATIBLE', error: toWorkflowError(error) }, 'instance cannot be resumed by this release; it stays in the store as it is')
      return undefined
    }
  }

  #resume(stored: StoredInstance, workflow: DeployedWorkflow): LiveInstance {
    const { births, ends, subflows, queue } = this.#parts
    const { id } = stored.facts
    const headers = this.#headers.get(id)
    const life: DurableLife = { ...this.#newLife(), stored: true, nextStep: stored.nextStep, hasDependents: true }
    if (stored.place !== undefined) life.place = { key: stored.place }
    const live = births.restore(headers === undefined ? stored.facts : { ...stored.facts, headers }, workflow, stored.state, life)
    this.putAway -= 1
    life.timers = timersOf(live)
    life.waits = keysOfWaits(live)
    for (const command of live.instance.takeCommands()) {
      if (command.kind === 'timer') continue
      const end = command.kind === 'subflow' && !command.detached ? this.#subflowOf(live, command.token) : undefined
      if (command.kind !== 'subflow' || end === undefined) {
        life.commands.push(command)
        continue
      }
      live.subflows.set(command.token, { command, childId: end.id })
      if (end.status !== 'active' && end.status !== 'waiting') {
        const child = this.#parts.lives.get(end.id)
        if (child !== undefined) ends.drop(child)
        else if (end.status === 'error' && !end.ended) this.putAway -= 1
        subflows.deliver(live, command, end)
      }
    }
    if (life.commands.length > 0 || live.endedAt !== undefined) queue.add(() => { this.moved(live) })
    return live
  }

  #subflowOf({ facts }: LiveInstance, token: string): (SubflowEnd & { readonly ended: boolean }) | undefined {
    const childId = this.#journal?.childOf(facts.id, token)
    if (childId === undefined) return undefined
    const child = this.#parts.lives.get(childId)
    const stored = child === undefined ? this.#journal?.get(childId) : undefined
    const record = child === undefined ? stored?.record : recordOf(child)
    if (record === undefined) return undefined
    const continuation = child === undefined ? stored?.continuation : child.instance.continuation
    return {
      id: childId,
      status: record.status,
      data: record.data,
      ended: record.endedAt !== undefined,
      ...(record.failure === undefined ? {} : { failure: record.failure }),
      ...(continuation === undefined ? {} : { continuation }),
    }
  }

  #passivate(live: LiveInstance): void {
    const life = live.durable
    const { lives, waits } = this.#parts
    if (life?.stored !== true || lives.get(live.facts.id) !== live || this.#dirty.has(live)) return
    if (live.waiters.length > 0 || live.calls.size > 0 || live.starting.size > 0 || life.commands.length > 0 || life.alongside.length > 0 || !live.instance.isQuiet) return
    waits.remove(live)
    lives.remove(live)
    this.putAway += 1
    this.#keepHeaders(live)
  }

  #keepHeaders({ facts: { id, headers } }: LiveInstance): void {
    if (Object.keys(this.#durability.storedHeaders(headers)).length < Object.keys(headers).length) this.#headers.set(id, headers)
  }

  // --- events ---

  awaken(event: CloudEventRecord): void {
    if (this.problem !== undefined) throw this.problem
    if (this.#journal === undefined || this.putAway === 0) return
    for (const id of this.#journal.waiting(keysOf(event))) this.find(id)
  }

  isNew(event: CloudEventRecord, live: LiveInstance): boolean {
    return this.#receive(event, live.facts.id, (write) => { live.durable?.alongside.push(write) })
  }

  isNewStart(event: CloudEventRecord, workflow: DeployedWorkflow): boolean {
    if (!this.#durability.isDurable(workflow)) return true
    return this.#receive(event, `start:${workflow.program.definition.id}`, (write) => { this.#later(write) })
  }

  #receive(event: CloudEventRecord, target: string, note: (write: Write) => void): boolean {
    const key = `${event.source}|${event.id}`
    const place = `${key}|${target}`
    if (this.#received.has(place) || this.#open().hasReceived(key, target)) return false
    this.#received.add(place)
    const at = this.#parts.options.clock.now()
    note((journal) => { journal.addReceived(key, target, at) })
    return true
  }

  dependentsOf(live: LiveInstance): readonly string[] {
    const stored = live.durable?.stored === true && live.durable.hasDependents ? this.#journal?.dependentsOf(live.facts.id) ?? [] : []
    return [...new Set([...live.dependents, ...stored])]
  }

  // --- timers ---

  #ring(): void {
    if (this.#journal === undefined || this.problem !== undefined || this.#closed) return
    const now = this.#parts.options.clock.now()
    const due = this.#journal.due(now, DUE_AT_ONCE)
    for (const { instanceId, token } of due) {
      const live = this.find(instanceId)
      if (live !== undefined) this.#parts.turns.turn(live, () => { live.instance.fire(token) })
    }
    this.#flush()
    const next = due.length === DUE_AT_ONCE ? now : this.#journal.nextDue(now)
    if (next !== undefined) this.#alarm.set(next)
  }

  // --- commits ---

  /** Answers when everything is written that has happened so far. */
  afterCommit(done: () => void, failed: (error: HostError) => void): void {
    if (this.isIdle && this.#writes.length === 0) done()
    else this.#callers.push({ done, failed })
  }

  done(effectId: string): void {
    this.#carrying.delete(effectId)
    this.#later((journal) => { journal.removeIntention(effectId) })
  }

  #later(write: Write): void {
    if (this.#closed) return
    this.#writes.push(write)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    // One commit for all that one tick of the event loop brings.
    setImmediate(() => { this.#parts.queue.add(() => { this.#flush() }) })
  }

  #flush(): void {
    this.#scheduled = false
    if (this.#journal === undefined && this.#dirty.size === 0 && this.#writes.length === 0) return
    const batch = [...this.#dirty]
    const callers = this.#callers
    this.#callers = []
    try {
      if (batch.length > 0 || this.#writes.length > 0) this.#commit(batch)
    } catch (error) {
      this.#fail(batch, callers, error)
      return
    }
    for (const live of batch) if (!this.#closing) this.#carryOut(live)
    if (batch.length > 0) this.#durability.probe?.('before-answer')
    for (const live of batch) this.#rest(live)
    for (const { done } of callers) done()
  }

  #commit(batch: readonly LiveInstance[]): void {
    const journal = this.#open()
    const writes = this.#writes
    this.#writes = []
    this.#dirty.clear()
    this.#durability.probe?.('before-commit')
    journal.begin()
    for (const live of batch) this.#write(journal, live)
    for (const write of writes) write(journal)
    this.#purge(journal)
    journal.commit()
    this.#received.clear()
    this.#durability.probe?.('after-commit')
  }

  #write(journal: Journal, live: LiveInstance): void {
    const life = live.durable
    if (life === undefined) return
    const { facts, instance } = live
    const { status } = instance
    const isEnd = status === 'completed' || status === 'aborted'
    if (isEnd || status === 'error') this.#parts.ends.conclude(live)
    this.#writeCommands(journal, live, life)
    for (const write of life.alongside) write(journal)
    life.alongside = []
    if (isEnd) this.#writeEnd(journal, live, life)
    else this.#writeLife(journal, live, life)
    if (life.steps.length > 0 && life.stored) journal.addHistory(facts.id, life.steps)
    life.steps = []
  }

  #writeCommands(journal: Journal, live: LiveInstance, { commands }: DurableLife): void {
    for (const command of commands) {
      if (command.kind === 'publish') journal.addOutgoing(outgoingId(live, command.event), command.event)
      else if (command.kind !== 'timer' && command.detached && command.origin !== undefined) {
        this.#keepDefinition(journal, live.workflow)
        journal.addIntention(this.#intention(live, detachedId(live, command.token), { kind: 'detached', origin: command.origin }))
      }
    }
  }

  #intention({ facts, workflow }: LiveInstance, id: string, effect: StoredIntention['effect']): StoredIntention {
    return { id, facts: { ...facts, headers: this.#durability.storedHeaders(facts.headers) }, definition: workflow.loaded.source.hash, effect }
  }

  #writeLife(journal: Journal, live: LiveInstance, life: DurableLife): void {
    const { id } = live.facts
    this.#keepDefinition(journal, live.workflow)
    journal.put(toStored(live, life, this.#durability))
    const { place } = life
    if (place?.body !== undefined) {
      journal.putStart(place.key, { body: place.body, instanceId: id }, this.#parts.options.clock.now())
      life.place = { key: place.key }
    }
    const timers = timersOf(live)
    if (!sameTimers(timers, life.timers)) journal.setTimers(id, timers)
    const waits = keysOfWaits(live)
    if (waits.join('\n') !== life.waits.join('\n')) journal.setWaits(id, waits)
    life.stored = true
    life.timers = timers
    life.waits = waits
  }

  #writeEnd(journal: Journal, live: LiveInstance, life: DurableLife): void {
    const { facts, instance } = live
    const { options } = this.#parts
    const stored = toStored(live, life, this.#durability)
    const { continuation } = instance
    if (continuation !== undefined && facts.parent?.token === undefined) {
      this.#keepDefinition(journal, live.workflow)
      journal.addIntention(this.#intention(live, continueId(live), { kind: 'continue', continuation }))
    }
    for (const childId of this.dependentsOf(live)) {
      journal.addIntention(this.#intention(live, stopId(childId), { kind: 'stop', instanceId: childId }))
      live.dependents.add(childId)
    }
    const { place } = life
    if (place !== undefined) {
      if (place.body !== undefined) journal.putStart(place.key, { body: place.body, instanceId: facts.id }, options.clock.now())
      journal.endStart(place.key, stored.record)
    }
    if (stored.undelivered || (options.retention ?? 0) > 0) {
      this.#keepDefinition(journal, live.workflow)
      journal.put(stored)
      if (life.timers.size > 0) journal.setTimers(facts.id, new Map())
      if (life.waits.length > 0) journal.setWaits(facts.id, [])
      life.stored = true
    } else if (life.stored) {
      journal.remove(facts.id)
      // History goes with it.
      life.steps = []
    } else life.steps = []
  }

  #keepDefinition(journal: Journal, workflow: DeployedWorkflow): void {
    const { source, definition } = workflow.loaded
    this.#workflows.set(source.hash, workflow)
    if (this.#storedDefinitions.has(source.hash)) return
    journal.putDefinition({ hash: source.hash, workflowId: definition.id, version: definition.version, uri: source.uri, text: source.text })
    this.#storedDefinitions.add(source.hash)
  }

  #purge(journal: Journal): void {
    const now = this.#parts.options.clock.now()
    if (now - this.#purgedAt < PURGE_EVERY) return
    this.#purgedAt = now
    journal.purge(now - (this.#parts.options.retention ?? 0), now - this.#durability.inboxRetention)
  }

  // --- after a commit ---

  #carryOut(live: LiveInstance): void {
    const life = live.durable
    if (life === undefined) return
    const { commands } = life
    life.commands = []
    for (const [, dueAt] of life.timers) this.#alarm.set(dueAt)
    for (const command of commands) this.#execute(live, command)
  }

  #execute(live: LiveInstance, command: Command): void {
    if (command.kind === 'timer') return
    if (command.kind === 'publish') {
      this.#outbox.send(outgoingId(live, command.event), command.event)
      return
    }
    const effectId = command.detached ? detachedId(live, command.token) : undefined
    if (effectId === undefined && !live.instance.pending.has(command.token)) return
    this.#perform(live, command, effectId)
  }

  #perform(live: LiveInstance, command: Exclude<Command, { kind: 'timer' | 'publish' }>, effectId: string | undefined): void {
    const { turns, subflows, queue } = this.#parts
    if (effectId !== undefined) this.#carrying.add(effectId)
    if (command.kind === 'subflow') {
      if (effectId === undefined) live.starting.add(command.token)
      queue.add(() => { subflows.start(live, command, effectId) })
      return
    }
    const { probe } = this.#durability
    turns.call(live, {
      ...command,
      run: (signal) => {
        probe?.('before-effect')
        const outcome = command.run(signal)
        const ended = (): void => {
          probe?.('after-effect')
          if (effectId !== undefined) this.done(effectId)
        }
        if (outcome instanceof Promise) return outcome.finally(ended)
        ended()
        return outcome
      },
    })
    if (!live.calls.has(command.token)) this.moved(live)
  }

  #rest(live: LiveInstance): void {
    const { lives, turns, ends, queue } = this.#parts
    // What has moved on meanwhile is answered when that is written.
    if (this.#dirty.has(live) || lives.get(live.facts.id) !== live) return
    const { continuation } = live.instance
    const { endedAt } = live
    turns.rest(live)
    if (endedAt === undefined) {
      this.#passivate(live)
      return
    }
    this.#headers.delete(live.facts.id)
    if (continuation !== undefined && live.facts.parent?.token === undefined && !this.#closing) {
      queue.add(() => { ends.continue(live.facts, continuation, continueId(live)) })
    }
  }

  // --- failure ---

  #fail(batch: readonly LiveInstance[], callers: readonly Caller[], cause: unknown): void {
    const error = cause instanceof HostError
      ? cause
      : new HostError({ code: 'STORE_UNAVAILABLE', message: `The store could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
    const { options, ends } = this.#parts
    if (!(cause instanceof HostError)) options.log.error({ error: toWorkflowError(cause) }, 'defect while writing to the store')
    this.#journal?.rollback()
    this.problem = error
    options.log.error({ code: error.code }, `${error.message}; instances stand still until it can be written again`)
    this.#writes = []
    this.#received.clear()
    this.#storedDefinitions.clear()
    this.#carrying.clear()
    this.#outbox.clear()
    this.#starts.forget()
    const lost = new Set([...batch, ...this.#dirty])
    this.#dirty.clear()
    for (const live of lost) {
      if (live.durable?.stored === true) {
        this.putAway += 1
        this.#keepHeaders(live)
      }
      const { waiters } = live
      live.waiters = []
      ends.drop(live)
      for (const waiter of waiters) waiter(live, error)
    }
    for (const { failed } of [...callers, ...this.#callers]) failed(error)
    this.#callers = []
    this.#retryLater()
  }

  #retryLater(): void {
    const { clock } = this.#parts.options
    this.#cancelRetry = clock.at(clock.now() + RETRY_AFTER, () => { this.#parts.queue.add(() => { this.#retry() }) })
  }

  #retry(): void {
    try {
      const journal = this.#open()
      journal.begin()
      journal.putSchedule('', { deployedAt: this.#parts.options.clock.now() })
      journal.commit()
    } catch {
      // Still the problem that has been told.
      this.#journal?.rollback()
      this.#retryLater()
      return
    }
    this.problem = undefined
    this.#parts.options.log.info({}, 'the store can be written again')
    this.recover().catch((error: unknown) => { this.#parts.options.log.error({ error: toWorkflowError(error) }, 'recovery failed') })
  }

  // --- recovery ---

  /** Takes up what the store holds. */
  async recover(): Promise<void> {
    const { deployments, log } = this.#parts.options
    if (this.#journal === undefined && !this.#durability.exists() && !deployments.list().some((workflow) => this.#durability.isDurable(workflow))) return
    const journal = this.#open()
    for (const stored of journal.definitions()) {
      if (this.#workflows.has(stored.hash)) continue
      const inService = deployments.find(stored.workflowId, stored.version)
      try {
        this.#workflows.set(stored.hash, inService?.loaded.source.hash === stored.hash ? inService : await this.#durability.redeploy(stored))
      } catch (error) {
        log.error({ workflow: stored.workflowId, version: stored.version, error: toWorkflowError(error) }, 'instances of this definition wait until it can be deployed again')
      }
    }
    this.#parts.queue.add(() => { this.#takeUp(journal) })
  }

  #takeUp(journal: Journal): void {
    if (this.#closed) return
    const { queue } = this.#parts
    for (const gathering of journal.gatherings()) {
      const workflow = this.#workflows.get(gathering.definition)
      if (workflow !== undefined) this.#starts.restore(this.#inService(workflow), { ...gathering, events: new Map(gathering.events) })
    }
    for (const id of new Set([...journal.busy(), ...journal.parentsOfUndelivered()])) queue.add(() => { this.find(id) })
    for (const intention of journal.intentions()) queue.add(() => { this.#carryOn(intention) })
    for (const { id, event } of journal.outgoing()) this.#outbox.send(id, event)
    const next = journal.nextDue(-Infinity)
    if (next !== undefined) this.#alarm.set(next)
  }

  // A gathering goes on for the definition that is in service now.
  #inService(workflow: DeployedWorkflow): DeployedWorkflow {
    return this.#parts.options.deployments.find(workflow.program.definition.id) ?? workflow
  }

  #carryOn({ id, facts, definition, effect }: StoredIntention): void {
    const { ends, births } = this.#parts
    if (this.#carrying.has(id)) return
    if (effect.kind === 'stop') ends.stop(effect.instanceId)
    else if (effect.kind === 'continue') ends.continue(facts, effect.continuation, id)
    else {
      const workflow = this.#workflows.get(definition)
      if (workflow === undefined) return
      const live = this.find(facts.id) ?? births.restore(facts, workflow, undefined, this.#newLife())
      void Promise.resolve(live.instance.revive(effect.origin)).then((prepared) => {
        this.#parts.queue.add(() => {
          if (prepared.kind === 'command') this.#perform(live, prepared.command, id)
          else this.done(id)
        })
      })
    }
  }

  // --- reading ---

  record(id: string): InstanceRecord | undefined {
    return this.#journal?.get(id)?.record
  }

  history(id: string): readonly HistoryStep[] {
    return this.#journal?.history(id) ?? []
  }

  async list(query: InstanceQuery): Promise<InstancePage> {
    const journal = this.#journal
    if (journal === undefined) return pageOf(this.#parts.lives.matching(query), query)
    await new Promise<void>((resolve, reject) => { this.afterCommit(resolve, reject) })
    const [startedAt, id = ''] = query.cursor?.split(' ') ?? []
    const before = startedAt === undefined ? {} : { before: { startedAt: Number(startedAt), id } }
    const stored = journal.list({ ...query, ...before, limit: query.limit + 1 })
    // What is not stored is under way at this moment: it stands on the first page.
    const passing = startedAt === undefined ? this.#parts.lives.matching(query, ({ durable }) => durable?.stored !== true) : []
    const { cursor: _, ...rest } = query
    const page = pageOf([...[...stored].reverse(), ...passing], rest)
    const last = page.instances.at(-1)
    return page.cursor === undefined || last === undefined ? page : { ...page, cursor: `${String(last.startedAt)} ${last.id}` }
  }

  startOf(place: string): StoredStart | undefined {
    return this.#journal?.getStart(place)
  }

  /** What schedules have started, by their definition. */
  readonly schedules = {
    get: (workflow: DeployedWorkflow): StoredSchedule | undefined => this.#durability.isDurable(workflow) ? this.#open().getSchedule(scheduleId(workflow)) : undefined,
    put: (workflow: DeployedWorkflow, schedule: StoredSchedule): void => {
      if (this.#durability.isDurable(workflow)) this.#later((journal) => { journal.putSchedule(scheduleId(workflow), schedule) })
    },
  }

  /** Writes what is left and closes the store; what is under way is taken up by the next process. */
  close(): void {
    this.#closing = true
    this.#alarm.clear()
    this.#cancelRetry()
    const { lives, waits, turns } = this.#parts
    if (this.#journal !== undefined && this.problem === undefined) this.#flush()
    this.#closed = true
    this.#outbox.clear()
    for (const live of lives.all()) {
      if (live.durable === undefined) continue
      for (const call of live.calls.values()) call.abort()
      waits.remove(live)
      lives.remove(live)
      turns.release(live)
    }
    this.#journal?.close()
    this.#journal = undefined
  }
}

function outgoingId({ facts }: LiveInstance, event: CloudEventRecord): string {
  return `${facts.id}:${event.id}`
}

function detachedId({ facts }: LiveInstance, token: string): string {
  return `detached:${facts.id}:${token}`
}

function continueId({ facts }: LiveInstance): string {
  return `continue:${facts.id}`
}

function scheduleId({ program: { definition } }: DeployedWorkflow): string {
  return `${definition.id}\n${definition.version}`
}
