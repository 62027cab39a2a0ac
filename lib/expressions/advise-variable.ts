import { nearestNames } from '../common/index.ts'

/** Advises on a variable that does not exist: the nearest of the known ones (signs included), else all of them. */
export function adviseVariable(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'no variables exist here'
  const [close] = nearestNames(`$${name}`, known)
  return close === undefined ? `known: ${[...new Set(known)].join(', ')}` : `did you mean ${close}?`
}
