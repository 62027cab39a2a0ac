import type { Json, JsonObject } from '../../common/index.ts'
import { countStep } from './walk-budget.ts'

const MAX_PRINT_DEPTH = 10_000
// Bytes of a value that an error text shows (jq 1.8).
const SHOWN_BYTES = 29
// What JSON text has to escape, DEL as jq does, and lone surrogates.
const NEEDS_ESCAPE = /["\\\p{Cc}]|\p{Surrogate}/u

/** Prints a number as jq does: shortest digits, an exponent only far from the decimal point. */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return 'null'
  if (value === Infinity) return '1.7976931348623157e+308'
  if (value === -Infinity) return '-1.7976931348623157e+308'
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value)
  const sign = value < 0 ? '-' : ''
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  const point = Number(exponent) + 1
  if (point <= -4 || point > digits.length + 15) {
    const power = Math.abs(point - 1)
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    return `${sign}${digits.slice(0, 1)}${fraction}e${point - 1 < 0 ? '-' : '+'}${power < 10 ? '0' : ''}${power}`
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length)
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Replaces halves of surrogate pairs that stand alone: they are no Unicode text. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** Prints a string as JSON text. */
export function printString(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`
  return JSON.stringify(wellFormed(text)).replaceAll('\u007f', '\\u007f')
}

/** Prints a value as compact JSON text; keys keep their order. Nesting beyond 10,000 is cut off as in jq. */
export function toJson(value: Json, limit = Infinity): string {
  if (typeof value === 'string') return printString(limit === Infinity ? value : value.slice(0, limit))
  if (typeof value === 'number') return printNumber(value)
  if (typeof value !== 'object' || value === null) return String(value)
  return printContainer(value, limit)
}

interface Level {
  readonly keys: readonly string[] | undefined
  readonly container: readonly Json[] | JsonObject
  index: number
}

// An explicit stack, because values may be nested deeper than native recursion reaches.
function printContainer(root: readonly Json[] | JsonObject, limit: number): string {
  let out = ''
  const stack: Level[] = []
  const open = (container: readonly Json[] | JsonObject): void => {
    const keys = Array.isArray(container) ? undefined : Object.keys(container)
    out += keys === undefined ? '[' : '{'
    stack.push({ keys, container, index: 0 })
  }
  open(root)
  for (let level = stack.at(-1); level !== undefined && out.length < limit; level = stack.at(-1)) {
    const item = nextItem(level)
    if (item === undefined) {
      out += level.keys === undefined ? ']' : '}'
      stack.pop()
      continue
    }
    out += item.prefix
    if (typeof item.value !== 'object' || item.value === null) out += toJson(item.value, limit)
    else if (stack.length > MAX_PRINT_DEPTH) out += '"<skipped: too deep>"'
    else open(item.value)
  }
  return out
}

function nextItem(level: Level): { prefix: string; value: Json } | undefined {
  countStep()
  const { keys, container, index } = level
  const comma = index === 0 ? '' : ','
  level.index += 1
  if (keys === undefined) {
    const items = container as readonly Json[]
    return index < items.length ? { prefix: comma, value: items[index] ?? null } : undefined
  }
  const key = keys[index]
  return key === undefined ? undefined : { prefix: `${comma}${printString(key)}:`, value: (container as JsonObject)[key] ?? null }
}

/** Turns a value into text: strings stay as they are, the rest is printed as JSON. */
export function toText(value: Json): string {
  return typeof value === 'string' ? value : toJson(value)
}

/** Names a value for an error text: its type and its beginning, such as `string ("abc")`. */
export function describe(value: Json): string {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return `${type} (${shorten(value)})`
}

/** Prints the beginning of a value, as long as jq shows it; the closing sign of strings, arrays and objects stays. */
export function shorten(value: Json): string {
  const text = toJson(value, 200)
  const bytes = Buffer.from(text)
  if (bytes.length <= SHOWN_BYTES) return text
  const closing = text.startsWith('"') ? '"' : text.startsWith('[') ? ']' : text.startsWith('{') ? '}' : ''
  let end = SHOWN_BYTES - 3 - closing.length
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString()}...${closing}`
}
