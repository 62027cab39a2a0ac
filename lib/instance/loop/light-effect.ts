import type { AnyActorRef, Snapshot } from 'xstate'
import type { EffectDesk, EffectEvent, EffectInput, EffectSnapshot } from '../effect.ts'
import type { LoopScope } from './light-machine.ts'

const NOT_STARTED = 0
const RUNNING = 1
const STOPPED = 2

/**
 * An effect without an actor of its own: what XState needs to hold, persist and stop it as a child, and nothing else.
 *
 * An `Actor` costs a mailbox, a registration and a done event through them, 35–60 µs in all; this costs one object. Its persisted form
 * is the one of {@link effectLogic}, so a snapshot can be resumed with either.
 */
export class LightEffect {
  readonly id: string
  readonly src: string
  readonly sessionId: string
  readonly systemId = undefined
  readonly _syncSnapshot = false
  /** Changes once where the workflow gets its actor. */
  _parent: AnyActorRef
  _processingStatus: number = NOT_STARTED
  readonly #desk: EffectDesk
  #snapshot: EffectSnapshot

  constructor(scope: LoopScope, desk: EffectDesk, id: string, src: string, input: EffectInput) {
    this.id = id
    this.src = src
    this.sessionId = `${scope.sessionId}:${id}`
    this._parent = scope.self
    this.#desk = desk
    this.#snapshot = { status: 'active', output: undefined, error: undefined, input }
  }

  get input(): EffectInput {
    return this.#snapshot.input
  }

  getSnapshot(): EffectSnapshot {
    return this.#snapshot
  }

  getPersistedSnapshot(): Snapshot<unknown> {
    return this.#snapshot as unknown as Snapshot<unknown>
  }

  start(): this {
    if (this._processingStatus === NOT_STARTED) {
      this._processingStatus = RUNNING
      if (this.#snapshot.status === 'active') this.#desk.post(this as unknown as AnyActorRef, this.#snapshot.input)
    }
    return this
  }

  /** Takes the host's answer and hands it to the parent as XState's done and error events. */
  send(event: EffectEvent): void {
    if (this._processingStatus === STOPPED) return
    this._processingStatus = STOPPED
    const { input } = this.#snapshot
    if (event.type === 'swf.effect.completed') {
      this.#snapshot = { status: 'done', output: event.output as never, error: undefined, input }
      this._parent.send({ type: `xstate.done.actor.${this.id}`, output: event.output, actorId: this.id })
    } else if (event.type === 'swf.effect.failed') {
      this.#snapshot = { status: 'error', output: undefined, error: event.error, input }
      this._parent.send({ type: `xstate.error.actor.${this.id}`, error: event.error, actorId: this.id })
    }
  }

  /** Gives the effect up; called by XState when its state is left. */
  _stop(): this {
    // What was never taken up cannot be given up.
    if (this._processingStatus === RUNNING) {
      this.#snapshot = { ...this.#snapshot, status: 'stopped' }
      this.#desk.withdraw(this.#snapshot.input.token)
    }
    this._processingStatus = STOPPED
    return this
  }
}
