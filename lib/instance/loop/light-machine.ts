import type { AnyActorRef, ExecutableActionObject, Snapshot } from 'xstate'
import type { StepEvent } from '../steps/step.ts'

/** Where the loop acts: the scope of an actor, or of a machine without one. */
export interface LoopScope {
  readonly self: AnyActorRef
  readonly sessionId: string
  readonly defer: (work: () => void) => void
  readonly stopChild: (child: AnyActorRef) => void
  readonly actionExecutor: (action: ExecutableActionObject) => void
}

/** A snapshot as far as it is read here. */
interface LightSnapshot {
  readonly status: string
  readonly output: unknown
  readonly error: unknown
  readonly children: Readonly<Record<string, AnyActorRef | undefined>>
}

/** A machine in the loop of our own. */
export interface LightLogic {
  begin(scope: LightMachine): unknown
  transition(snapshot: never, event: StepEvent, scope: LightMachine): unknown
  persist(snapshot: never): Snapshot<unknown>
}

/** Where it belongs: nowhere for the machine of a workflow that has not waited yet. */
interface Place {
  readonly parent: LoopScope | undefined
  readonly id: string
  readonly src: string
}

const NOT_STARTED = 0
const RUNNING = 1
const STOPPED = 2

/**
 * A machine without XState's actor around it: it takes one event after another and tells its parent its end.
 *
 * Branches and iterations are such machines, and so is a workflow until it first waits. The persisted form is that of an actor; brought
 * back, it is one.
 */
export class LightMachine implements LoopScope {
  readonly id: string
  readonly src: string
  readonly sessionId: string
  readonly systemId = undefined
  readonly _syncSnapshot = false
  /** Changes once where the parent gets its actor. */
  _parent: AnyActorRef | undefined
  _processingStatus: number = NOT_STARTED
  readonly #logic: LightLogic
  readonly #mailbox: StepEvent[] = []
  #isProcessing = false
  #deferred: (() => void)[] = []
  #snapshot: LightSnapshot
  /** The actor that has taken its place. */
  #actor: AnyActorRef | undefined

  constructor({ parent, id, src }: Place, logic: LightLogic) {
    this.id = id
    this.src = src
    this.sessionId = parent === undefined ? id : `${parent.sessionId}:${id}`
    this._parent = parent?.self
    this.#logic = logic
    this.#snapshot = logic.begin(this) as LightSnapshot
  }

  get self(): AnyActorRef {
    return this as unknown as AnyActorRef
  }

  getSnapshot(): LightSnapshot {
    return this.#actor?.getSnapshot() as LightSnapshot | undefined ?? this.#snapshot
  }

  getPersistedSnapshot(): Snapshot<unknown> {
    return this.#logic.persist(this.#snapshot as never)
  }

  defer = (work: () => void): void => {
    this.#deferred.push(work)
  }

  stopChild = (child: AnyActorRef): void => {
    (child as AnyActorRef & { _stop(): void })._stop()
  }

  // An actor that has not started puts actions off, and carries them out at once later; so does this.
  actionExecutor = (action: ExecutableActionObject): void => {
    const run = (): void => { action.exec?.(action.info, action.params) }
    if (this._processingStatus === RUNNING) run()
    else this.#deferred.push(run)
  }

  /** The first step is over and the next follows at once: what was put off for its end is due. */
  begun(): void {
    if (this._processingStatus !== NOT_STARTED) return
    this._processingStatus = RUNNING
    this.#runDeferred()
  }

  start(): this {
    // A workflow that ran on at once has begun by itself.
    if (this._processingStatus === STOPPED) return this
    this._processingStatus = RUNNING
    if (this.#snapshot.status === 'active') {
      for (const child of Object.values(this.#snapshot.children)) child?.start()
    }
    this.#update(this.#snapshot)
    this.#process()
    return this
  }

  send(event: StepEvent): void {
    if (this.#actor !== undefined) {
      this.#actor.send(event)
      return
    }
    if (this._processingStatus === STOPPED) return
    this.#mailbox.push(event)
    this.#process()
  }

  // XState's systems deliver by this name.
  _send(event: StepEvent): void {
    this.send(event)
  }

  /** Gives it up, with all that it waits for. */
  _stop(): this {
    const wasRunning = this._processingStatus === RUNNING
    this._processingStatus = STOPPED
    this.#mailbox.length = 0
    if (!wasRunning) return this
    for (const child of Object.values(this.#snapshot.children)) if (child !== undefined) this.stopChild(child)
    this.#snapshot = { ...this.#snapshot, status: 'stopped', children: {} }
    return this
  }

  /** Hands its children and its events over to an actor that goes on from its snapshot. */
  replaceBy(actor: AnyActorRef): void {
    this.#actor = actor
    this._processingStatus = STOPPED
    for (const child of Object.values(this.#snapshot.children)) if (child !== undefined) (child as { _parent: AnyActorRef | undefined })._parent = actor
  }

  // What comes while an event is taken waits until that is done.
  #process(): void {
    if (this.#isProcessing || this._processingStatus !== RUNNING) return
    this.#isProcessing = true
    try {
      for (let event = this.#mailbox.shift(); event !== undefined; event = this.#mailbox.shift()) this.#take(event)
    } finally {
      this.#isProcessing = false
    }
  }

  #take(event: StepEvent): void {
    try {
      this.#update(this.#logic.transition(this.#snapshot as never, event, this) as LightSnapshot)
    } catch (error) {
      this.#update({ ...this.#snapshot, status: 'error', error })
    }
  }

  #update(snapshot: LightSnapshot): void {
    this.#snapshot = snapshot
    this.#runDeferred()
    const { status, output, error } = this.#snapshot
    if (status === 'active' || this._processingStatus === STOPPED) return
    this._processingStatus = STOPPED
    this.#mailbox.length = 0
    if (status === 'done') this._parent?.send({ type: `xstate.done.actor.${this.id}`, output, actorId: this.id })
    else if (status === 'error') this._parent?.send({ type: `xstate.error.actor.${this.id}`, error, actorId: this.id })
  }

  #runDeferred(): void {
    for (let run = this.#deferred.shift(); run !== undefined; run = this.#deferred.shift()) run()
  }
}
