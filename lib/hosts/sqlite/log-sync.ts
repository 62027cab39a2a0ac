// The object, not its functions: a test puts a slow or failing disk in their place.
import fs from 'node:fs'

/**
 * Brings the log of a database to the disk without holding up the process: what SQLite does at the end of each commit with
 * `synchronous = FULL`, where everything would stand still until the disk has answered. The commits themselves are made with `NORMAL`,
 * which syncs the log before anything is moved from it to the database.
 */
export class LogSync {
  readonly #descriptor: number
  /** Syncs that the disk has not answered yet. */
  #underWay = 0
  #isClosed = false

  /** @param database - its path; the log is there while the database is open */
  constructor(database: string) {
    this.#descriptor = fs.openSync(`${database}-wal`, 'r+')
  }

  /** Calls back when all that was committed so far is safe. */
  start(done: (error: Error | null) => void): void {
    this.#underWay += 1
    fs.fdatasync(this.#descriptor, (error) => {
      this.#underWay -= 1
      if (this.#isClosed) this.close()
      done(error)
    })
  }

  /** Returns when all that was committed so far is safe. */
  now(): void {
    fs.fdatasyncSync(this.#descriptor)
  }

  /** Gives the log free, as soon as nothing is under way. */
  close(): void {
    this.#isClosed = true
    if (this.#underWay === 0) fs.closeSync(this.#descriptor)
  }
}
