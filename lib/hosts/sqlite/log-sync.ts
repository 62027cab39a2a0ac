import fs from 'node:fs'

/**
 * Brings the log of a database to the disk without holding up the process: what SQLite does at the end of each commit with
 * `synchronous = FULL`, where everything would stand still until the disk has answered. The commits themselves are made with `NORMAL`,
 * which syncs the log before anything is moved from it to the database.
 */
export class LogSync {
  readonly #file: string
  #descriptor: number | undefined
  /** Syncs that the disk has not answered yet. */
  #underWay = 0
  #isClosed = false

  /** @param database - its path */
  constructor(database: string) {
    this.#file = `${database}-wal`
  }

  /** Calls back when all that was committed so far is safe. */
  start(done: (error: Error | null) => void): void {
    const descriptor = this.#open()
    this.#underWay += 1
    fs.fdatasync(descriptor, (error) => {
      this.#underWay -= 1
      if (this.#isClosed) this.close()
      done(error)
    })
  }

  /** Returns when all that was committed so far is safe. */
  now(): void {
    fs.fdatasyncSync(this.#open())
  }

  #open(): number {
    return this.#descriptor ??= fs.openSync(this.#file, 'r+')
  }

  /** Gives the log free, as soon as nothing is under way. */
  close(): void {
    this.#isClosed = true
    if (this.#descriptor === undefined || this.#underWay > 0) return
    fs.closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}
