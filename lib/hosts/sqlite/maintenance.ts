import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { HostError } from '../../errors/index.ts'
import { toHostError } from './failure.ts'
import { MIGRATIONS } from './migrations.ts'
import { openDatabase, type OwnedDatabase } from './open-database.ts'
import { READ_PASSING, readPassing } from './passing-table.ts'
import type { Row } from './statements.ts'

/** What a store holds. */
interface StoreSummary {
  readonly file: string
  readonly bytes: number
  readonly schemaVersion: number
  /** Number of instances by status. */
  readonly instances: Readonly<Record<string, number>>
  readonly timers: number
  /** Events that are still to be sent. */
  readonly outgoing: number
  readonly definitions: number
}

/** One line of an export: a table and a row of it. */
export interface StoreLine {
  readonly table: string
  readonly row: Row
}

const TABLES = ['definition', 'instance', 'passing', 'timer', 'wait', 'inbox', 'outbox', 'effect', 'history', 'gathering', 'idempotency', 'schedule'] as const

const ALIVE = 'select id, definition from instance where ended_at is null union all select id, definition from passing'
const INSTANCES = 'select id from instance union all select id from passing'

/** A store that is looked at or worked on while no host has it open. */
export interface StoreFile {
  summary(): StoreSummary
  /** The rows of all tables, in an order in which they can be taken in again. */
  lines(): Iterable<StoreLine>
  /** Gives the space of removed rows back; gives the bytes before and after. */
  vacuum(): { readonly before: number; readonly after: number }
  /** What is wrong with the file and its rows: empty when nothing is. */
  verify(): readonly string[]
  close(): void
}

/**
 * Opens a store for maintenance.
 *
 * @throws {@link HostError} `STORE_LOCKED` while a host has it open, `STORE_UNAVAILABLE` when it is missing or damaged
 */
export function openStore(file: string, startedAt: number): StoreFile {
  if (!existsSync(file)) throw new HostError({ code: 'STORE_UNAVAILABLE', message: `There is no store ${file}; name it with --file` })
  const owned = openDatabase({ file, synchronous: 'FULL', startedAt })
  const { database } = owned
  const all = (sql: string): readonly Row[] => {
    try {
      return database.prepare(sql).all() as readonly Row[]
    } catch (error) {
      throw toHostError(error, file)
    }
  }
  const count = (table: string): number => Number(all(`select count(*) as rows from ${table}`)[0]?.['rows'] ?? 0)
  return {
    summary: () => ({
      file,
      bytes: statSync(file).size,
      schemaVersion: MIGRATIONS.length,
      instances: countsOf([
        ...all('select status, count(*) as rows from instance group by status').map((row) => [String(row['status']), Number(row['rows'])] as const),
        ...all(READ_PASSING).map((row) => [statusOf(row), 1] as const),
      ]),
      timers: count('timer'),
      outgoing: count('outbox'),
      definitions: count('definition'),
    }),
    *lines() {
      for (const table of TABLES) for (const row of all(`select * from ${table}`)) yield { table, row }
    },
    vacuum() {
      const before = statSync(file).size
      database.exec('vacuum')
      database.pragma('wal_checkpoint(TRUNCATE)')
      return { before, after: statSync(file).size }
    },
    verify: () => [
      ...all('pragma integrity_check').map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok'),
      ...damagedTexts(all('select id, facts, state, record from instance')),
      ...all(READ_PASSING).flatMap(faultOf),
      ...all(`select id from (${ALIVE}) where definition not in (select hash from definition)`).map((row) => `instance ${String(row['id'])} has no definition`),
      ...all(`select instance_id from timer where instance_id not in (${INSTANCES})`).map((row) => `a timer belongs to instance ${String(row['instance_id'])}, which does not exist`),
    ],
    close() { owned.close() },
  }
}

/** Sums up by status, in the order of their names. */
function countsOf(counts: readonly (readonly [status: string, rows: number])[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const [status, rows] of [...counts].sort(([left], [right]) => left < right ? -1 : 1)) sums[status] = (sums[status] ?? 0) + rows
  return sums
}

function statusOf(row: Row): string {
  try {
    return readPassing(row).status
  } catch {
    // What is wrong with it, `verify` tells.
    return 'unreadable'
  }
}

function faultOf(row: Row): readonly string[] {
  try {
    readPassing(row)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function damagedTexts(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => ['facts', 'state', 'record'].flatMap((column) => {
    try {
      JSON.parse(String(row[column] ?? 'null'))
      return []
    } catch {
      return [`instance ${String(row['id'])}: ${column} is no JSON`]
    }
  }))
}

/**
 * Makes a store of exported lines; the file must not exist yet, and is there only when all lines were taken in.
 *
 * @throws {@link HostError} `STORE_UNAVAILABLE` when the file exists or a line does not fit
 */
export function importStore(file: string, lines: Iterable<StoreLine>, startedAt: number): number {
  if (existsSync(file)) throw new HostError({ code: 'STORE_UNAVAILABLE', message: `The store ${file} exists already; name another file or move it away` })
  const part = `${file}.import`
  rmSync(part, { force: true })
  const owned = openDatabase({ file: part, synchronous: 'FULL', startedAt })
  let rows = 0
  try {
    rows = takeIn(owned, lines)
  } catch (error) {
    owned.database.exec('rollback')
    owned.close()
    removeWith(part)
    throw toHostError(error, file)
  }
  owned.close()
  renameSync(part, file)
  removeWith(part)
  return rows
}

function takeIn({ database }: OwnedDatabase, lines: Iterable<StoreLine>): number {
  let rows = 0
  database.exec('begin immediate')
  for (const { table, row } of lines) {
    const columns = Object.keys(row).filter((name) => name !== '_metadata')
    if (!TABLES.some((known) => known === table) || !columns.every((name) => /^[a-z_]+$/.test(name))) {
      throw new HostError({ code: 'STORE_UNAVAILABLE', message: `Line ${String(rows + 1)} is no line of an export: there is no table "${table}"` })
    }
    database.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`).run(...columns.map((name) => row[name] ?? null))
    rows += 1
  }
  database.exec('commit')
  return rows
}

function removeWith(file: string): void {
  for (const ending of ['', '-wal', '-shm', '.lock', '.owner']) rmSync(`${file}${ending}`, { force: true })
}
