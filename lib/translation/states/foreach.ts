import type { ForEachState } from '../../definition/index.ts'
import type { Named, TransitionConfig } from '../machine-config.ts'
import { addChildPath, childDone } from '../paths.ts'
import { addStep, metaOf, targetOf, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'

/**
 * Translates a foreach state: each element is an actor with data of its own, spawned in batches (S075–S086, A06, A26).
 *
 * Results are kept in the order of the input, whatever the order of completion (S083).
 */
export function translateForEach(path: PathScope, state: ForEachState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  const params = { ...path.address }
  const collected = addStep(path, 'collect', [{ type: 'collectIterations', params }], [{ target: next }], next)
  addChildPath(path, {
    src: `${path.id}.iteration`,
    address: path.address,
    actions: state.actions,
    limits: state.timeouts.actionExecTimeout === undefined ? {} : { actionExecTimeout: state.timeouts.actionExecTimeout },
    data: 'own',
  })
  const take: readonly Named[] = [{ type: 'takeIteration', params }, { type: 'releaseIteration' }]
  const joined: readonly TransitionConfig[] = [
    { target: collected, guard: { type: 'endsLoop', params }, actions: take },
    { guard: { type: 'endsBatch', params }, actions: [...take, { type: 'spawnIterations', params }] },
    { actions: take },
  ]
  path.nodes['loop'] = {
    meta: metaOf(path, 'fork'),
    entry: [{ type: 'spawnIterations', params }],
    exit: [{ type: 'stopIterations', params }],
    // An iteration that fails for good is tried again with all others: the loop has lost its place.
    on: { [`xstate.done.actor.${path.id}.i.*`]: childDone(path, 'prepare', next, joined) },
  }
  return addStep(path, 'prepare', [{ type: 'prepareLoop', params }], [
    { target: collected, guard: { type: 'loopIsEmpty' } },
    { target: targetOf(path, 'loop') },
  ], next)
}
