import { leave } from './transitions.ts'
import { FAILED_TAG, MACHINE_EVENTS, type Named, type TransitionConfig } from './machine-config.ts'
import { metaOf, targetOf, type PathScope } from './scope.ts'

/**
 * Makes the transitions for an error in a node of a workflow state (S199–S203, A10, A11).
 *
 * The first `onErrors` entry that matches is taken. Without one the instance rests in a node tagged `error`, from which an
 * operator can run the failed node again, go on behind it, or abort.
 */
export function stateFailure(path: PathScope, key: string, skip: string): readonly TransitionConfig[] {
  const handlers = path.state.onErrors.map((handler, index): TransitionConfig => ({
    guard: { type: 'errorMatches', params: { state: path.address.state, handler: index } },
    target: leave(path, `leave_e${String(index)}`, handler, { completed: false, output: path.definition.profile === 'spec' }),
    actions: [{ type: 'recordError' }],
    meta: { role: 'error', name: handler.errorRefs.join(', ') },
  }))
  return [...handlers, ...restInFailure(path, key, skip)]
}

/** Makes the transition into the node where an instance rests after an error that nothing handles. */
export function restInFailure(path: PathScope, key: string, skip: string): readonly TransitionConfig[] {
  const failed = `${key}_failed`
  path.nodes[failed] = {
    tags: [FAILED_TAG],
    meta: metaOf(path, 'failed'),
    on: {
      [MACHINE_EVENTS.retriggered]: [{ target: targetOf(path, key), actions: [{ type: 'clearFailure' }] }],
      [MACHINE_EVENTS.skipped]: [{ target: skip, actions: [{ type: 'clearFailure' }] }],
      // It rests until somebody decides: the time of the state does not go on.
      ...(path.state.timeouts.stateExecTimeout === undefined ? {} : { [`xstate.done.actor.${path.id}.stateTimeout`]: [{}] }),
    },
  }
  return [{ target: targetOf(path, failed), actions: [recordFailure(path, key)] }]
}

/** Keeps error and place, for `failedNodeId` and `$WORKFLOW.error`. */
export function recordFailure(path: PathScope, key: string): Named {
  return { type: 'recordFailure', params: { ...path.address, node: key } }
}
