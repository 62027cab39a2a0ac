import { setOwn, type Json } from '../common/index.ts'

const DEEPEST = 12

/**
 * Makes JSON of any value, as inspection messages carry it.
 *
 * Errors become `{name, message, code, status}`, Maps objects, Sets arrays, dates ISO texts, big integers texts, functions their names;
 * cycles and what lies deeper than 12 levels are marked; `undefined` is left out of objects.
 */
export function toPlain(value: unknown): Json {
  return plain(value, [])
}

function plain(value: unknown, parents: readonly unknown[]): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return value.toString()
    case 'function':
      return { type: value.name }
    case 'object':
      return value === null ? null : plainObject(value, parents)
    default:
      return null
  }
}

function plainObject(value: object, parents: readonly unknown[]): Json {
  if (parents.includes(value)) return '[Circular]'
  if (parents.length >= DEEPEST) return Array.isArray(value) ? '[Array]' : '[Object]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Error) {
    const { name, message, code, status } = value as Error & { code?: unknown; status?: unknown }
    return plainObject({ name, message, code, status }, parents)
  }
  const below = [...parents, value]
  if (Array.isArray(value)) return value.map((item) => plain(item, below))
  if (value instanceof Set) return [...value].map((item) => plain(item, below))
  const entries = value instanceof Map ? [...value].map(([key, item]) => [String(key), item] as const) : Object.entries(value)
  const result: Record<string, Json> = {}
  for (const [key, item] of entries) if (item !== undefined) setOwn(result, key, plain(item, below))
  return result
}
