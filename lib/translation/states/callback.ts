import type { CallbackState } from '../../definition/index.ts'
import { addAction, timer } from '../actions.ts'
import type { InvokeConfig } from '../machine-config.ts'
import { metaOf, targetOf, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'
import { onExpiry, onStateTimeout } from './switch.ts'

/**
 * Translates a callback state: an action, then a wait for its answer (S087–S093).
 *
 * The event is subscribed to for as long as the state lasts, so an answer that is faster than the action is not lost: it is
 * kept, and found by the wait.
 */
export function translateCallback(path: PathScope, state: CallbackState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  const expired = onExpiry(path, 'wait', next)
  const timeout = state.timeouts.eventTimeout
  path.nodes['wait'] = {
    meta: metaOf(path, 'wait'),
    always: [{ target: next, guard: { type: 'hasAnswer' }, actions: [{ type: 'mergeAnswer', params: { ...path.address } }] }],
    on: {
      [`xstate.done.actor.${path.id}.answer`]: [{ target: next, actions: [{ type: 'mergeEvent', params: { ...path.address, entry: 0 } }] }],
      ...onStateTimeout(path, expired).on,
    },
    invoke: timeout === undefined ? [] : [timer(path, 'eventTimeout', { milliseconds: timeout, timeout: 'event' }, expired)],
  }
  return addAction({ ...path, address: { ...path.address, action: 0 } }, 'a0', state.action, state.timeouts, targetOf(path, 'wait'))
}

/** The subscription that a callback state holds from its beginning. */
export function callbackAnswer(path: PathScope, state: CallbackState): InvokeConfig {
  return {
    id: `${path.id}.answer`,
    src: 'event',
    input: { effect: 'event', ...path.address, events: [{ event: state.eventRef, entry: 0 }] },
    onDone: [{ actions: [{ type: 'keepAnswer' }] }],
    onError: path.onFailure(path, 'wait', targetOf(path, 'wait')),
  }
}
