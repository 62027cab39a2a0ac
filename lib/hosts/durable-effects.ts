import type { CloudEventRecord } from '../events/index.ts'
import type { CallCommand, Command } from '../instance/index.ts'
import type { Commits, Write } from './commits.ts'
import type { Durability } from './durability.ts'
import { continueId, detachedId, outgoingId } from './durable-writes.ts'
import type { DurableLife, LiveInstance } from './live-instance.ts'
import { Outbox } from './outbox.ts'
import type { Parts } from './parts.ts'
import type { Resumption } from './resumption.ts'
import type { Shelf } from './shelf.ts'
import { asStoreFailure } from './store-failure.ts'
import type { StoredIntention } from './journal.ts'

/** What the carrying out of effects needs. */
export interface DurableEffectsOptions {
  readonly parts: Parts
  readonly durability: Durability
  readonly shelf: Shelf
  readonly commits: Commits
  readonly resumption: Resumption
  readonly newLife: () => DurableLife
}

/** Carries out what instances ask for, once that is safe, and what the store says is still to be done. */
export class DurableEffects {
  readonly #options: DurableEffectsOptions
  /** Intentions that are being carried out. */
  readonly #carrying = new Set<string>()
  readonly outbox: Outbox

  constructor(options: DurableEffectsOptions) {
    this.#options = options
    const { parts, durability, commits } = options
    const { clock, loopback } = parts.options
    this.outbox = new Outbox({
      clock,
      forward: durability.forward,
      loopback: (event) => loopback ? this.#loopBack(event) : Promise.resolve(),
      sent: (id) => { commits.later((journal) => { journal.removeOutgoing(id) }) },
    })
  }

  #loopBack(event: CloudEventRecord): Promise<void> {
    const { parts, commits } = this.#options
    return new Promise((resolve, reject) => {
      parts.queue.add(() => {
        try {
          parts.router.deliver(event)
          resolve()
        } catch (error) {
          reject(asStoreFailure(error))
          commits.attend(() => { throw error })
        }
      })
    })
  }

  /** Forgets what is under way: what is stored is carried out again. */
  clear(): void {
    this.#carrying.clear()
    this.outbox.clear()
  }

  /** Carries out the first so many commands of an instance: the turns that asked for them are safe. */
  carryOut(live: LiveInstance, count: number): void {
    const life = live.durable
    if (life === undefined || count === 0) return
    const commands = life.commands
    life.commands = commands.slice(count)
    for (const command of commands.slice(0, count)) this.#execute(live, command)
  }

  #execute(live: LiveInstance, command: Command): void {
    if (command.kind === 'timer') return
    if (command.kind === 'publish') {
      this.outbox.send(outgoingId(live, command.event), command.event)
      return
    }
    const effectId = command.detached ? detachedId(live, command.token) : undefined
    if (effectId === undefined && !live.instance.pending.has(command.token)) return
    // An operator may have repeated it before it began.
    if (live.durable?.commands.some((later) => later.kind !== 'publish' && later.token === command.token) === true) return
    this.#perform(live, command, effectId)
  }

  #perform(live: LiveInstance, command: Exclude<Command, { kind: 'timer' | 'publish' }>, effectId: string | undefined): void {
    const { parts: { turns, subflows, queue }, durability: { probe } } = this.#options
    if (effectId !== undefined) this.carry(effectId)
    if (command.kind === 'subflow') {
      if (effectId === undefined) live.starting.add(command.token)
      queue.add(() => { subflows.start(live, command, effectId) })
      return
    }
    turns.call(live, effectId === undefined && probe === undefined ? command : this.#followed(command, effectId))
    if (!live.calls.has(command.token)) live.durable?.keeper.moved(live)
  }

  /** A call that is seen by a test, or whose end removes its intention. Others are handed on as they are: a copy of each would cost a microsecond. */
  #followed(command: CallCommand, effectId: string | undefined): CallCommand {
    const { probe } = this.#options.durability
    return {
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
    }
  }

  /** Begins to carry an intention out; gives false when that is under way already. */
  carry(effectId: string): boolean {
    if (this.#carrying.has(effectId)) return false
    this.#carrying.add(effectId)
    return true
  }

  /** The write that belongs to the commit by which an intention is carried out. */
  carried(effectId: string): Write {
    return (journal) => {
      this.#carrying.delete(effectId)
      journal.removeIntention(effectId)
    }
  }

  /** An intention that the store holds is carried out. */
  done(effectId: string): void {
    this.#options.commits.later(this.carried(effectId))
  }

  /** Looks at what an instance came to by a turn that is safe. */
  rest(live: LiveInstance): void {
    const { parts: { lives, turns, ends, queue }, commits, shelf, resumption } = this.#options
    // What has moved on meanwhile is answered when that is safe.
    if (commits.isPending(live) || lives.get(live.facts.id) !== live) return
    const { continuation } = live.instance
    const { endedAt } = live
    turns.rest(live)
    if (endedAt === undefined) {
      resumption.passivate(live)
      return
    }
    shelf.forgetHeaders(live.facts.id)
    if (continuation !== undefined && live.facts.parent?.token === undefined && shelf.phase === 'open') {
      const id = continueId(live)
      this.carry(id)
      queue.add(() => { ends.continue(live.facts, continuation, id) })
    }
  }

  /** Carries out what a process before has left to do. */
  carryOn({ id, facts, definition, effect }: StoredIntention): void {
    const { parts: { ends, births, queue }, shelf, resumption, newLife } = this.#options
    if (this.#carrying.has(id)) return
    if (effect.kind === 'stop') ends.stop(effect.instanceId)
    else if (effect.kind === 'continue') {
      this.carry(id)
      ends.continue(facts, effect.continuation, id)
    } else {
      const workflow = shelf.workflow(definition)
      if (workflow === undefined) return
      const live = resumption.find(facts.id) ?? births.restore(facts, workflow, undefined, newLife())
      void Promise.resolve(live.instance.revive(effect.origin)).then((prepared) => {
        queue.add(() => {
          if (prepared.kind === 'command') this.#perform(live, prepared.command, id)
          else this.done(id)
        })
      })
    }
  }
}
