import { fitsQuery } from '../lives.ts'
import type { InstanceRecord } from '../host.ts'
import type { StoredInstance, StoredPage, StoredSleeper } from '../journal.ts'
import { isPassing } from './passing-form.ts'
import { PassingTable } from './passing-table.ts'
import type { RunStatement } from './row-buffer.ts'
import { CHANGING_COLUMNS, changesOf, instanceOf, listedRecordOf, PUT_INSTANCE, SLEEPER_COLUMNS, sleeperOf, valuesOf } from './rows.ts'
import type { Row, Statements } from './statements.ts'

const CHANGE_INSTANCE = `update instance set ${CHANGING_COLUMNS.map((name) => `${name} = ?`).join(', ')} where id = ?`

/** A record and its position. */
interface ListedRecord {
  readonly position: number
  readonly record: InstanceRecord
}

/**
 * The instances of a store: those under way stand in a table of their own until they wait, fail or end (see {@link PassingTable}).
 *
 * An instance has the same position in either table; lists are in the order of positions.
 */
export class Instances {
  readonly #statements: Statements
  readonly #run: RunStatement
  readonly #passing: PassingTable
  #nextPosition: number

  constructor(statements: Statements, run: RunStatement) {
    this.#statements = statements
    this.#run = run
    this.#passing = new PassingTable(statements, run)
    this.#nextPosition = Number(statements.get('select max(last) as last from (select max(rowid) as last from instance union all select max(position) from passing)', [])?.['last'] ?? 0) + 1
  }

  /** Writes an instance; `isKnown` when it stands here already. */
  put(instance: StoredInstance, isKnown: boolean): void {
    const { id } = instance.facts
    const position = isKnown ? this.#passing.positionOf(id) : this.#nextPosition++
    if (position === undefined) this.#run('instance', CHANGE_INSTANCE, ...changesOf(instance), id)
    else if (isPassing(instance)) this.#passing.put(instance, position)
    else {
      this.#passing.remove(id)
      this.#run('instance', PUT_INSTANCE, position, ...valuesOf(instance))
    }
  }

  /** Takes an instance out if it is under way. Tells whether it was. */
  removePassing(id: string): boolean {
    return this.#passing.remove(id)
  }

  get(id: string): StoredInstance | undefined {
    const row = this.#row('*', id)
    return row === undefined ? this.#passing.get(id) : instanceOf(row)
  }

  sleeper(id: string): StoredSleeper | undefined {
    const row = this.#row(SLEEPER_COLUMNS, id)
    return row === undefined ? this.#passing.get(id) : sleeperOf(row)
  }

  #row(columns: string, id: string): Row | undefined {
    return this.#statements.get(`select ${columns} from instance where id = ?`, [id])
  }

  /** A page of records, newest first. */
  list(page: StoredPage): readonly InstanceRecord[] {
    const before = page.before === undefined ? undefined : { startedAt: page.before.startedAt, position: this.#positionOf(page.before.id) }
    const passing = this.#passing.records()
      .filter(({ position, record }) => fitsQuery(record, page) && (before === undefined || isBefore({ position, startedAt: record.startedAt }, before)))
    const stored = this.#listed(page, before)
    if (passing.length === 0) return stored.map(({ record }) => record)
    return [...stored, ...passing]
      .sort((left, right) => right.record.startedAt - left.record.startedAt || right.position - left.position)
      .slice(0, page.limit)
      .map(({ record }) => record)
  }

  #listed({ workflowId, status, businessKey, startedAfter, startedBefore, limit }: StoredPage, before: Position | undefined): readonly ListedRecord[] {
    const conditions: string[] = []
    const values: unknown[] = []
    const where = (condition: string, ...given: readonly unknown[]): void => {
      conditions.push(condition)
      values.push(...given)
    }
    if (workflowId !== undefined) where('workflow_id = ?', workflowId)
    if (status !== undefined) where(`status in (${status.map(() => '?').join(', ')})`, ...status)
    if (businessKey !== undefined) where('business_key = ?', businessKey)
    if (startedAfter !== undefined) where('started_at >= ?', startedAfter)
    if (startedBefore !== undefined) where('started_at <= ?', startedBefore)
    if (before !== undefined) where('(started_at < ? or (started_at = ? and rowid < ?))', before.startedAt, before.startedAt, before.position)
    const filter = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
    return this.#statements.all(`select rowid as position, * from instance ${filter} order by started_at desc, rowid desc limit ?`, [...values, limit])
      .map((row) => ({ position: Number(row['position']), record: listedRecordOf(row) }))
  }

  #positionOf(id: string): number {
    return this.#passing.positionOf(id) ?? Number(this.#row('rowid as position', id)?.['position'] ?? 0)
  }

  countAlive(): number {
    return this.#passing.size + Number(this.#statements.get('select count(*) as alive from instance where ended_at is null', [])?.['alive'] ?? 0)
  }

  busy(): readonly string[] {
    const stored = this.#statements.all('select id from instance where busy = 1 order by rowid', []).map(({ id }) => String(id))
    return [...stored, ...this.#passing.ids()]
  }

  /** Writes what was gathered. */
  flush(): void {
    this.#passing.flush()
  }

  /** What was written holds from now on. */
  committed(): void {
    this.#passing.committed()
  }

  /** Forgets what was gathered: its transaction is rolled back. */
  clear(): void {
    this.#passing.clear()
  }
}

/** Where a record stands in a list. */
interface Position {
  readonly startedAt: number
  readonly position: number
}

function isBefore(one: Position, other: Position): boolean {
  return one.startedAt < other.startedAt || (one.startedAt === other.startedAt && one.position < other.position)
}
