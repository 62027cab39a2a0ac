import type { Address } from '../translation/index.ts'
import { actionAt, type Place, type Program } from './program.ts'

const NOWHERE: Place = { nodeId: '', state: '' }

/** The place of a node of a definition; what belongs to no state, as the time of the workflow does, has none. */
export function placeAt(program: Program, address: Partial<Address> & { readonly first?: number }): Place {
  const state = address.state === undefined ? undefined : program.states[address.state]
  if (state === undefined) return NOWHERE
  if (address.action !== undefined) return actionAt(program, address as Address).place
  return (address.branch === undefined ? undefined : state.branchPlaces[address.branch]) ?? state.place
}

/**
 * Names a node of a definition for callers: `<state>`, `<state>/<action>` or `<state>/<branch>/<action>`.
 *
 * The nodes list of the management addresses shows the same ids (http-contract.md §6).
 */
export function nodeIdOf(program: Program, address: Partial<Address> & { readonly first?: number }): string {
  return placeAt(program, address).nodeId
}
