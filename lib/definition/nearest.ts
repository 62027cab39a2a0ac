/**
 * Finds the names that are written most like a wrong one, nearest first.
 *
 * At most three, and only those within a third of its length (two letters for short ones), or equal but for case and
 * punctuation.
 */
export function nearestNames(wrong: string, known: readonly string[]): readonly string[] {
  const limit = Math.max(2, Math.floor(wrong.length / 3))
  const bare = toBare(wrong)
  return [...new Set(known)]
    .map((name) => ({ name, distance: toBare(name) === bare ? 0 : editDistance(wrong.slice(0, 80), name.slice(0, 80)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** Says which names a wrong one may have meant, or which there are. */
export function suggest(wrong: string, known: readonly string[]): string {
  const near = nearestNames(wrong, known)
  if (near.length > 0) return `did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`
  if (known.length === 0) return 'none is defined'
  const shown = known.slice(0, 8).map((name) => `"${name}"`).join(', ')
  return `defined are ${shown}${known.length > 8 ? ' and others' : ''}`
}

function toBare(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Counts the letters to insert, drop or change (Levenshtein). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const change = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
