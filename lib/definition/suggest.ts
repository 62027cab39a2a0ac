import { nearestNames } from '../common/index.ts'

/** Says which names a wrong one may have meant, or which there are. */
export function suggest(wrong: string, known: readonly string[]): string {
  const near = nearestNames(wrong, known)
  if (near.length > 0) return `did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`
  if (known.length === 0) return 'none is defined'
  const shown = known.slice(0, 8).map((name) => `"${name}"`).join(', ')
  return `defined are ${shown}${known.length > 8 ? ' and others' : ''}`
}
