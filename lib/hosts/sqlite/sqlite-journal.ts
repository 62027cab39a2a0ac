import { HostError } from '../../errors/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import type { HistoryStep } from '../../instance/index.ts'
import type { CrashPoint } from '../durability.ts'
import type { InstanceRecord } from '../host.ts'
import type { Journal, StoredDefinition, StoredGathering, StoredIntention } from '../journal.ts'
import { toHostError } from './failure.ts'
import { Instances } from './instances.ts'
import { LogSync } from './log-sync.ts'
import { openDatabase, type OpenOptions, type OwnedDatabase } from './open-database.ts'
import { RowBuffer, type RunStatement } from './row-buffer.ts'
import { Statements, type Row } from './statements.ts'

/** What the journal of a database needs. */
export interface SqliteJournalOptions extends OpenOptions {
  readonly probe?: (point: CrashPoint) => void
}

/**
 * Opens the journal of a database file.
 *
 * @throws {@link HostError} `STORE_UNAVAILABLE`, `STORE_LOCKED`, `SNAPSHOT_INCOMPATIBLE`
 */
export function openSqliteJournal(options: SqliteJournalOptions): Journal {
  const owned = openDatabase({ ...options, synchronous: 'NORMAL' })
  let log: LogSync | undefined
  try {
    if (options.synchronous === 'FULL') log = new LogSync(options.file)
    // What a process before has committed is acted upon: the disk may not have it yet.
    log?.now()
    return new SqliteJournal(owned, log, options)
  } catch (error) {
    // Else the store would be locked against the next attempt.
    log?.close()
    owned.close()
    throw toHostError(error, options.file)
  }
}

class SqliteJournal implements Journal {
  readonly #owned: OwnedDatabase
  readonly #statements: Statements
  readonly #file: string
  readonly #instances: Instances
  readonly #rows: RowBuffer
  readonly #probe: ((point: CrashPoint) => void) | undefined
  /** Absent where commits are not brought to the disk one by one. */
  readonly #log: LogSync | undefined
  /** A sync has failed: what the log holds may not be on the disk. */
  #isDoubtful = false
  #isOpen = false

  constructor(owned: OwnedDatabase, log: LogSync | undefined, { file, probe }: SqliteJournalOptions) {
    this.#owned = owned
    this.#log = log
    this.#statements = new Statements(owned.database, file)
    this.#file = file
    this.#probe = probe
    const run: RunStatement = (table, sql, ...values) => { this.#run(table, sql, ...values) }
    this.#instances = new Instances(this.#statements, run)
    this.#rows = new RowBuffer(run)
  }

  #run(table: string, sql: string, ...values: readonly unknown[]): void {
    this.#statements.run(sql, values)
    this.#probe?.(`write:${table}`)
  }

  #get(sql: string, ...values: readonly unknown[]): Row | undefined {
    return this.#statements.get(sql, values)
  }

  #all(sql: string, ...values: readonly unknown[]): readonly Row[] {
    return this.#statements.all(sql, values)
  }

  #texts(column: string, sql: string, ...values: readonly unknown[]): readonly string[] {
    return this.#all(sql, ...values).map((row) => String(row[column]))
  }

  // --- transactions ---

  begin(): void {
    this.#owned.assertInPlace()
    this.#statements.run('begin immediate')
    this.#isOpen = true
  }

  commit(): void {
    this.#instances.flush()
    this.#rows.flush()
    this.#statements.run('commit')
    this.#isOpen = false
    this.#instances.committed()
  }

  rollback(): void {
    this.#instances.clear()
    this.#rows.clear()
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      this.#statements.run('rollback')
    } catch {
      // Some failures end the transaction by themselves; there is nothing left to roll back then.
    }
  }

  sync(done: (error?: HostError) => void): void {
    const log = this.#log
    if (log === undefined || this.#isDoubtful) {
      this.syncNow()
      done()
      return
    }
    log.start((error) => {
      if (error === null) {
        done()
        return
      }
      this.#isDoubtful = true
      done(toHostError(error, this.#file))
    })
  }

  syncNow(): void {
    try {
      if (this.#isDoubtful) this.#beginNewLog()
      else this.#log?.now()
      this.#isDoubtful = false
    } catch (error) {
      this.#isDoubtful = true
      throw toHostError(error, this.#file)
    }
  }

  // Where a sync has failed the system takes what it could not write for written: that the next one succeeds says nothing. What the log
  // holds is written again, to the database, and the log begins anew.
  #beginNewLog(): void {
    const row = this.#get('pragma wal_checkpoint(truncate)')
    if (row?.['busy'] !== 0) throw new HostError({ code: 'STORE_UNAVAILABLE', message: `The store ${this.#file} cannot be used: its log could not be moved into it` })
  }

  close(): void {
    this.rollback()
    this.#log?.close()
    try {
      this.#owned.close()
    } catch (error) {
      throw toHostError(error, this.#file)
    }
  }

  // --- instances ---

  put: Journal['put'] = (instance, isKnown = false) => { this.#instances.put(instance, isKnown) }

  release(id: string, keep: boolean): void {
    const stored = keep ? this.get(id) : undefined
    if (stored === undefined) {
      this.remove(id)
      return
    }
    const { state: _, record, ...rest } = stored
    this.put({ ...rest, busy: false, undelivered: false, record: { ...record, endedAt: record.endedAt ?? record.startedAt } }, true)
  }

  remove(id: string, isBare = false): void {
    this.#instances.remove(id)
    if (!isBare) this.#rows.belongingsRemoved(id)
  }

  get: Journal['get'] = (id) => this.#instances.get(id)

  sleeper: Journal['sleeper'] = (id) => this.#instances.sleeper(id)

  list: Journal['list'] = (page) => this.#instances.list(page)

  isAlive: Journal['isAlive'] = (id) => this.#instances.isAlive(id)

  countAlive: Journal['countAlive'] = () => this.#instances.countAlive()

  busy: Journal['busy'] = () => this.#instances.busy()

  childOf(parentId: string, token: string): string | undefined {
    const row = this.#get('select id from instance where parent_id = ? and parent_token = ? order by rowid desc limit 1', parentId, token)
    return row === undefined ? undefined : String(row['id'])
  }

  dependentsOf(parentId: string): readonly string[] {
    return this.#texts('id', 'select id from instance where parent_id = ? and dependent = 1 and ended_at is null', parentId)
  }

  parentsOfUndelivered(): readonly string[] {
    return this.#texts('parent_id', `select distinct parent_id from instance where parent_token is not null and (undelivered = 1 or (status = 'error' and state is not null))`)
  }

  // --- timers and waits ---

  setTimers(id: string, timers: ReadonlyMap<string, number>): void {
    this.#run('timer', 'delete from timer where instance_id = ?', id)
    for (const [token, dueAt] of timers) this.#run('timer', 'insert into timer (instance_id, token, due_at) values (?, ?, ?)', id, token, dueAt)
  }

  due(until: number, limit: number): readonly { readonly instanceId: string; readonly token: string }[] {
    return this.#all('select instance_id, token from timer where due_at <= ? order by due_at limit ?', until, limit)
      .map((row) => ({ instanceId: String(row['instance_id']), token: String(row['token']) }))
  }

  nextDue(after: number): number | undefined {
    const due = this.#get('select min(due_at) as due from timer where due_at > ?', Number.isFinite(after) ? after : Number.MIN_SAFE_INTEGER)?.['due']
    return typeof due === 'number' ? due : undefined
  }

  setWaits(id: string, keys: readonly string[], isFirst = false): void {
    if (!isFirst) this.#run('wait', 'delete from wait where instance_id = ?', id)
    for (const key of keys) this.#rows.wait(id, key)
  }

  waiting(keys: readonly string[]): readonly string[] {
    // One row: reading several costs the library much more than a list costs the database.
    const row = this.#get(`select json_group_array(distinct instance_id) as ids from wait where key in (${keys.map(() => '?').join(', ')})`, ...keys)
    return JSON.parse(String(row?.['ids'] ?? '[]')) as readonly string[]
  }

  // --- events ---

  hasReceived(event: string, target: string): boolean {
    return this.#get('select 1 as one from inbox where target = ? and event = ?', target, event) !== undefined
  }

  addReceived(event: string, target: string, at: number): void {
    this.#rows.received(target, event, at)
  }

  addOutgoing(id: string, event: CloudEventRecord): void {
    this.#run('outbox', 'insert or ignore into outbox (id, event) values (?, ?)', id, JSON.stringify(event))
  }

  removeOutgoing(id: string): void {
    this.#run('outbox', 'delete from outbox where id = ?', id)
  }

  outgoing(): readonly { readonly id: string; readonly event: CloudEventRecord }[] {
    return this.#all('select id, event from outbox order by rowid').map((row) => ({ id: String(row['id']), event: JSON.parse(String(row['event'])) as CloudEventRecord }))
  }

  putGathering({ id, definition, events, correlation, since }: StoredGathering): void {
    this.#run('gathering', 'insert or replace into gathering (id, definition, events, correlation, since) values (?, ?, ?, ?, ?)', id, definition, JSON.stringify(events), JSON.stringify(correlation), since)
  }

  removeGathering(id: string): void {
    this.#run('gathering', 'delete from gathering where id = ?', id)
  }

  gatherings(): readonly StoredGathering[] {
    return this.#all('select * from gathering order by since').map((row) => ({
      id: String(row['id']),
      definition: String(row['definition']),
      events: JSON.parse(String(row['events'])) as StoredGathering['events'],
      correlation: JSON.parse(String(row['correlation'])) as StoredGathering['correlation'],
      since: Number(row['since']),
    }))
  }

  // --- intentions, history, definitions ---

  addIntention({ id, facts, definition, effect }: StoredIntention): void {
    this.#run('effect', 'insert or ignore into effect (id, facts, definition, effect) values (?, ?, ?, ?)', id, JSON.stringify(facts), definition, JSON.stringify(effect))
  }

  removeIntention(id: string): void {
    this.#rows.intentionRemoved(id)
  }

  intentions(): readonly StoredIntention[] {
    return this.#all('select * from effect order by rowid').map((row) => ({
      id: String(row['id']),
      facts: JSON.parse(String(row['facts'])) as StoredIntention['facts'],
      definition: String(row['definition']),
      effect: JSON.parse(String(row['effect'])) as StoredIntention['effect'],
    }))
  }

  addHistory(id: string, steps: readonly HistoryStep[]): void {
    this.#rows.steps(id, steps)
  }

  history(id: string): readonly HistoryStep[] {
    return this.#texts('steps', 'select steps from history where instance_id = ? order by sequence', id).flatMap((steps) => JSON.parse(steps) as HistoryStep[])
  }

  putDefinition({ hash, workflowId, version, uri, text }: StoredDefinition): void {
    this.#run('definition', 'insert or ignore into definition (hash, workflow_id, version, uri, text) values (?, ?, ?, ?, ?)', hash, workflowId, version, uri, text)
  }

  definitions(): readonly StoredDefinition[] {
    const used = 'select definition from instance where ended_at is null union select definition from passing union select definition from effect union select definition from gathering'
    return this.#all(`select * from definition where hash in (${used})`).map((row) => ({
      hash: String(row['hash']),
      workflowId: String(row['workflow_id']),
      version: String(row['version']),
      uri: String(row['uri']),
      text: String(row['text']),
    }))
  }

  // --- keys, schedules, retention ---

  putStart: Journal['putStart'] = (place, { body, instanceId }, at) => {
    this.#run('idempotency', 'insert or replace into idempotency (place, body, instance_id, started_at) values (?, ?, ?, ?)', place, body, instanceId, at)
  }

  endStart(place: string, record: InstanceRecord): void {
    this.#run('idempotency', 'update idempotency set record = ? where place = ?', JSON.stringify(record), place)
  }

  getStart: Journal['getStart'] = (place) => {
    const row = this.#get('select * from idempotency where place = ?', place)
    if (row === undefined) return undefined
    const record = row['record']
    return {
      body: String(row['body']),
      instanceId: String(row['instance_id']),
      ...(typeof record === 'string' ? { record: JSON.parse(record) as InstanceRecord } : {}),
    }
  }

  putSchedule: Journal['putSchedule'] = (place, { deployedAt, lastRun }) => {
    this.#run('schedule', 'insert or replace into schedule (place, deployed_at, last_run) values (?, ?, ?)', place, deployedAt, lastRun ?? null)
  }

  getSchedule: Journal['getSchedule'] = (place) => {
    const row = this.#get('select * from schedule where place = ?', place)
    if (row === undefined) return undefined
    const lastRun = row['last_run']
    return { deployedAt: Number(row['deployed_at']), ...(typeof lastRun === 'number' ? { lastRun } : {}) }
  }

  purge(endedBefore: number, receivedBefore: number): void {
    const ended = this.#texts('id', 'select id from instance where ended_at < ? and undelivered = 0 limit 1000', endedBefore)
    for (const id of ended) this.remove(id)
    this.#run('inbox', 'delete from inbox where received_at < ?', receivedBefore)
    this.#run('idempotency', 'delete from idempotency where started_at < ? and instance_id not in (select id from instance)', receivedBefore)
  }
}
