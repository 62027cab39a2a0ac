/** The properties of an object, those that may be `undefined` as optional ones. */
type Compact<T> = { readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] }
  & { readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> }

/**
 * Copies an object without the properties that are `undefined`: absent and undefined are two things to deep equality and to types.
 *
 * @example
 * compact({ id: 'i1', endedAt: undefined }) // => { id: 'i1' }
 */
export function compact<const T extends object>(properties: T): Compact<T> {
  const copy: Record<string, unknown> = {}
  for (const name in properties) if (properties[name] !== undefined) copy[name] = properties[name]
  return copy as Compact<T>
}
