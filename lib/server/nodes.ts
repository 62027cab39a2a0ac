import type { Action, Definition, State } from '../definition/index.ts'
import type { NodeRecord } from '../hosts/index.ts'

/**
 * Lists the nodes of a definition: its states, and the actions of states and branches.
 *
 * An id is `<state>`, `<state>/<action>` or `<state>/<branch>/<action>`, the form that `failedNodeId` has (http-contract.md §4).
 */
export function nodesOf(definition: Definition): readonly NodeRecord[] {
  return definition.states.flatMap((state) => [
    { id: state.name, name: state.name, type: state.type, metadata: { state: state.name } },
    ...actionsOf(state),
  ])
}

function actionsOf(state: State): NodeRecord[] {
  switch (state.type) {
    case 'operation':
    case 'foreach':
      return toNodes(state.name, undefined, state.actions)
    case 'parallel':
      return state.branches.flatMap((branch) => toNodes(state.name, branch.name, branch.actions))
    case 'event':
      return toNodes(state.name, undefined, state.onEvents.flatMap((onEvents) => onEvents.actions))
    case 'callback':
      return toNodes(state.name, undefined, [state.action])
    case 'switch':
    case 'inject':
    case 'sleep':
      return []
  }
}

function toNodes(state: string, branch: string | undefined, actions: readonly Action[]): NodeRecord[] {
  return actions.map((action) => {
    const name = nameOf(action)
    const metadata = branch === undefined ? { state, action: name } : { state, branch, action: name }
    return { id: [state, ...(branch === undefined ? [] : [branch]), name].join('/'), name, type: 'action', metadata }
  })
}

function nameOf(action: Action): string {
  return action.name ?? action.functionRef?.refName ?? action.subFlowRef?.workflowId ?? action.eventRef?.triggerEventRef ?? 'action'
}
