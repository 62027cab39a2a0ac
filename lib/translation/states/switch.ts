import type { Continuation, SwitchState } from '../../definition/index.ts'
import { timer } from '../actions.ts'
import type { InvokeConfig, TransitionConfig } from '../machine-config.ts'
import { addStep, metaOf, targetOf, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'

/** Translates a switch state: the first condition that is true (S044), or the first event that arrives (S048). */
export function translateSwitch(path: PathScope, state: SwitchState): string {
  return state.eventConditions.length > 0 ? onEvents(path, state) : onData(path, state)
}

function out(path: PathScope, key: string, continuation: Continuation): string {
  return leave(path, key, continuation, { completed: true, output: true })
}

function onData(path: PathScope, state: SwitchState): string {
  const params = { ...path.address }
  const conditions = state.dataConditions.map((condition, index): TransitionConfig => ({
    target: out(path, `leave_c${String(index)}`, condition),
    guard: { type: 'chose', params: { choice: index } },
    meta: { role: 'condition', name: condition.name ?? condition.condition },
  }))
  const skip = conditions[0]?.target ?? '#completed'
  const otherwise: readonly TransitionConfig[] = state.defaultCondition === undefined
    ? []
    : [{ target: out(path, 'leave_default', state.defaultCondition), meta: { role: 'default' } }]
  // Without a default condition the step itself reports that nothing matched (S045).
  return addStep(path, 'choose', [{ type: 'choose', params }], [...conditions, ...otherwise], otherwise[0]?.target ?? skip)
}

function onEvents(path: PathScope, state: SwitchState): string {
  const key = 'wait'
  const fallback = state.defaultCondition === undefined ? undefined : out(path, 'leave_default', state.defaultCondition)
  const conditions = state.eventConditions.map((condition, index): TransitionConfig => ({
    target: out(path, `leave_c${String(index)}`, condition),
    guard: { type: 'received', params: { entry: index } },
    actions: [{ type: 'mergeEvent', params: { ...path.address, entry: index } }],
    meta: { role: 'condition', name: condition.name ?? condition.eventRef },
  }))
  const skip = fallback ?? conditions[0]?.target ?? '#completed'
  const expired: readonly TransitionConfig[] = fallback === undefined
    ? path.onFailure(path, key, skip)
    : onExpiry(path, key, fallback)
  const wait: InvokeConfig = {
    id: `${path.id}.${key}`,
    src: 'event',
    input: { effect: 'event', ...path.address, events: state.eventConditions.map(({ eventRef }, entry) => ({ event: eventRef, entry })) },
    onDone: conditions,
    onError: path.onFailure(path, key, skip),
  }
  path.nodes[key] = {
    meta: metaOf(path, 'wait'),
    invoke: [wait, ...eventTimeout(path, state.timeouts.eventTimeout, expired)],
    ...onStateTimeout(path, expired),
  }
  return targetOf(path, key)
}

/** An event timeout as a timer beside a wait, when there is one (S235). */
export function eventTimeout(path: PathScope, milliseconds: number | undefined, expired: readonly TransitionConfig[]): readonly InvokeConfig[] {
  if (milliseconds === undefined) return []
  return [timer(path, 'eventTimeout', { milliseconds, timeout: 'event' }, expired)]
}

/**
 * What the end of the time to wait for an event means: to go on (S031, S090, A14).
 *
 * In profile `sonataflow` an error `TimedOut` comes first, for definitions that handle it.
 */
export function onExpiry(path: PathScope, key: string, next: string): readonly TransitionConfig[] {
  const goOn: TransitionConfig = { target: next, meta: { role: 'timeout' } }
  if (path.definition.profile === 'spec') return [goOn]
  const timeouts = new Set(path.definition.errors.filter(({ code }) => code === 'TimedOut' || code === 'timeout').map(({ name }) => name))
  const handler = path.state.onErrors.findIndex(({ errorRefs }) => errorRefs.some((name) => timeouts.has(name)))
  const handled = path.onFailure(path, key, next)[handler]
  return handled === undefined ? [goOn] : [handled]
}

/** While a state waits for an event, the end of its own time means the same as the event timeout (A14). */
export function onStateTimeout(path: PathScope, expired: readonly TransitionConfig[]): { on?: Record<string, readonly TransitionConfig[]> } {
  return path.state.timeouts.stateExecTimeout === undefined ? {} : { on: { [`xstate.done.actor.${path.id}.stateTimeout`]: expired } }
}
