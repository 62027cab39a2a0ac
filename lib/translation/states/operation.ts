import type { OperationState } from '../../definition/index.ts'
import { addActions } from '../actions.ts'
import { addFork } from '../paths.ts'
import { leave } from '../transitions.ts'
import type { PathScope } from '../scope.ts'

/** Translates an operation state: its actions one after another, or each on a path of its own (S038–S042). */
export function translateOperation(path: PathScope, state: OperationState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  if (state.actionMode === 'sequential' || state.actions.length < 2) return addActions(path, '', state.actions, state.timeouts, next)
  const children = state.actions.map((action, index) => ({
    src: `${path.id}.p${String(index)}`,
    address: { ...path.address, first: index },
    actions: [action],
    limits: state.timeouts.actionExecTimeout === undefined ? {} : { actionExecTimeout: state.timeouts.actionExecTimeout },
    data: 'shared' as const,
  }))
  return addFork(path, 'fork', children, next, children.length)
}
