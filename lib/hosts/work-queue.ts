/**
 * Runs work one piece after another: what a piece asks for while it runs comes after it, not inside it.
 *
 * So a chain of workflows that call or signal each other needs no deep stack. Long chains give way to the event loop.
 */
export class WorkQueue {
  readonly #work: (() => void)[] = []
  #running = false

  /** Runs a piece now, or after the one that is running. */
  add(piece: () => void): void {
    this.#work.push(piece)
    if (!this.#running) this.#run()
  }

  /** Whether nothing is left to do. */
  get isEmpty(): boolean {
    return this.#work.length === 0 && !this.#running
  }

  #run(): void {
    this.#running = true
    let rest = PIECES_IN_A_ROW
    try {
      for (let piece = this.#work.shift(); piece !== undefined; piece = this.#work.shift()) {
        piece()
        rest -= 1
        if (rest === 0 && this.#work.length > 0) {
          setImmediate(() => { this.#run() })
          return
        }
      }
    } finally {
      if (rest > 0 || this.#work.length === 0) this.#running = false
    }
  }
}

const PIECES_IN_A_ROW = 1000
