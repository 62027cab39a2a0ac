import type { Json, JsonObject } from '../../common/index.ts'
import { JqError } from './failure.ts'
import { countStep } from './walk-budget.ts'

/** The names jq gives to the types of values. */
export type TypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** Deepest nesting that comparison, merging and paths follow (jq 1.8). */
export const MAX_DEPTH = 10_000

// Native recursion is fast but bounded by the stack; beyond this depth an explicit stack takes over.
const NATIVE_DEPTH = 400

/** Names the jq type of a value. */
export function typeOf(value: Json): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as TypeName
}

/** Tells whether a value is an array; narrows read-only arrays, which `Array.isArray` does not. */
export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** Tells whether a value is an object in the sense of JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Tells whether a value counts as true: everything but null and false. */
export function isTruthy(value: unknown): boolean {
  return value !== null && value !== false && value !== undefined
}

/** Reads an own property; null when there is none. */
export function readOwn(object: JsonObject, key: string): Json {
  return Object.hasOwn(object, key) ? (object[key] ?? null) : null
}

/** Compares strings by code point: surrogate pairs sort above the rest of the basic plane. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return (a >= 0xd800 && a < 0xe000) === (b >= 0xd800 && b < 0xe000) ? a - b : weigh(a) - weigh(b)
  }
  return left.length - right.length
}

// Units of surrogate pairs stand for code points above U+FFFF, so they weigh more than U+E000–U+FFFF.
function weigh(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** Lists the keys of an object in code point order. */
export function sortedKeys(object: JsonObject): string[] {
  return Object.keys(object).sort(compareStrings)
}

function rank(value: Json): number {
  if (value === null) return 0
  switch (typeof value) {
    case 'boolean': return value ? 2 : 1
    case 'number': return 3
    case 'string': return 4
    default: return Array.isArray(value) ? 5 : 6
  }
}

/**
 * Orders two values as jq does: null, false, true, numbers (NaN first), strings, arrays, objects.
 *
 * @throws {@link JqError} beyond a nesting of 10,000.
 */
export function compare(left: Json, right: Json): number {
  return compareAt(left, right, 0)
}

function compareAt(left: Json, right: Json, depth: number): number {
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right)
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right)
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return rank(left) - rank(right)
  countStep()
  if (depth > NATIVE_DEPTH) return compareDeep(left, right, depth)
  if (isArray(left)) {
    if (!isArray(right)) return -1
    const length = Math.min(left.length, right.length)
    for (let index = 0; index < length; index += 1) {
      const order = compareAt(left[index] as Json, right[index] as Json, depth + 1)
      if (order !== 0) return order
    }
    return left.length - right.length
  }
  if (isArray(right)) return 1
  const keys = sortedKeys(left)
  const order = compareKeys(keys, sortedKeys(right))
  if (order !== 0) return order
  for (const key of keys) {
    const result = compareAt(left[key] as Json, right[key] as Json, depth + 1)
    if (result !== 0) return result
  }
  return 0
}

// NaN is below every number, itself included.
function compareNumbers(left: number, right: number): number {
  return left < right || Number.isNaN(left) ? -1 : left === right ? 0 : 1
}

function compareKeys(left: readonly string[], right: readonly string[]): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const order = compareStrings(left[index] as string, right[index] as string)
    if (order !== 0) return order
  }
  return left.length - right.length
}

type Pending = { readonly verdict: number } | { readonly left: Json; readonly right: Json; readonly depth: number }

function compareDeep(left: Json, right: Json, start: number): number {
  const stack: Pending[] = [{ left, right, depth: start }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('verdict' in next) {
      if (next.verdict !== 0) return next.verdict
      continue
    }
    const order = expand(next.left, next.right, next.depth, stack)
    if (order !== 0) return order
  }
  return 0
}

function expand(left: Json, right: Json, depth: number, stack: Pending[]): number {
  countStep()
  if (depth > MAX_DEPTH) throw new JqError('Comparison too deep')
  if (isArray(left) && isArray(right)) {
    stack.push({ verdict: left.length - right.length })
    for (let index = Math.min(left.length, right.length) - 1; index >= 0; index -= 1) {
      stack.push({ left: left[index] as Json, right: right[index] as Json, depth: depth + 1 })
    }
    return 0
  }
  if (isObject(left) && isObject(right)) {
    const keys = sortedKeys(left)
    const order = compareKeys(keys, sortedKeys(right))
    if (order !== 0) return order
    for (const key of keys.reverse()) stack.push({ left: left[key] as Json, right: right[key] as Json, depth: depth + 1 })
    return 0
  }
  return compareAt(left, right, 0)
}

/**
 * Tells whether two values are equal; NaN equals nothing.
 *
 * @throws {@link JqError} beyond a nesting of 10,000.
 */
export function equals(left: Json, right: Json): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right
  return equalsAt(left, right, 0)
}

function equalsAt(left: Json, right: Json, depth: number): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right
  countStep()
  if (depth > NATIVE_DEPTH) return equalsDeep(left, right, depth)
  if (isArray(left)) {
    if (!isArray(right) || left.length !== right.length) return false
    for (let index = 0; index < left.length; index += 1) {
      if (!equalsAt(left[index] as Json, right[index] as Json, depth + 1)) return false
    }
    return true
  }
  if (isArray(right)) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  for (const key of keys) {
    if (!Object.hasOwn(right, key) || !equalsAt(left[key] as Json, right[key] as Json, depth + 1)) return false
  }
  return true
}

function equalsDeep(left: Json, right: Json, start: number): boolean {
  const stack: [Json, Json, number][] = [[left, right, start]]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [a, b, depth] = next
    if (depth > MAX_DEPTH) throw new JqError('Equality check too deep')
    if (isArray(a) && isArray(b)) {
      if (a.length !== b.length) return false
      a.forEach((item, index) => stack.push([item, b[index] as Json, depth + 1]))
    } else if (isObject(a) && isObject(b)) {
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length || !keys.every((key) => Object.hasOwn(b, key))) return false
      for (const key of keys) stack.push([a[key] as Json, b[key] as Json, depth + 1])
    } else if (a !== b) return false
  }
  return true
}

/** Counts the code points of a string. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(index + 1)
      if (next >= 0xdc00 && next < 0xe000) {
        count -= 1
        index += 1
      }
    }
  }
  return count
}

/** Freezes a value and everything in it, so that it can be shared by all evaluations. */
export function deepFreeze<T>(value: T): T {
  const stack: unknown[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'object' && next !== null && !Object.isFrozen(next)) {
      Object.freeze(next)
      for (const member of Object.values(next) as unknown[]) stack.push(member)
    }
  }
  return value
}

/** Gives what jq calls the length: code points, elements, members, the size of a number; 0 for null. */
export function lengthOf(value: Json): number {
  if (value === null) return 0
  if (typeof value === 'string') return countCodePoints(value)
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value === 'boolean') throw new JqError('%0 has no length', [value])
  return isArray(value) ? value.length : Object.keys(value).length
}
