/**
 * Works together on what arrives in one iteration of the event loop, once all of it has arrived.
 *
 * The system hands over at once what many connections have brought. When each is worked on to its end before the next one is read,
 * the code of system, parser, framework and interpreter drives each other out of the processor's caches, for every single one; together, each
 * of them does its part for all before the next. What arrives alone waits for nothing else, but for the iteration itself: some 30 µs.
 */
export class Arrivals<Item> {
  readonly #work: (item: Item) => void
  #items: Item[] = []

  /** @param work - is called for each of them in the order in which they came; what it throws does not keep it from the others */
  constructor(work: (item: Item) => void) {
    this.#work = work
  }

  /** Takes one in. */
  add(item: Item): void {
    if (this.#items.push(item) === 1) collectingIteration().work.push(this.#workOnAll)
  }

  readonly #workOnAll = (): void => {
    const items = this.#items
    this.#items = []
    inOrder(items, this.#work, (rest) => { for (const item of rest) this.add(item) })
  }
}

/**
 * Runs a callback in this iteration of the event loop, when what arrived in it has been worked on as far as that goes without waiting: so what
 * all of it leads to can be done at once, as one write to a store.
 */
export function afterArrivals(callback: () => void): void {
  (ending ?? collectingIteration()).ends.push(callback)
}

interface Iteration {
  readonly work: (() => void)[]
  readonly ends: (() => void)[]
}

/** The iteration that takes arrivals in: until its work begins. */
let collecting: Iteration | undefined
/** The iteration that ends next. */
let ending: Iteration | undefined

function collectingIteration(): Iteration {
  if (collecting !== undefined) return collecting
  const iteration: Iteration = { work: [], ends: [] }
  collecting = iteration
  ending ??= iteration
  // Between the two run all promises and ticks that the work has made ready.
  setImmediate(() => {
    collecting = undefined
    runAll(iteration.work, (rest) => collectingIteration().work.push(...rest))
  })
  setImmediate(() => {
    ending = collecting
    runAll(iteration.ends, (rest) => collectingIteration().ends.push(...rest))
  })
  return iteration
}

function runAll(callbacks: readonly (() => void)[], later: (rest: readonly (() => void)[]) => void): void {
  inOrder(callbacks, (callback) => { callback() }, later)
}

// An error ends the process or this iteration, as it would by itself; the others have theirs in the next one.
function inOrder<Item>(items: readonly Item[], work: (item: Item) => void, later: (rest: readonly Item[]) => void): void {
  let done = 0
  try {
    for (const item of items) {
      done += 1
      work(item)
    }
  } finally {
    if (done < items.length) later(items.slice(done))
  }
}
