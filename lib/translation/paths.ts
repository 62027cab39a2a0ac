import type { Action } from '../definition/index.ts'
import { addActions, timer, type ActionLimits } from './actions.ts'
import { recordFailure } from './on-errors.ts'
import type { Address, InvokeConfig, NodeConfig, TransitionConfig } from './machine-config.ts'
import { metaOf, targetOf, type PathScope } from './scope.ts'

/** What a spawned path works on. */
export interface ChildPath {
  /** Key of its machine: the `src` under which it is invoked or spawned. */
  readonly src: string
  readonly address: Address
  readonly actions: readonly Action[]
  readonly limits: ActionLimits & { readonly branchExecTimeout?: number }
  /** The workflow data, shared and serialised, or data of its own. */
  readonly data: 'shared' | 'own'
  readonly branch?: string
}

/**
 * Makes the machine of a spawned path and registers it: a branch, an iteration, or one of several parallel actions.
 *
 * It ends in `completed` or `failed`; its output says which. Error handling belongs to the state that spawned it (S065).
 */
export function addChildPath(path: PathScope, child: ChildPath): void {
  const nodes: Record<string, NodeConfig> = {}
  const scope: PathScope = {
    ...path,
    id: CHILD_ID,
    nodes,
    address: child.address,
    takeResult: child.data === 'shared' ? 'forwardResult' : 'mergeResult',
    onFailure: failPath,
    onLeavingFailure: failPath,
  }
  const completed = targetOf(scope, 'completed')
  const first = addActions(scope, '', child.actions, child.limits, completed)
  nodes['completed'] = { type: 'final', meta: metaOf(scope, 'end') }
  nodes['failed'] = { type: 'final', meta: metaOf(scope, 'end') }
  path.children[child.src] = {
    id: CHILD_ID,
    initial: first.slice(CHILD_ID.length + 2),
    states: nodes,
    invoke: limit(scope, child.limits.branchExecTimeout),
    meta: metaOf(path, 'branch', child.branch === undefined ? {} : { branch: child.branch }),
  }
}

const CHILD_ID = 'path'

function failPath(path: PathScope, key: string): readonly TransitionConfig[] {
  return [{ target: targetOf(path, 'failed'), actions: [recordFailure(path, key)] }]
}

function limit(scope: PathScope, milliseconds: number | undefined): readonly InvokeConfig[] {
  return milliseconds === undefined ? [] : [timer(scope, 'timeout', { milliseconds, timeout: 'branch' }, failPath(scope, 'timeout'))]
}

/** Transitions of a parent for the end of a child: its error, else what `joined` says. */
export function childDone(path: PathScope, key: string, next: string, joined: readonly TransitionConfig[]): readonly TransitionConfig[] {
  const failures = path.onFailure(path, key, next).map((transition): TransitionConfig =>
    transition.guard === undefined ? { ...transition, guard: { type: 'childFailed' } } : transition)
  return [...failures, ...joined]
}

/**
 * Makes a node that invokes several paths at once and goes on when enough of them completed (S060, S061).
 *
 * Without `required` the number was computed by a step before.
 */
export function addFork(path: PathScope, key: string, children: readonly ChildPath[], next: string, required?: number): string {
  const params = { ...path.address }
  for (const child of children) addChildPath(path, child)
  path.nodes[key] = {
    meta: metaOf(path, 'fork'),
    entry: [{ type: 'openJoin', params: required === undefined ? {} : { required } }],
    invoke: children.map((child) => ({
      id: child.src,
      src: child.src,
      input: { path: 'branch', ...child.address, own: child.data === 'own' },
      onDone: childDone(path, key, next, [
        { target: next, guard: { type: 'joins', params }, actions: [{ type: 'takeBranch', params }] },
        { actions: [{ type: 'takeBranch', params }] },
      ]),
      onError: path.onFailure(path, key, next),
    })),
  }
  return targetOf(path, key)
}
