interface Cell<Value> {
  value: Value | undefined
}

/**
 * A map that lives long and whose entries do not: what is taken out can be collected at once.
 *
 * V8 gives a `Map` a new table whenever enough entries have come or gone, and lets each table refer to the next one. A table that has
 * reached the old generation keeps all later ones alive through every young collection, and they keep the entries they held. Here a
 * table holds cells, and a cell is emptied when its entry goes.
 */
export class TurnoverMap<Key, Value> {
  readonly #cells = new Map<Key, Cell<Value>>()

  /** How many entries there are. */
  get size(): number {
    return this.#cells.size
  }

  /** The value of a key; `undefined` when it has none. */
  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value
  }

  /** Puts an entry in the place of the one before; a new key comes last. */
  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { value })
    else cell.value = value
  }

  /** Takes an entry out. Gives false when there was none. */
  delete(key: Key): boolean {
    const cell = this.#cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.#cells.delete(key)
  }

  /** The values, oldest first. */
  * values(): IterableIterator<Value> {
    for (const { value } of this.#cells.values()) yield value as Value
  }

  /** Keys with their values, oldest first. */
  * [Symbol.iterator](): IterableIterator<[Key, Value]> {
    for (const [key, { value }] of this.#cells) yield [key, value as Value]
  }
}
