import type { Json } from '../common/index.ts'

/** Deepest nesting of arrays and objects that is read unless a caller says otherwise (http-contract.md §8). */
export const MAX_JSON_DEPTH = 1000

/** Says why bytes are not JSON text; thrown inside the module and by {@link parseJsonBytes}. */
export interface JsonFault {
  /** What is wrong, with the position where the parser knows it. */
  readonly reason: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8 strictly, skipping a byte order mark; `undefined` when a sequence is invalid. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Parses UTF-8 bytes as one JSON value of any kind, scalars included (http-contract.md §2).
 *
 * @returns the value, or what is wrong
 */
export function parseJsonBytes(bytes: Uint8Array, maxDepth = MAX_JSON_DEPTH): { value: Json } | JsonFault {
  const text = decodeUtf8(bytes)
  if (text === undefined) return { reason: 'is not valid UTF-8' }
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (error) {
    return { reason: `is not JSON: ${(error as SyntaxError).message}` }
  }
  if (isDeeperThan(text, maxDepth)) return { reason: `is nested deeper than ${String(maxDepth)} levels` }
  return { value }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

// Works on text that is known to be JSON, so brackets outside of strings are balanced.
function isDeeperThan(text: string, maxDepth: number): boolean {
  // Every level takes two characters.
  if (text.length < 2 * maxDepth) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) {
      inString = true
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x5d || code === 0x7d) {
      depth--
    }
  }
  return false
}
