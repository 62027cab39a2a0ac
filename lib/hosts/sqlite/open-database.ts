import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'libsql'
import { HostError } from '../../errors/index.ts'
import { toHostError } from './failure.ts'
import { loadLibrary } from './library.ts'
import { MIGRATIONS } from './migrations.ts'

/** How a database is opened. */
export interface OpenOptions {
  readonly file: string
  /** How safe a commit is against loss of power; a process that is killed loses nothing with either. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** When this process started, milliseconds since the epoch: it is told to whoever finds the file locked. */
  readonly startedAt: number
}

/** Who has a store open. */
interface Owner {
  readonly pid: number
  /** ISO 8601. */
  readonly startedAt: string
}

/** A store that this process owns. */
export interface OwnedDatabase {
  readonly database: Database
  /** Whether the file that is open is still the one that has its name. @throws {@link HostError} `STORE_UNAVAILABLE` */
  assertInPlace(): void
  /** Closes the store and gives it free. */
  close(): void
}

/**
 * Opens a store for this process alone, and brings it to the schema of this release.
 *
 * The lock is one of the system, on a file beside the store: it goes with the process, however that ends. Another file names the owner.
 *
 * @throws {@link HostError} `STORE_LOCKED` naming pid and start of the owner, `SNAPSHOT_INCOMPATIBLE` for a store of a newer release,
 * `STORE_UNAVAILABLE` for what cannot be read or is no store
 */
export function openDatabase(options: OpenOptions): OwnedDatabase {
  const { file } = options
  let lock: Database | undefined
  let database: Database | undefined
  try {
    mkdirSync(dirname(file), { recursive: true })
    lock = takeLock(file)
    nameOwner(file, options.startedAt)
    assertWhole(file)
    database = new (loadLibrary())(file, { timeout: 0 })
    database.pragma('journal_mode = WAL')
    database.pragma(`synchronous = ${options.synchronous}`)
    database.pragma('wal_autocheckpoint = 4000')
    database.pragma('cache_size = -16000')
    check(database, file)
    database.exec('begin immediate')
    migrate(database, file)
    database.exec('commit')
    return owned(database, lock, file)
  } catch (error) {
    database?.close()
    if (lock !== undefined) {
      rmSync(ownerFile(file), { force: true })
      lock.close()
    }
    throw toHostError(error, file)
  }
}

function owned(database: Database, lock: Database, file: string): OwnedDatabase {
  const places = [file, `${file}-wal`, `${file}.lock`].map((path) => ({ path, id: identityOf(path) }))
  return {
    database,
    // What is written to a file without a name is gone with the process, and nobody would be told.
    assertInPlace() {
      for (const { path, id } of places) if (identityOf(path) !== id) throw displaced(file, path)
    },
    close() {
      try {
        database.pragma('wal_checkpoint(TRUNCATE)')
      } catch {
        // On a full disk the log stays beside the store; whoever opens it next finds all in it.
      }
      database.close()
      rmSync(ownerFile(file), { force: true })
      lock.exec('rollback')
      lock.close()
    },
  }
}

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${String(stats.dev)}/${String(stats.ino)}`
}

function displaced(file: string, path: string): HostError {
  return new HostError({
    code: 'STORE_UNAVAILABLE',
    message: `The store ${file} cannot be used: ${path} was removed or replaced while it was open; put it back, and it goes on by itself, or put a backup in its place and start again`,
  })
}

function takeLock(file: string): Database {
  const lock = new (loadLibrary())(`${file}.lock`, { timeout: 0 })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    throw isBusy(error) ? locked(file, error) : error
  }
}

/** Steps that the schema of a store lacks are applied; the transaction is the caller's. */
function migrate(database: Database, file: string): void {
  const rows = database.pragma('user_version') as readonly { readonly user_version: number }[]
  const version = rows[0]?.user_version ?? 0
  if (version > MIGRATIONS.length) {
    throw new HostError({
      code: 'SNAPSHOT_INCOMPATIBLE',
      message: `The store ${file} has schema version ${String(version)} of a newer release; this one knows ${String(MIGRATIONS.length)}. Start the newer release, or name another file (sonatina.store.sqlite.file)`,
      details: { version, known: MIGRATIONS.length },
    })
  }
  for (const step of MIGRATIONS.slice(version)) database.exec(step)
  if (version < MIGRATIONS.length) database.pragma(`user_version = ${String(MIGRATIONS.length)}`)
}

function check(database: Database, file: string): void {
  const [row] = database.pragma('quick_check(1)') as readonly { readonly quick_check: string }[]
  if (row !== undefined && row.quick_check !== 'ok') throw damaged(file, row.quick_check)
}

// The library would take a file that was cut to less than a page for an empty one and start anew in it.
function assertWhole(file: string): void {
  const size = sizeOf(file)
  if (size === 0) {
    // A log is made after its store: the store is missing, and the log alone would be thrown away.
    if (sizeOf(`${file}-wal`) > 0) throw damaged(file, `it is ${existsSync(file) ? 'empty' : 'gone'}, but its log ${file}-wal is there`)
    return
  }
  const header = Buffer.alloc(100)
  const descriptor = openSync(file, 'r')
  try {
    if (readSync(descriptor, header, 0, 100, 0) < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3') throw damaged(file, 'it is no database')
  } finally {
    closeSync(descriptor)
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const isCounted = header.readUInt32BE(24) === header.readUInt32BE(92)
  const pages = header.readUInt32BE(28)
  if (isCounted && size < pages * pageSize && !existsSync(`${file}-wal`)) {
    throw damaged(file, `it is cut off after ${String(size)} of ${String(pages * pageSize)} bytes`)
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function damaged(file: string, reason: string): HostError {
  return new HostError({
    code: 'STORE_UNAVAILABLE',
    message: `The store ${file} is damaged: ${reason}. It is left as it is; put a backup in its place, look at it with "sonatina store verify", or name another file (sonatina.store.sqlite.file)`,
  })
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')
}

function locked(file: string, cause: unknown): HostError {
  const owner = readOwner(file)
  const who = owner === undefined ? 'another process' : `process ${String(owner.pid)}, started ${owner.startedAt}`
  return new HostError({
    code: 'STORE_LOCKED',
    message: `The store ${file} is in use by ${who}; stop it, or give this process a file of its own (sonatina.store.sqlite.file)`,
    ...(owner === undefined ? {} : { details: { ...owner } }),
    cause,
  })
}

function ownerFile(file: string): string {
  return `${file}.owner`
}

// At once: until then the file names the owner before, if that was killed.
function nameOwner(file: string, startedAt: number): void {
  try {
    rmSync(ownerFile(file), { force: true })
    writeFileSync(ownerFile(file), JSON.stringify({ pid: process.pid, startedAt: new Date(startedAt).toISOString() } satisfies Owner))
  } catch {
    // On a full disk nobody is named; the lock holds without.
  }
}

function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(ownerFile(file), 'utf8')) as Owner
  } catch {
    // The owner is only named where it can be; the lock holds without.
    return undefined
  }
}
