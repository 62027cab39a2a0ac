import { existsSync } from 'node:fs'
import type { Durability } from '../durability.ts'
import { Kernel } from '../kernel.ts'
import type { KernelOptions } from '../parts.ts'
import type { OpenOptions } from './open-database.ts'
import { openSqliteJournal } from './sqlite-journal.ts'

/** What the embedded host needs beside what every host does. */
export interface SqliteHostOptions extends KernelOptions, OpenOptions {
  readonly keep: Omit<Durability, 'open' | 'exists'>
}

/**
 * Creates the host that keeps instances in a database file: one process owns it, and what waits survives that process.
 *
 * The file is opened when the first instance needs it, or by `recover()` when it exists.
 */
export function createSqliteHost({ keep, file, synchronous, startedAt, ...options }: SqliteHostOptions): Kernel {
  const { probe } = keep
  return new Kernel({
    ...options,
    durability: {
      ...keep,
      open: () => openSqliteJournal({ file, synchronous, startedAt, ...(probe === undefined ? {} : { probe }) }),
      exists: () => existsSync(file),
    },
  })
}
