import type { AnyActorRef, AnyActorScope, ExecutableActionObject } from 'xstate'

/** What the loop needs of the scope of an actor. */
export type LoopScope = Pick<AnyActorScope, 'self' | 'system' | 'sessionId' | 'defer' | 'stopChild' | 'actionExecutor'>

/**
 * The scope of a root actor that need not be there yet: an instance that never waits ends before anything asks for its actor.
 *
 * The first effect that takes time, or the first path that is spawned, makes the actor; it then takes over what was deferred.
 */
export class EarlyScope implements LoopScope {
  readonly #make: () => AnyActorRef
  #actor: AnyActorRef | undefined
  #deferred: (() => void)[] = []
  #hasBegun = false

  constructor(make: () => AnyActorRef) {
    this.#make = make
  }

  get self(): AnyActorRef {
    return this.#actor ??= this.#make()
  }

  get system(): AnyActorScope['system'] {
    return this.self.system
  }

  get sessionId(): string {
    return this.self.sessionId
  }

  /** The actor, where one was made. */
  get actor(): AnyActorRef | undefined {
    return this.#actor
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
    if (this.#hasBegun) run()
    else this.#deferred.push(run)
  }

  /** The first step is over: what was put off for its end is due. */
  begun(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    for (const run of this.takeDeferred()) run()
  }

  /** What is left to do once the actor has its snapshot. */
  takeDeferred(): (() => void)[] {
    const deferred = this.#deferred
    this.#deferred = []
    return deferred
  }
}
