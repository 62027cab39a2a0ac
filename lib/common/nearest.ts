/** How near a name has to be. */
export interface NearestOptions {
  /** Most edits. @default a third of the letters of the wrong name, one at least */
  readonly within?: number
  /** Most names given. @default 3 */
  readonly most?: number
}

/** Names come from documents of others and may have any length; so many characters tell them apart. */
const COMPARED = 100

/**
 * Finds the names that a wrong one may have meant, nearest first: for "did you mean".
 *
 * Letters inserted, dropped, changed or swapped with their neighbour count one each; upper and lower case are the same, and names
 * that differ in case and punctuation only are nearest of all. A name that equals the wrong one is never given.
 */
export function nearestNames(wrong: string, known: Iterable<string>, { within, most = 3 }: NearestOptions = {}): readonly string[] {
  const text = toCompared(wrong)
  const bare = toBare(text)
  const limit = within ?? Math.max(1, Math.floor(text.length / 3))
  return [...new Set(known)]
    .filter((name) => name !== wrong)
    .map((name) => ({ name, distance: distanceTo(toCompared(name)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, most)
    .map(({ name }) => name)

  function distanceTo(name: string): number {
    if (bare !== '' && toBare(name) === bare) return 0
    return Math.abs(name.length - text.length) > limit ? Infinity : editDistance(text, name)
  }
}

function toCompared(name: string): string {
  return name.slice(0, COMPARED).toLowerCase()
}

function toBare(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Counts edits, with swaps of neighbours as one: the most frequent slip of typing (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let before: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const swapped = isSwap ? (before[column - 2] ?? Infinity) + 1 : Infinity
      current.push(Math.min(changed, swapped, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = previous
    previous = current
  }
  return previous[right.length] ?? 0
}
