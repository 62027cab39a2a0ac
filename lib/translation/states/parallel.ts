import type { ParallelState } from '../../definition/index.ts'
import { addFork } from '../paths.ts'
import { addStep, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'

/** Translates a parallel state: each branch is an actor of its own (S059–S068, A19). */
export function translateParallel(path: PathScope, state: ParallelState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  const children = state.branches.map((branch, index) => ({
    src: `${path.id}.b${String(index)}`,
    address: { ...path.address, branch: index },
    actions: branch.actions,
    limits: branch.timeouts,
    data: state.branchData === 'isolated' ? 'own' as const : 'shared' as const,
    branch: branch.name,
  }))
  if (state.completionType === 'allOf') return addFork(path, 'fork', children, next, children.length)
  if (typeof state.numCompleted === 'number') return addFork(path, 'fork', children, next, state.numCompleted)
  const fork = addFork(path, 'fork', children, next)
  return addStep(path, 'join', [{ type: 'prepareJoin', params: { ...path.address } }], [{ target: fork }], next)
}
