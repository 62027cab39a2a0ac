import type { Definition } from '../definition/index.ts'

/** Lists the variables that the loops of a definition bind (S079): they are seen in its actions, and in the sub-flows called there. */
export function variablesOf({ states }: Definition): readonly string[] {
  return states.filter((state) => state.type === 'foreach').map(({ iterationParam }) => iterationParam)
}
