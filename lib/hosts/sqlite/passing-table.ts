import { TurnoverMap } from '../../common/index.ts'
import type { StoredInstance, StoredPage } from '../journal.ts'
import { Conditions, type ListedRecord, type ListPosition } from './listing.ts'
import { PASSING_FORM, passingOf, passingText, type PassingInstance, type PassingText } from './passing-form.ts'
import type { RunStatement } from './row-buffer.ts'
import { jsonOf, listedRecordOf, unreadableInstance } from './rows.ts'
import type { Row, Statements } from './statements.ts'

/** Rows that are put in with one statement at most: there is a prepared one for each number of them. */
const MOST_AT_ONCE = 32

/** Reads rows for {@link readPassing}; the last two columns stand for what a text does not tell that cannot be read. */
export const READ_PASSING = `select position, id, passing.definition, started_at, instance, coalesce(workflow_id, '') as workflow_id, 'active' as status
  from passing left join definition on hash = passing.definition`
const REMOVE = 'delete from passing where position between ? and ?'

/** An instance and its position. */
interface Entry {
  readonly id: string
  readonly position: number
}

/** A row that is to be written. */
interface NewRow extends Entry {
  readonly definition: string
  readonly startedAt: number
  readonly text: string
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
  #added: NewRow[] = []
  #removed: Entry[] = []

  constructor(statements: Statements, run: RunStatement) {
    this.#statements = statements
    this.#run = run
    for (const row of statements.all('select position, id from passing order by position')) this.#positions.set(String(row['id']), Number(row['position']))
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
    const { facts: { id, startedAt }, definition } = instance
    this.#added.push({ id, position, definition, startedAt, text: passingText(instance) })
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
    const row = this.#statements.get(`${READ_PASSING} where position = ?`, [position])
    return row === undefined ? undefined : readPassing(row)
  }

  /** How the instances here stand that a query may ask for, newest first: no more than its limit, unless it asks for what only their texts say. */
  records({ workflowId, startedAfter, startedBefore, status, businessKey, limit }: StoredPage, before: ListPosition | undefined): readonly ListedRecord[] {
    if (this.size === 0) return []
    const conditions = new Conditions()
    if (workflowId !== undefined) conditions.add('workflow_id = ?', workflowId)
    conditions.addStart({ startedAfter, startedBefore }, before, 'position')
    const most = status === undefined && businessKey === undefined ? limit : -1
    return this.#statements.all(`${READ_PASSING} ${conditions.text} order by started_at desc, position desc limit ?`, [...conditions.values, most])
      .map((row) => ({ position: Number(row['position']), record: listedRecordOf(row, (readable) => readPassing(readable).record) }))
  }

  /** Writes what was gathered. */
  flush(): void {
    for (let first = 0; first < this.#added.length; first += MOST_AT_ONCE) {
      const rows = this.#added.slice(first, first + MOST_AT_ONCE)
      this.#run('passing', putStatement(rows.length), ...rows.flatMap(({ position, id, definition, startedAt, text }) => [position, id, definition, startedAt, text]))
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

const putStatements: string[] = []

function putStatement(rows: number): string {
  return putStatements[rows] ??= `insert or replace into passing (position, id, definition, started_at, instance) values ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?)').join(', ')}`
}

/** The instance of a row. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` when a newer release wrote it, or it is damaged */
export function readPassing(row: Row): PassingInstance {
  const text = jsonOf(row, 'instance') as PassingText
  try {
    if (text.form <= PASSING_FORM) return passingOf(text, String(row['definition']))
  } catch (cause) {
    throw unreadableInstance(row, 'is damaged in the store: its text does not say what it should. See "sonatina store verify"', cause)
  }
  throw unreadableInstance(row, `has a text of form ${String(text.form)}; this release knows ${String(PASSING_FORM)}. Finish it with the release that wrote it`)
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
