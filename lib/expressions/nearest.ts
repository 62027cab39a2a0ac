/** Finds the name that differs least from a mistyped one; `undefined` when none is close. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(name.length / 3))
  let best: string | undefined
  let least = allowed + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > allowed) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

// Two letters that changed places count once: it is the most frequent slip of typing.
function editDistance(left: string, right: string): number {
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const swapped = isSwapped ? (before[column - 2] ?? Infinity) + 1 : Infinity
      current.push(Math.min(replaced, swapped, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = previous
    previous = current
  }
  return previous.at(-1) ?? 0
}

/** Advises on a variable that does not exist: the nearest of the known ones (signs included), else all of them. */
export function adviseVariable(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'no variables exist here'
  const close = nearest(`$${name}`, known)
  return close === undefined ? `known: ${[...new Set(known)].join(', ')}` : `did you mean ${close}?`
}
