export type { Catalogue, LoadFailure } from './catalogue.ts'
export type * from './types.ts'
