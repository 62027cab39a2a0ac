export { createSqliteHost, type SqliteHostOptions } from './create-sqlite-host.ts'
export { hasLibrary } from './library.ts'
export { importStore, openStore, type StoreFile, type StoreLine, type StoreSummary } from './maintenance.ts'
