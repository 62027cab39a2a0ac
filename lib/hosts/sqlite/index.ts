export { createSqliteHost } from './create-sqlite-host.ts'
export { hasLibrary } from './library.ts'
export { importStore, openStore, type StoreFile, type StoreLine } from './maintenance.ts'
