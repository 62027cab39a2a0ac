const LIMIT = 2

/** Finds the candidate nearest to a key, at most two edits away and not equal to it; `undefined` when there is none. */
export function nearest(key: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = LIMIT + 1
  for (const candidate of candidates) {
    if (candidate === key) continue
    const distance = editDistance(key, candidate, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Counts single-letter edits and swaps of neighbours between two texts; stops at `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    let smallest = row
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1))
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
      smallest = Math.min(smallest, cost)
    }
    if (smallest >= limit) return limit
    beforeLast = last
    last = current
  }
  return Math.min(last[right.length] ?? limit, limit)
}
