export { createSqliteHost, type SqliteHostOptions } from './create-sqlite-host.ts'
export { hasLibrary } from './library.ts'
