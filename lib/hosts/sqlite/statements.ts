import type { Database, Statement } from 'libsql'

/** A row as the database gives it. */
export type Row = Readonly<Record<string, string | number | null>>

/** Prepares each statement when it is first used, and keeps it. Values stand in the order of its placeholders. */
export class Statements {
  readonly #database: Database
  readonly #prepared = new Map<string, Statement>()

  constructor(database: Database) {
    this.#database = database
  }

  run(sql: string, values: readonly unknown[] = []): void {
    this.#prepare(sql).run(values)
  }

  get(sql: string, values: readonly unknown[]): Row | undefined {
    return this.#prepare(sql).get(values) as Row | undefined
  }

  all(sql: string, values: readonly unknown[]): readonly Row[] {
    return this.#prepare(sql).all(values) as readonly Row[]
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
