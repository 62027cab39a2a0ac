/** Splits a key at its dots; a quoted segment (`a."b.c".d`) stays whole and loses its quotes. */
export function splitKey(key: string): string[] {
  const segments: string[] = []
  const pattern = /"((?:[^"\\]|\\.)*)"(?=\.|$)|[^.]+/gy
  let position = 0
  while (position < key.length) {
    if (key[position] === '.') { position++; continue }
    pattern.lastIndex = position
    const match = pattern.exec(key)
    if (!match) break
    segments.push(match[1]?.replace(/\\(.)/g, '$1') ?? match[0])
    position = pattern.lastIndex
  }
  return segments
}

/** Joins segments to a key; a segment that holds a dot, quote or blank is quoted. */
export function joinSegments(segments: readonly string[]): string {
  return segments.map((segment) => (/[."\\\s]/.test(segment) ? `"${segment.replace(/(["\\])/g, '\\$1')}"` : segment)).join('.')
}

/** Builds the key of a setting below a prefix from names that may hold dots, such as channels and log categories. */
export function settingKey(prefix: string, ...segments: readonly string[]): string {
  return `${prefix}.${joinSegments(segments)}`
}

/**
 * Gives the canonical form of a document or scheme name: each character outside A–Z, a–z, 0–9 becomes `_`
 * (configuration.md §2).
 */
export function canonicalName(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '_')
}

/** Gives the key of an OpenAPI document: the canonical form of the last path segment of its URI, extension kept. */
export function fileKey(uri: string): string {
  const path = uri.replace(/[?#].*$/, '').replace(/\/+$/, '')
  return canonicalName(path.slice(path.lastIndexOf('/') + 1))
}

/** Gives the name of the environment variable that sets a key: upper case, all but A–Z and 0–9 as `_`. */
export function environmentName(key: string): string {
  return key.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()
}
