import { HostError } from '../../errors/index.ts'

const REASONS: readonly (readonly [code: string, reason: string])[] = [
  ['SQLITE_FULL', 'the disk is full; make room, and it goes on by itself'],
  ['SQLITE_IOERR', 'reading or writing failed; look at the disk'],
  ['SQLITE_READONLY', 'it cannot be written; look at its permissions'],
  ['SQLITE_CANTOPEN', 'it cannot be opened; look at its directory and permissions'],
  ['SQLITE_NOTADB', 'it is no database; put a backup in its place, or name another file (sonatina.store.sqlite.file)'],
  ['SQLITE_CORRUPT', 'it is damaged; put a backup in its place, or name another file (sonatina.store.sqlite.file)'],
  ['SQLITE_BUSY', 'another process has it open'],
]

/** Says what an error of the database means. */
export function toHostError(error: unknown, file: string): HostError {
  if (error instanceof HostError) return error
  const given = (error as { code?: unknown } | null)?.code
  const code = typeof given === 'string' ? given : ''
  const message = error instanceof Error ? error.message : String(error)
  const known = REASONS.find(([prefix]) => code.startsWith(prefix)) ?? REASONS.find(([prefix]) => textOf(prefix).test(message))
  return new HostError({
    code: 'STORE_UNAVAILABLE',
    message: `The store ${file} cannot be used: ${known === undefined ? message : known[1]}`,
    details: { reason: code === '' ? message : code },
    cause: error,
  })
}

function textOf(code: string): RegExp {
  if (code === 'SQLITE_FULL') return /database or disk is full/
  if (code === 'SQLITE_CORRUPT') return /malformed/
  if (code === 'SQLITE_NOTADB') return /not a database/
  return new RegExp(code)
}
