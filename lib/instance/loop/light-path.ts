import type { AnyActorRef, AnyActorScope, ExecutableActionObject, Snapshot } from 'xstate'
import type { StepEvent } from '../steps/step.ts'
import type { LoopScope } from './early-scope.ts'

/** A snapshot as far as a path reads it. */
interface PathSnapshot {
  readonly status: string
  readonly output: unknown
  readonly error: unknown
  readonly children: Readonly<Record<string, AnyActorRef | undefined>>
}

/** The machine of a path, in the loop of our own. */
export interface PathLogic {
  begin(scope: LoopScope): unknown
  transition(snapshot: never, event: StepEvent, scope: LoopScope): unknown
  persist(snapshot: never): Snapshot<unknown>
}

const NOT_STARTED = 0
const RUNNING = 1
const STOPPED = 2

/**
 * A branch or an iteration without XState's actor around its machine: it takes one event after another and tells its parent its end.
 *
 * Its persisted form is that of an actor; brought back, it is one.
 */
export class LightPath implements LoopScope {
  readonly id: string
  readonly src: string
  readonly sessionId: string
  readonly systemId = undefined
  readonly system: AnyActorScope['system']
  readonly _syncSnapshot = false
  readonly _parent: AnyActorRef
  _processingStatus: number = NOT_STARTED
  readonly #logic: PathLogic
  readonly #mailbox: StepEvent[] = []
  #isProcessing = false
  #deferred: (() => void)[] = []
  #snapshot: PathSnapshot

  constructor(parent: LoopScope, id: string, src: string, logic: PathLogic) {
    this.id = id
    this.src = src
    this.sessionId = `${parent.sessionId}:${id}`
    this.system = parent.system
    this._parent = parent.self
    this.#logic = logic
    this.#snapshot = logic.begin(this) as PathSnapshot
  }

  get self(): AnyActorRef {
    return this as unknown as AnyActorRef
  }

  getSnapshot(): PathSnapshot {
    return this.#snapshot
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

  actionExecutor = (action: ExecutableActionObject): void => {
    const run = (): void => { action.exec?.(action.info, action.params) }
    if (this._processingStatus === RUNNING) run()
    else this.#deferred.push(run)
  }

  start(): this {
    if (this._processingStatus !== NOT_STARTED) return this
    this._processingStatus = RUNNING
    if (this.#snapshot.status === 'active') {
      for (const child of Object.values(this.#snapshot.children)) child?.start()
    }
    this.#update(this.#snapshot)
    this.#process()
    return this
  }

  send(event: StepEvent): void {
    if (this._processingStatus === STOPPED) return
    this.#mailbox.push(event)
    this.#process()
  }

  // XState's systems deliver by this name.
  _send(event: StepEvent): void {
    this.send(event)
  }

  /** Gives the path up, with all that it waits for. */
  _stop(): this {
    const wasRunning = this._processingStatus === RUNNING
    this._processingStatus = STOPPED
    this.#mailbox.length = 0
    if (!wasRunning) return this
    for (const child of Object.values(this.#snapshot.children)) if (child !== undefined) this.stopChild(child)
    this.#snapshot = { ...this.#snapshot, status: 'stopped', children: {} }
    return this
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
      this.#update(this.#logic.transition(this.#snapshot as never, event, this) as PathSnapshot)
    } catch (error) {
      this.#update({ ...this.#snapshot, status: 'error', error })
    }
  }

  #update(snapshot: PathSnapshot): void {
    this.#snapshot = snapshot
    for (let run = this.#deferred.shift(); run !== undefined; run = this.#deferred.shift()) run()
    const { status, output, error } = this.#snapshot
    if (status === 'active' || this._processingStatus === STOPPED) return
    this._processingStatus = STOPPED
    this.#mailbox.length = 0
    if (status === 'done') this._parent.send({ type: `xstate.done.actor.${this.id}`, output, actorId: this.id })
    else if (status === 'error') this._parent.send({ type: `xstate.error.actor.${this.id}`, error, actorId: this.id })
  }
}
