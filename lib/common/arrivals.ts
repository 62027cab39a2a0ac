/**
 * Works together on what arrives in one turn of the event loop, once all of it has arrived.
 *
 * The system hands over at once what many connections have brought. When each is worked on to its end before the next one is read,
 * the code of system, parser, framework and interpreter drives each other out of the processor's caches, for every single one; together, each
 * of them does its part for all before the next. What arrives alone waits for nothing.
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
    if (this.#items.push(item) === 1) this.#later()
  }

  #later(): void {
    setImmediate(() => {
      const items = this.#items
      this.#items = []
      let index = 0
      try {
        for (; index < items.length; index += 1) this.#work(items[index] as Item)
      } finally {
        // Only after an error: it ends this turn, and the others have theirs in the next one.
        if (index < items.length - 1) {
          this.#items = [...items.slice(index + 1), ...this.#items]
          this.#later()
        }
      }
    })
  }
}
