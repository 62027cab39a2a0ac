/** Gives the names most like a wanted one, nearest first; for error messages. */
export function nearest(wanted: string, names: readonly string[], limit = 3): string[] {
  const lower = wanted.toLowerCase()
  return [...new Set(names)]
    .map((name) => ({ name, distance: distance(lower, name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, limit)
    .map(({ name }) => name)
}

/** Levenshtein distance, cut to the first 100 characters: the names come from documents of others. */
function distance(left: string, right: string): number {
  const a = left.slice(0, 100)
  const b = right.slice(0, 100)
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
