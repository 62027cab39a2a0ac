import type { Json } from '../../common/index.ts'

/** Counts the steps of an evaluation and ends it at a limit. */
interface Budget {
  tick(): void
}

// Programs run to their end without waiting, so at any moment at most one evaluation is at work.
let active: Budget | undefined

/** Makes a budget the one that {@link countStep} counts on; gives the one before, to be put back. */
export function activate(budget: Budget | undefined): Budget | undefined {
  const before = active
  active = budget
  return before
}

/**
 * Counts one step of a walk through a value.
 *
 * A value of forty cells can be a tree of 2^40, because parts are shared: `reduce range(40) as $i (1; [., .])`. So every walk
 * through a whole value counts, whichever builtin, comparison or message it is for.
 *
 * @throws {@link LimitExceeded} when the evaluation at work has used up its steps or its time.
 */
export function countStep(): void {
  active?.tick()
}

/** Counts the values in a tree, as often as they are shared; stops when there are more than `most`. */
export function countTree(root: Json, most: number): number {
  const pending: Json[] = [root]
  let count = 0
  for (let next = pending.pop(); next !== undefined && count <= most; next = pending.pop()) {
    count += 1
    if (typeof next !== 'object' || next === null) continue
    for (const member of Object.values(next)) pending.push(member)
  }
  return count
}
