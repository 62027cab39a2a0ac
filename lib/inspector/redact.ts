import { setOwn, type Json } from '../common/index.ts'
import type { Capture } from './settings.ts'

/** What stands in place of a value that is not shown. */
const HIDDEN = '•••'

const SECRET_KEY = /secret|token|password|passwd|authorization|cookie|api[-_]?key/iu
const DEEPEST = 200

/** Makes copies of data in which nothing secret is left. */
export interface Redact {
  /** Copies workflow data as far as it is shown at all. */
  (value: unknown): Json
  /** Copies what is no workflow data, such as messages of errors: whole, but for secrets. */
  words(value: unknown): Json
}

/** What is hidden. */
export interface RedactOptions {
  /** Patterns of keys (`*` stands for any characters), letter case ignored. */
  readonly patterns: readonly string[]
  /** Values that came from `$SECRET`. */
  readonly secrets: ReadonlySet<string>
  readonly capture: Capture
}

/**
 * Creates a {@link Redact}: secret-looking keys, known secret values wherever they stand in a text, and user info and secret-looking
 * query values of URLs are hidden; with capture `shape` scalars become the names of their kinds.
 *
 * Never changes what it is given; cycles and depths beyond 200 end in a mark.
 */
export function createRedact({ patterns, secrets, capture }: RedactOptions): Redact {
  const own = patterns.map((pattern) => new RegExp(pattern.split('*').map((part) => part.replace(/[.\\+?()[\]{}|^$]/gu, '\\$&')).join('.*'), 'iu'))
  const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) || own.some((pattern) => pattern.test(key))
  const cover = (text: string): string => {
    let shown = text
    for (const secret of secrets) if (shown.includes(secret)) shown = shown.replaceAll(secret, HIDDEN)
    return shown.includes('=') || shown.includes('://') ? coverPairs(shown, isSecretKey) : shown
  }
  const copy = (value: unknown, parents: readonly unknown[], shape: boolean): Json => {
    if (typeof value === 'string') return shape ? `string(${String(value.length)})` : cover(value)
    if (typeof value === 'number' || typeof value === 'boolean') return shape ? typeof value : value
    if (typeof value !== 'object' || value === null) return null
    if (parents.length >= DEEPEST) return '… (deeper)'
    if (parents.includes(value)) return '… (circular)'
    const below = [...parents, value]
    if (Array.isArray(value)) return value.map((item) => copy(item, below, shape))
    const result: Record<string, Json> = {}
    for (const [key, item] of Object.entries(value)) {
      if (item !== undefined) setOwn(result, cover(key), isSecretKey(key) && item !== null ? HIDDEN : copy(item, below, shape))
    }
    return result
  }
  return Object.assign((value: unknown) => (capture === 'none' ? null : copy(value, [], capture === 'shape')), { words: (value: unknown) => copy(value, [], false) })
}

/** Hides the user info of URLs, and `key=value` pairs of queries, forms and messages whose key looks like a secret. */
function coverPairs(text: string, isSecretKey: (key: string) => boolean): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@?#]+@/giu, `$1${HIDDEN}@`)
    .replace(/(^|[?&;,\s])([^=?&#;,\s]{1,100})=([^&#;,\s]+)/gu, (whole: string, mark: string, key: string) => (isSecretKey(key) ? `${mark}${key}=${HIDDEN}` : whole))
}
