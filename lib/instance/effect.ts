import type { AnyActorLogic, AnyActorRef, AnyActorScope, Snapshot } from 'xstate'
import type { Json, JsonObject } from '../common/index.ts'
import type { WorkflowError } from './workflow-error.ts'

/** What an effect is to do, as data: its address in the definition and the token that answers must carry. */
export type EffectInput = JsonObject & {
  readonly effect: 'action' | 'condition' | 'evaluate' | 'event' | 'timer'
  /** Unique in the instance and kept over restarts: an answer with another token is stale. */
  readonly token: string
  /** Where it stands in the definition, as indexes. */
  readonly state?: number
  readonly branch?: number
  readonly action?: number
  readonly first?: number
  /** Due instant of a timer, milliseconds since the epoch. */
  readonly dueAt?: number
  readonly since: number
}

/** State of an effect's actor. */
export interface EffectSnapshot {
  readonly status: 'active' | 'done' | 'error' | 'stopped'
  readonly output: Json | undefined
  readonly error: WorkflowError | undefined
  readonly input: EffectInput
}

/** How a host answers an effect. */
export type EffectEvent =
  | { readonly type: 'swf.effect.completed'; readonly output: unknown }
  | { readonly type: 'swf.effect.failed'; readonly error: WorkflowError }
  | { readonly type: 'xstate.stop' }

/** The side of an instance that effects see. */
export interface EffectDesk {
  /** Gives an effect its token, where it has none yet, and, to a timer, its due instant. */
  admit(input: JsonObject, token?: string): EffectInput
  /** Takes the effect up: it is carried out once the machine is at rest. */
  post(ref: AnyActorRef, input: EffectInput): void
  /** Gives the effect up: its answer is no longer wanted. */
  withdraw(token: string): void
}

/** An actor system: one for each instance, shared by its children. */
export type AnyActorSystem = AnyActorScope['system']

// A property of the system and not a WeakMap: it is read at every transition, and a map of all instances burdens every collection.
const DESK = Symbol.for('sonatina.desk')

/** Says which instance the effects of an actor system belong to. */
export function registerDesk(system: AnyActorSystem, desk: EffectDesk): void {
  (system as AnyActorSystem & { [DESK]?: EffectDesk })[DESK] = desk
}

/** The instance that an actor system belongs to. */
export function deskOf(system: AnyActorSystem): EffectDesk {
  return (system as AnyActorSystem & { [DESK]?: EffectDesk })[DESK] as EffectDesk
}

/**
 * Logic of an effect's actor: it does no I/O and keeps no time. It posts what is to be done and waits for the host's answer.
 *
 * A restored effect posts again, with the token it had.
 */
export const effectLogic: AnyActorLogic = {
  getInitialSnapshot: (scope: AnyActorScope, input: JsonObject): EffectSnapshot =>
    ({ status: 'active', output: undefined, error: undefined, input: deskOf(scope.system).admit(input) }),
  transition(snapshot: EffectSnapshot, event: EffectEvent, scope: AnyActorScope): EffectSnapshot {
    switch (event.type) {
      case 'swf.effect.completed': return { ...snapshot, status: 'done', output: event.output as Json }
      case 'swf.effect.failed': return { ...snapshot, status: 'error', error: event.error }
      case 'xstate.stop':
        deskOf(scope.system).withdraw(snapshot.input.token)
        return { ...snapshot, status: 'stopped' }
    }
  },
  start(snapshot: EffectSnapshot, scope: AnyActorScope): void {
    if (snapshot.status === 'active') deskOf(scope.system).post(scope.self, snapshot.input)
  },
  getPersistedSnapshot: (snapshot: EffectSnapshot) => snapshot as unknown as Snapshot<unknown>,
  restoreSnapshot: (snapshot: unknown) => snapshot as EffectSnapshot,
}
