import type { Address } from '../translation/index.ts'
import { actionAt, type Program } from './program.ts'

/**
 * Names a place of a definition for callers: `<state>`, `<state>/<action>` or `<state>/<branch>/<action>`.
 *
 * The nodes list of the management addresses shows the same ids (http-contract.md §6).
 */
export function nodeIdOf(program: Program, address: Partial<Address> & { readonly first?: number }): string {
  const index = address.state ?? 0
  const state = program.states[index]?.state
  if (state === undefined) return ''
  const branch = address.branch === undefined ? undefined : branchName(state, address.branch)
  const action = address.action === undefined ? undefined : actionAt(program, { ...address, state: index }).name
  return [state.name, branch, action].filter((part) => part !== undefined && part !== '').join('/')
}

/** Name of a branch of a parallel state; entries of `onEvents` have none. */
export function branchName(state: Program['states'][number]['state'], branch: number): string | undefined {
  return state.type === 'parallel' ? state.branches[branch]?.name : undefined
}
