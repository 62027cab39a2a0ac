/** A path with `{name}` places, split once. */
export interface PathTemplate {
  /** Names of the places in order; one that occurs twice is listed twice. */
  readonly names: readonly string[]
  /** Query that the template itself holds, without `?`; empty when none. */
  readonly query: string
  /**
   * Joins literals and written values, one for each name.
   *
   * @returns the encoded path, or what is wrong with it: a place without value, a segment that would change the path
   */
  join(values: readonly (string | undefined)[]): { readonly path: string } | { readonly problem: string }
}

/** Compiles a path template: literals are encoded, what follows `?` is the query. */
export function compilePathTemplate(template: string): PathTemplate {
  const at = template.indexOf('?')
  const path = at < 0 ? template : template.slice(0, at)
  const query = at < 0 ? '' : template.slice(at + 1)
  const names = placeNames(path)
  const literals = path.split(/\{[^{}]*\}/).map(encodeLiteral)
  const fixed = { path: literals[0] ?? '' }
  if (names.length === 0) return { names, query, join: () => fixed }
  return {
    names,
    query,
    join(values) {
      let joined = literals[0] ?? ''
      for (let index = 0; index < names.length; index++) {
        const value = values[index]
        if (value === undefined) return { problem: `path parameter "${names[index] ?? ''}" is not given` }
        joined += value + (literals[index + 1] ?? '')
      }
      if (hasDotSegment(joined)) return { problem: 'a path parameter makes a segment "." or "..", which would change the path' }
      return { path: joined }
    },
  }
}

/** Names the `{name}` places of a text, in order. */
export function placeNames(text: string): string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? '')
}

/** Tells whether a client or server would normalise a path to another one (RFC 3986 §5.2.4). */
function hasDotSegment(path: string): boolean {
  return path.includes('.') && path.split('/').some((segment) => segment === '.' || segment === '..')
}

/** Encodes what an author may write in a path but an address may not hold; percent-encoded text stays. */
function encodeLiteral(literal: string): string {
  return encodeURI(literal).replaceAll('%25', '%')
}
