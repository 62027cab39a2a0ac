import { TurnoverMap } from '../../common/index.ts'
import type { InstanceRecord } from '../host.ts'
import type { StoredInstance } from '../journal.ts'
import { PASSING_FORM, passingOf, passingText, type PassingInstance, type PassingText } from './passing-form.ts'
import type { RunStatement } from './row-buffer.ts'
import { jsonOf, listedRecordOf, unreadable } from './rows.ts'
import type { Row, Statements } from './statements.ts'

/** Rows that are put in with one statement at most: there is a prepared one for each number of them. */
const MOST_AT_ONCE = 32

const PUT = Array.from({ length: MOST_AT_ONCE + 1 }, (_, rows) =>
  `insert or replace into passing (position, id, definition, instance) values ${Array.from({ length: rows }, () => '(?, ?, ?, ?)').join(', ')}`)
const READ = `select passing.*, workflow_id, 'active' as status, 0 as started_at from passing left join definition on hash = definition`
const REMOVE = 'delete from passing where position between ? and ?'

interface Position {
  readonly id: string
  readonly position: number
}

/**
 * The instances that are under way: a table to which rows are added at one end and from which they soon go, without an index and with
 * a single text for each, because nearly every instance passes through it. Where an instance stands is known in memory.
 *
 * What is put in or taken out is gathered, and written with few statements before the commit.
 */
export class PassingTable {
  readonly #statements: Statements
  readonly #run: RunStatement
  readonly #positions = new TurnoverMap<string, number>()
  #added: (Position & { readonly definition: string; readonly text: string })[] = []
  #removed: Position[] = []

  constructor(statements: Statements, run: RunStatement) {
    this.#statements = statements
    this.#run = run
    for (const row of statements.all('select position, id from passing order by position', [])) this.#positions.set(String(row['id']), Number(row['position']))
  }

  get size(): number {
    return this.#positions.size
  }

  /** Ids of all instances here, in the order in which they began. */
  ids(): readonly string[] {
    return [...this.#positions].map(([id]) => id)
  }

  /** The position of an instance, when it is here. */
  positionOf(id: string): number | undefined {
    return this.#positions.get(id)
  }

  /** Puts an instance in, or what has become of it. */
  put(instance: PassingInstance, position: number): void {
    this.#added.push({ id: instance.facts.id, position, definition: instance.definition, text: passingText(instance) })
  }

  /** Takes an instance out. Tells whether it was here. */
  remove(id: string): boolean {
    const position = this.#positions.get(id)
    if (position === undefined) return false
    this.#removed.push({ id, position })
    return true
  }

  /** Reads an instance, when it is here. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
  get(id: string): StoredInstance | undefined {
    const position = this.#positions.get(id)
    if (position === undefined) return undefined
    const row = this.#statements.get(`${READ} where position = ?`, [position])
    return row === undefined ? undefined : instanceOf(row)
  }

  /** How all instances here stand, with their positions. */
  records(): readonly { readonly position: number; readonly record: InstanceRecord }[] {
    if (this.size === 0) return []
    return this.#statements.all(READ, []).map((row) => ({ position: Number(row['position']), record: listedRecordOf(row, (readable) => instanceOf(readable).record) }))
  }

  /** Writes what was gathered. */
  flush(): void {
    for (let first = 0; first < this.#added.length; first += MOST_AT_ONCE) {
      const rows = this.#added.slice(first, first + MOST_AT_ONCE)
      this.#run('passing', PUT[rows.length] ?? '', ...rows.flatMap(({ id, position, definition, text }) => [position, id, definition, text]))
    }
    for (const [first, last] of runsOf(this.#removed.map(({ position }) => position))) this.#run('passing', REMOVE, first, last)
  }

  /** What was written holds from now on. */
  committed(): void {
    for (const { id } of this.#removed) this.#positions.delete(id)
    for (const { id, position } of this.#added) this.#positions.set(id, position)
    this.clear()
  }

  /** Forgets what was gathered: its transaction is rolled back. */
  clear(): void {
    this.#added = []
    this.#removed = []
  }
}

/** @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
function instanceOf(row: Row): PassingInstance {
  const text = jsonOf(row, 'instance') as PassingText
  if (text.form > PASSING_FORM) throw unreadable(row, `has a text of form ${String(text.form)}; this release knows ${String(PASSING_FORM)}. Finish it with the release that wrote it`)
  return passingOf(text, String(row['definition']))
}

/** The least and the greatest of each run of numbers that follow each other; instances that begin together often end together. */
function runsOf(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const runs: [number, number][] = []
  for (const number of [...numbers].sort((left, right) => left - right)) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] + 1 === number) run[1] = number
    else runs.push([number, number])
  }
  return runs
}
