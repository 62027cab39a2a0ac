import type { Database, Statement } from 'libsql'
import { toHostError } from './failure.ts'

/** A row as the database gives it. */
export type Row = Readonly<Record<string, string | number | null>>

/**
 * Prepares each statement when it is first used, and keeps it. Values stand in the order of its placeholders.
 *
 * Every method throws {@link HostError} `STORE_UNAVAILABLE` when the database fails.
 */
export class Statements {
  readonly #database: Database
  readonly #file: string
  readonly #prepared = new Map<string, Statement>()

  /** @param file - path of the database, for messages */
  constructor(database: Database, file: string) {
    this.#database = database
    this.#file = file
  }

  run(sql: string, values: readonly unknown[] = []): void {
    try {
      this.#prepare(sql).run(values)
    } catch (error) {
      throw toHostError(error, this.#file)
    }
  }

  get(sql: string, values: readonly unknown[] = []): Row | undefined {
    try {
      return this.#prepare(sql).get(values) as Row | undefined
    } catch (error) {
      throw toHostError(error, this.#file)
    }
  }

  all(sql: string, values: readonly unknown[] = []): readonly Row[] {
    try {
      return this.#prepare(sql).all(values) as readonly Row[]
    } catch (error) {
      throw toHostError(error, this.#file)
    }
  }

  #prepare(sql: string): Statement {
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}
