import type { HistoryStep } from '../../instance/index.ts'

/** Carries out a statement for a table. */
export type RunStatement = (table: string, sql: string, ...values: readonly unknown[]) => void

const MOST_IN_A_STATEMENT = 1000

const WAITS = 'insert or ignore into wait (instance_id, key) select value->>0, value->>1 from json_each(?)'
const RECEIVED = 'insert or ignore into inbox (target, event, received_at) select value->>0, value->>1, value->>2 from json_each(?)'
const HISTORY = 'insert or replace into history (instance_id, sequence, steps) select value->>0, value->>1, value->>2 from json_each(?)'
const IDS = '(select value from json_each(?))'
const REMOVE_INTENTIONS = `delete from effect where id in ${IDS}`
const REMOVALS: readonly (readonly [table: string, sql: string])[] = [
  ['timer', `delete from timer where instance_id in ${IDS}`],
  ['wait', `delete from wait where instance_id in ${IDS}`],
  ['history', `delete from history where instance_id in ${IDS}`],
  ['inbox', `delete from inbox where target in ${IDS}`],
]

/**
 * Gathers small rows of a transaction, and writes those of a table with one statement.
 *
 * A statement for each row costs several times as much as the row itself. What is gathered is written before the commit; nothing of it
 * is read before.
 */
export class RowBuffer {
  readonly #run: RunStatement
  #waits: (readonly [id: string, key: string])[] = []
  #received: (readonly [target: string, event: string, at: number])[] = []
  #history: (readonly [id: string, sequence: number, steps: string])[] = []
  /** Instances whose rows go. */
  #removed: string[] = []
  #carriedOut: string[] = []

  constructor(run: RunStatement) {
    this.#run = run
  }

  wait(id: string, key: string): void {
    this.#waits.push([id, key])
  }

  received(target: string, event: string, at: number): void {
    this.#received.push([target, event, at])
  }

  steps(id: string, steps: readonly HistoryStep[]): void {
    this.#history.push([id, steps[0]?.sequence ?? 0, JSON.stringify(steps)])
  }

  /** The rows that belong to an instance go. */
  belongingsRemoved(id: string): void {
    this.#removed.push(id)
  }

  /** An intention is carried out: it goes, also when the same commit brings it. */
  intentionRemoved(id: string): void {
    this.#carriedOut.push(id)
  }

  /** Writes what was gathered; removals last, for they hold for the rest. */
  flush(): void {
    this.#write('wait', WAITS, this.#waits)
    this.#write('inbox', RECEIVED, this.#received)
    this.#write('history', HISTORY, this.#history)
    for (const [table, sql] of REMOVALS) this.#write(table, sql, this.#removed)
    this.#write('effect', REMOVE_INTENTIONS, this.#carriedOut)
    this.clear()
  }

  #write(table: string, sql: string, rows: readonly unknown[]): void {
    for (let first = 0; first < rows.length; first += MOST_IN_A_STATEMENT) {
      this.#run(table, sql, JSON.stringify(rows.slice(first, first + MOST_IN_A_STATEMENT)))
    }
  }

  /** Forgets what was gathered: its transaction is rolled back, or written. */
  clear(): void {
    this.#waits = []
    this.#received = []
    this.#history = []
    this.#removed = []
    this.#carriedOut = []
  }
}
