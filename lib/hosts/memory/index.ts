export { createMemoryHost } from './create-memory-host.ts'
