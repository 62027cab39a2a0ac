import type { EventState } from '../../definition/index.ts'
import { addActions } from '../actions.ts'
import type { InvokeConfig } from '../machine-config.ts'
import { addFork } from '../paths.ts'
import { metaOf, targetOf, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'
import { eventTimeout, onExpiry, onStateTimeout } from './switch.ts'

/**
 * Translates an event state: the actions of the entry whose event came, or of all entries once all events came (S027–S037).
 */
export function translateEvent(path: PathScope, state: EventState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  const key = 'wait'
  const expired = onExpiry(path, key, next)
  const invoke = state.exclusive ? anyEvent(path, state, key, next) : allEvents(path, state, key, next)
  path.nodes[key] = {
    meta: metaOf(path, 'wait'),
    ...(state.exclusive ? {} : { entry: [{ type: 'expectEvents', params: { ...path.address } }] }),
    invoke: [...invoke, ...eventTimeout(path, timeoutOf(path, state), expired)],
    ...onStateTimeout(path, expired),
  }
  return targetOf(path, key)
}

// At the start the time to the first event does not count, and later events are gathered before the instance exists (S032, S033).
function timeoutOf(path: PathScope, state: EventState): number | undefined {
  return path.definition.start.stateName === state.name ? undefined : state.timeouts.eventTimeout
}

function anyEvent(path: PathScope, state: EventState, key: string, next: string): readonly InvokeConfig[] {
  return [{
    id: `${path.id}.${key}`,
    src: 'event',
    input: {
      effect: 'event',
      ...path.address,
      events: state.onEvents.flatMap(({ eventRefs }, entry) => eventRefs.map((event) => ({ event, entry }))),
    },
    onDone: state.onEvents.map((_, entry) => ({
      target: addEntry(path, state, entry, next),
      guard: { type: 'received', params: { entry } },
      actions: [{ type: 'mergeEvent', params: { ...path.address, entry } }],
    })),
    onError: path.onFailure(path, key, next),
  }]
}

function allEvents(path: PathScope, state: EventState, key: string, next: string): readonly InvokeConfig[] {
  const first = state.onEvents.reduceRight((following, _, entry) => addEntry(path, state, entry, following), next)
  return state.onEvents.flatMap(({ eventRefs }, entry) => eventRefs.map((event, index) => ({
    id: `${path.id}.${key}.${String(entry)}.${String(index)}`,
    src: 'event',
    input: { effect: 'event', ...path.address, events: [{ event, entry }] },
    onDone: [
      { target: first, guard: { type: 'receivesLast' }, actions: [{ type: 'mergeEvent', params: { ...path.address, entry } }] },
      { actions: [{ type: 'mergeEvent', params: { ...path.address, entry } }] },
    ],
    onError: path.onFailure(path, key, next),
  })))
}

function addEntry(path: PathScope, state: EventState, entry: number, next: string): string {
  const onEvents = state.onEvents[entry]
  if (onEvents === undefined) return next
  const scope: PathScope = { ...path, address: { ...path.address, branch: entry } }
  const prefix = `e${String(entry)}_`
  if (onEvents.actionMode === 'sequential' || onEvents.actions.length < 2) {
    return addActions(scope, prefix, onEvents.actions, state.timeouts, next)
  }
  const children = onEvents.actions.map((action, index) => ({
    src: `${path.id}.${prefix}p${String(index)}`,
    address: { ...scope.address, first: index },
    actions: [action],
    limits: state.timeouts.actionExecTimeout === undefined ? {} : { actionExecTimeout: state.timeouts.actionExecTimeout },
    data: 'shared' as const,
  }))
  return addFork(scope, `${prefix}fork`, children, next, children.length)
}
