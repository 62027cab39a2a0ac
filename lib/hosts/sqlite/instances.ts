import { fitsQuery } from '../lives.ts'
import type { InstanceRecord } from '../host.ts'
import type { StoredInstance, StoredPage, StoredSleeper } from '../journal.ts'
import { Conditions, newestOf, type ListedRecord, type ListPosition } from './listing.ts'
import { isPassing } from './passing-form.ts'
import { PassingTable } from './passing-table.ts'
import type { RunStatement } from './row-buffer.ts'
import { CHANGING_COLUMNS, changesOf, INSTANCE_COLUMNS, instanceOf, listedRecordOf, SLEEPER_COLUMNS, sleeperOf, valuesOf } from './rows.ts'
import type { Row, Statements } from './statements.ts'

// Where another one has the position, as may be after a vacuum or an import, an instance comes last.
const PUT = `insert into instance (rowid, ${INSTANCE_COLUMNS.join(', ')})
  values ((select ?1 where not exists (select 1 from instance where rowid = ?1)), ${INSTANCE_COLUMNS.map(() => '?').join(', ')})
  on conflict (id) do update set ${INSTANCE_COLUMNS.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`).join(', ')}`
const CHANGE = `update instance set ${CHANGING_COLUMNS.map((name) => `${name} = ?`).join(', ')} where id = ?`
const REMOVE = 'delete from instance where id in (select value from json_each(?))'
const LAST_POSITION = 'select max(last) as last from (select max(rowid) as last from instance union all select max(position) from passing)'

/**
 * The instances of a store: those under way stand in a table of their own until they wait, fail or end (see {@link PassingTable}).
 *
 * An instance takes its position, by which those of one millisecond are listed, along from one table to the other.
 */
export class Instances {
  readonly #statements: Statements
  readonly #run: RunStatement
  readonly #passing: PassingTable
  #nextPosition: number
  #removed: string[] = []

  constructor(statements: Statements, run: RunStatement) {
    this.#statements = statements
    this.#run = run
    this.#passing = new PassingTable(statements, run)
    this.#nextPosition = Number(statements.get(LAST_POSITION)?.['last'] ?? 0) + 1
  }

  /** Writes an instance; `isKnown` when it stands here already. */
  put(instance: StoredInstance, isKnown: boolean): void {
    const { id } = instance.facts
    const position = isKnown ? this.#passing.positionOf(id) : this.#nextPosition++
    if (position === undefined) this.#run('instance', CHANGE, ...changesOf(instance), id)
    else if (isPassing(instance)) this.#passing.put(instance, position)
    else {
      this.#passing.remove(id)
      this.#run('instance', PUT, position, ...valuesOf(instance))
    }
  }

  remove(id: string): void {
    if (!this.#passing.remove(id)) this.#removed.push(id)
  }

  /** @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
  get(id: string): StoredInstance | undefined {
    const row = this.#row('*', id)
    return row === undefined ? this.#passing.get(id) : instanceOf(row)
  }

  /** @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
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
    const passing = this.#passing.records(page, before).filter(({ record }) => fitsQuery(record, page))
    return newestOf([this.#records(page, before), passing], page.limit)
  }

  #records({ workflowId, status, businessKey, startedAfter, startedBefore, limit }: StoredPage, before: ListPosition | undefined): readonly ListedRecord[] {
    const conditions = new Conditions()
    if (workflowId !== undefined) conditions.add('workflow_id = ?', workflowId)
    if (status !== undefined) conditions.add(`status in (${status.map(() => '?').join(', ')})`, ...status)
    if (businessKey !== undefined) conditions.add('business_key = ?', businessKey)
    conditions.addStart({ startedAfter, startedBefore }, before, 'rowid')
    return this.#statements.all(`select rowid as position, * from instance ${conditions.text} order by started_at desc, rowid desc limit ?`, [...conditions.values, limit])
      .map((row) => ({ position: Number(row['position']), record: listedRecordOf(row) }))
  }

  #positionOf(id: string): number {
    return this.#passing.positionOf(id) ?? Number(this.#row('rowid as position', id)?.['position'] ?? 0)
  }

  isAlive(id: string): boolean {
    return this.#passing.positionOf(id) !== undefined || this.#statements.get('select 1 as one from instance where id = ? and ended_at is null', [id]) !== undefined
  }

  countAlive(): number {
    return this.#passing.size + Number(this.#statements.get('select count(*) as alive from instance where ended_at is null')?.['alive'] ?? 0)
  }

  busy(): readonly string[] {
    const stored = this.#statements.all('select id from instance where busy = 1 order by rowid').map(({ id }) => String(id))
    return [...stored, ...this.#passing.ids()]
  }

  /** Writes what was gathered. */
  flush(): void {
    this.#passing.flush()
    if (this.#removed.length > 0) this.#run('instance', REMOVE, JSON.stringify(this.#removed))
  }

  /** What was written holds from now on. */
  committed(): void {
    this.#passing.committed()
    this.#removed = []
  }

  /** Forgets what was gathered: its transaction is rolled back. */
  clear(): void {
    this.#passing.clear()
    this.#removed = []
  }
}
