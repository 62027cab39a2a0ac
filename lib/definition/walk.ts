import { toPointer } from '../common/index.ts'
import type { Action, Branch, Continuation, Definition, End, EventDataFilter, OnError, State, Transition } from './types.ts'

/** An action with its place. */
export interface PlacedAction {
  readonly pointer: string
  readonly action: Action
  /** The branch that it belongs to, in a parallel state. */
  readonly branch?: Branch
}

/** A way on from a state with its place. */
export interface PlacedContinuation {
  readonly pointer: string
  /** What holds it: the state itself, a condition of a switch, its default, or an error handler. */
  readonly holder: 'state' | 'condition' | 'default' | 'error'
  readonly continuation: Continuation
}

/** An event data filter with its place. */
export interface PlacedEventFilter {
  readonly pointer: string
  readonly filter: EventDataFilter
}

/** Gives the pointer of a state. */
export function statePointer(index: number): string {
  return toPointer(['states', index])
}

/** Lists the actions of a state, those of its branches and events included. */
export function actionsOf(state: State, pointer: string): readonly PlacedAction[] {
  const list = (actions: readonly Action[], place: string, branch?: Branch): PlacedAction[] => actions.map((action, index) => ({
    pointer: `${place}/actions/${String(index)}`,
    action,
    ...(branch === undefined ? {} : { branch }),
  }))
  switch (state.type) {
    case 'operation':
    case 'foreach':
      return list(state.actions, pointer)
    case 'event':
      return state.onEvents.flatMap((entry, index) => list(entry.actions, `${pointer}/onEvents/${String(index)}`))
    case 'parallel':
      return state.branches.flatMap((branch, index) => list(branch.actions, `${pointer}/branches/${String(index)}`, branch))
    case 'callback':
      return [{ pointer: `${pointer}/action`, action: state.action }]
    case 'switch':
    case 'inject':
    case 'sleep':
      return []
  }
}

/** Lists the ways on from a state: its own, those of its conditions, and those of its error handlers. */
export function continuationsOf(state: State, pointer: string): readonly PlacedContinuation[] {
  const handlers = state.onErrors.map((handler: OnError, index): PlacedContinuation => ({
    pointer: `${pointer}/onErrors/${String(index)}`, holder: 'error', continuation: handler,
  }))
  if (state.type !== 'switch') return [{ pointer, holder: 'state', continuation: state }, ...handlers]
  const conditions = (name: 'dataConditions' | 'eventConditions'): PlacedContinuation[] => state[name].map((condition, index) => ({
    pointer: `${pointer}/${name}/${String(index)}`, holder: 'condition', continuation: condition,
  }))
  const fallback: PlacedContinuation[] = state.defaultCondition === undefined
    ? []
    : [{ pointer: `${pointer}/defaultCondition`, holder: 'default', continuation: state.defaultCondition }]
  return [...conditions('dataConditions'), ...conditions('eventConditions'), ...fallback, ...handlers]
}

/** Lists the event data filters of a state. */
export function eventFiltersOf(state: State, pointer: string): readonly PlacedEventFilter[] {
  const entries = state.type === 'event' ? { name: 'onEvents', list: state.onEvents }
    : state.type === 'switch' ? { name: 'eventConditions', list: state.eventConditions } : undefined
  if (entries !== undefined) {
    return entries.list.map(({ eventDataFilter }, index) => ({
      pointer: `${pointer}/${entries.name}/${String(index)}/eventDataFilter`, filter: eventDataFilter,
    }))
  }
  return state.type === 'callback' ? [{ pointer: `${pointer}/eventDataFilter`, filter: state.eventDataFilter }] : []
}

/** Gives the transitions and ends of a state with their places. */
export function exitsOf(state: State, pointer: string): readonly { readonly pointer: string; readonly exit: Transition | End }[] {
  return continuationsOf(state, pointer).flatMap(({ pointer: place, continuation: { transition, end } }) => [
    ...(transition === undefined ? [] : [{ pointer: `${place}/transition`, exit: transition }]),
    ...(end === undefined ? [] : [{ pointer: `${place}/end`, exit: end }]),
  ])
}

/** Names of the states that a state can go on to. */
export function successorsOf(state: State): readonly string[] {
  return continuationsOf(state, '').flatMap(({ continuation: { transition } }) => transition === undefined ? [] : [transition.nextState])
}

/** Finds the names of the states that can be reached from some of them. */
export function reachableFrom(definition: Definition, names: readonly string[], next: (state: State) => readonly string[] = successorsOf): Set<string> {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const reached = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const state = states.get(name)
    if (state === undefined || reached.has(name)) continue
    reached.add(name)
    pending.push(...next(state))
  }
  return reached
}
