import { HostError } from '../errors/index.ts'
import { toWorkflowError } from '../instance/index.ts'
import { mayHaveDependents } from './can-wait.ts'
import type { Commits } from './commits.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { StoredSleeper } from './journal.ts'
import { recordOf, type DurableLife, type LiveInstance, type SubflowEnd } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'
import { timersOf } from './stored-form.ts'
import { keysOfWaits } from './wait-index.ts'

/** What putting away and bringing back need. */
export interface ResumptionOptions {
  readonly parts: Parts
  readonly shelf: Shelf
  readonly commits: Commits
  readonly newLife: () => DurableLife
}

/** Puts away what only waits, and brings it back when something comes for it. */
export class Resumption {
  readonly #options: ResumptionOptions
  /** Ids of instances that this release cannot resume. */
  readonly #unreadable = new Set<string>()

  constructor(options: ResumptionOptions) {
    this.#options = options
  }

  /** An instance in memory, or brought back from the store. @throws {@link HostError} `STORE_UNAVAILABLE` when it cannot be read */
  find(id: string): LiveInstance | undefined {
    return this.#options.parts.lives.get(id) ?? this.#bringBack(id)
  }

  #bringBack(id: string): LiveInstance | undefined {
    const { parts: { lives, ends, options }, shelf } = this.#options
    if (shelf.problem !== undefined || shelf.phase === 'closed' || this.#unreadable.has(id)) return undefined
    try {
      const stored = shelf.journal?.sleeper(id)
      if (stored?.state === undefined) return undefined
      const workflow = shelf.workflow(stored.definition)
      return workflow === undefined ? undefined : this.#resume(stored, workflow)
    } catch (error) {
      if (error instanceof HostError && error.code !== 'SNAPSHOT_INCOMPATIBLE') throw error
      const live = lives.get(id)
      if (live !== undefined) ends.drop(live)
      this.#unreadable.add(id)
      options.log.error({ instance: id, code: 'SNAPSHOT_INCOMPATIBLE', error: toWorkflowError(error) }, 'instance cannot be resumed by this release; it stays in the store as it is')
      return undefined
    }
  }

  #resume(stored: StoredSleeper, workflow: DeployedWorkflow): LiveInstance {
    const { parts: { births, queue }, shelf, newLife } = this.#options
    const life: DurableLife = { ...newLife(), stored: true, isBare: false, steps: [...stored.steps ?? []], nextStep: stored.nextStep, hasDependents: mayHaveDependents(workflow) }
    if (stored.place !== undefined) life.place = { key: stored.place }
    const live = births.restore(shelf.withHeaders(stored.facts), workflow, stored.state, life)
    shelf.putAway -= 1
    life.timers = timersOf(live)
    life.waits = keysOfWaits(live)
    this.#takeCommands(live, life)
    if (life.commands.length > 0 || live.endedAt !== undefined) queue.add(() => { life.keeper.moved(live) })
    return live
  }

  /** Commands are carried out again, but for sub-flows that have begun: they go on by themselves, or have ended meanwhile. */
  #takeCommands(live: LiveInstance, life: DurableLife): void {
    const { parts: { ends, subflows, lives }, shelf } = this.#options
    for (const command of live.instance.takeCommands()) {
      if (command.kind === 'timer') continue
      const end = command.kind === 'subflow' && !command.detached ? this.#subflowOf(live, command.token) : undefined
      if (command.kind !== 'subflow' || end === undefined) {
        life.commands.push(command)
        continue
      }
      live.subflows.set(command.token, { command, childId: end.id })
      if (end.status === 'active' || end.status === 'waiting') continue
      const child = lives.get(end.id)
      // It hands its end over itself when that is safe, after its own effects.
      if (child?.durable?.keeper.isPending(child) === true) continue
      if (child !== undefined) ends.drop(child)
      else if (end.status === 'error' && !end.ended) shelf.putAway -= 1
      subflows.deliver(live, command, end)
    }
  }

  #subflowOf({ facts }: LiveInstance, token: string): (SubflowEnd & { readonly ended: boolean }) | undefined {
    const { parts: { lives }, shelf: { journal } } = this.#options
    const childId = journal?.childOf(facts.id, token)
    if (childId === undefined) return undefined
    const child = lives.get(childId)
    const stored = child === undefined ? journal?.get(childId) : undefined
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

  /** Puts an instance away that only waits: what it is stands in the store. */
  passivate(live: LiveInstance): void {
    const { parts: { lives, waits }, shelf, commits } = this.#options
    const life = live.durable
    if (life?.stored !== true || lives.get(live.facts.id) !== live || commits.isPending(live)) return
    if (live.waiters.length > 0 || live.calls.size > 0 || live.starting.size > 0 || life.commands.length > 0 || life.alongside.length > 0 || !live.instance.isQuiet) return
    waits.remove(live)
    lives.remove(live)
    shelf.putAway += 1
    shelf.keepHeaders(live.facts)
  }
}
