import { toWorkflowError } from '../instance/index.ts'
import { Alarm } from './alarm.ts'
import type { Commits } from './commits.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Durability } from './durability.ts'
import type { DurableEffects } from './durable-effects.ts'
import type { EventStarts } from './event-starts.ts'
import type { Journal } from './journal.ts'
import type { Parts } from './parts.ts'
import type { Resumption } from './resumption.ts'
import type { Shelf } from './shelf.ts'
import { timersOf } from './stored-form.ts'

const DUE_AT_ONCE = 1000

/** What taking up a store needs. */
export interface RecoveryOptions {
  readonly parts: Parts
  readonly durability: Durability
  readonly starts: EventStarts
  readonly shelf: Shelf
  readonly commits: Commits
  readonly resumption: Resumption
  readonly effects: DurableEffects
}

/** Takes up what a store holds at start, and its timers when they are due. */
export class Recovery {
  readonly #options: RecoveryOptions
  readonly alarm: Alarm

  constructor(options: RecoveryOptions) {
    this.#options = options
    const { parts, commits } = options
    this.alarm = new Alarm(parts.options.clock, () => { parts.queue.add(() => { commits.attend(() => { this.#ring() }) }) })
  }

  /** Takes up what the store holds. @throws {@link HostError} `STORE_UNAVAILABLE`, `STORE_LOCKED`, `SNAPSHOT_INCOMPATIBLE` */
  async recover(): Promise<void> {
    const { parts, durability, shelf, commits } = this.#options
    const { deployments, log } = parts.options
    if (shelf.journal === undefined && !durability.exists() && !deployments.list().some((workflow) => durability.isDurable(workflow))) return
    const journal = shelf.open()
    for (const stored of journal.definitions()) {
      if (shelf.workflow(stored.hash) !== undefined) continue
      const inService = deployments.find(stored.workflowId, stored.version)
      try {
        shelf.know(inService?.loaded.source.hash === stored.hash ? inService : await durability.redeploy(stored))
      } catch (error) {
        log.error({ workflow: stored.workflowId, version: stored.version, error: toWorkflowError(error) }, 'instances of this definition wait until it can be deployed again')
      }
    }
    const takeUp = (): void => { commits.attend(() => { this.#takeUp(journal) }) }
    parts.queue.add(() => {
      // What is under way is not taken up a second time; while the store is being mended nothing is.
      if (shelf.problem !== undefined) takeUp()
      else commits.whenSafe(takeUp, () => undefined)
    })
  }

  #takeUp(journal: Journal): void {
    const { parts: { options, queue, lives }, starts, shelf, commits, resumption, effects } = this.#options
    if (shelf.phase === 'closed') return
    if (shelf.problem !== undefined) {
      shelf.putAway = journal.countAlive() - lives.all().filter(({ durable }) => durable?.stored === true).length
      shelf.problem = undefined
      options.log.info({}, 'the store can be written again')
      commits.resume()
    }
    for (const gathering of journal.gatherings()) {
      const workflow = shelf.workflow(gathering.definition)
      if (workflow !== undefined) starts.restore(this.#inService(workflow), { ...gathering, events: new Map(gathering.events) })
    }
    const attend = (piece: () => void): void => { queue.add(() => { commits.attend(piece) }) }
    for (const id of new Set([...journal.busy(), ...journal.parentsOfUndelivered()])) attend(() => { resumption.find(id) })
    for (const intention of journal.intentions()) attend(() => { effects.carryOn(intention) })
    for (const { id, event } of journal.outgoing()) effects.outbox.send(id, event)
    const next = journal.nextDue(-Infinity)
    if (next !== undefined) this.alarm.set(next)
  }

  // A gathering goes on for the definition that is in service now.
  #inService(workflow: DeployedWorkflow): DeployedWorkflow {
    return this.#options.parts.options.deployments.find(workflow.program.definition.id) ?? workflow
  }

  #ring(): void {
    const { parts: { options, turns }, shelf, commits, resumption } = this.#options
    const { journal } = shelf
    if (journal === undefined || shelf.problem !== undefined || shelf.phase === 'closed') return
    const now = options.clock.now()
    const due = journal.due(now, DUE_AT_ONCE)
    for (const { instanceId, token } of due) {
      const live = resumption.find(instanceId)
      // What has been moved since may not be written yet.
      if (live !== undefined && (timersOf(live).get(token) ?? now) > now) continue
      if (live !== undefined) turns.turn(live, () => { live.instance.fire(token) })
    }
    commits.whenSafe(() => {
      commits.attend(() => {
        if (shelf.phase !== 'open') return
        const next = due.length === DUE_AT_ONCE ? now : journal.nextDue(now)
        if (next !== undefined) this.alarm.set(next)
      })
    }, () => undefined)
  }
}
