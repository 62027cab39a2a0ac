/** Marks objects whose members are produced on demand: `$WORKFLOW`, `$SECRET`. */
export const LAZY = Symbol('sonatina.lazy')

/** An object read member by member; it is never materialised by accident. */
export interface LazyRecord {
  readonly [LAZY]: true
  /** Value of a member; `undefined` when there is none. */
  get(key: string): unknown
  /** The known members; absent when the object may not be listed, printed or passed on (secrets). */
  readonly keys?: readonly string[]
}

/** Tells a record whose members are read one by one from other values of variables. */
export function isLazy(value: unknown): value is LazyRecord {
  return typeof value === 'object' && value !== null && LAZY in value
}

/** Words what is wrong with reading a member of the variable `name`; `undefined` when it exists, or when nobody can tell. */
export function faultOfMember(name: string, { keys }: LazyRecord, key: string): string | undefined {
  return keys === undefined || keys.includes(key) ? undefined : `$${name} has no key ${JSON.stringify(key)}; known: ${keys.join(', ')}`
}
