import { setOwn, type Json, type JsonObject } from '../../common/index.ts'
import type { ArithmeticOperator, ComparisonOperator } from './ast.ts'
import { JqError } from './failure.ts'
import type { Run } from './run.ts'
import { compare, equals, isArray, isObject, MAX_DEPTH } from './value.ts'

const MAX_STRING = 2 ** 29 - 25

/** Adds numbers, joins strings and arrays, merges objects (right wins); null is neutral. */
export function add(left: Json, right: Json, run: Run, offset?: number): Json {
  if (typeof left === 'number' && typeof right === 'number') return left + right
  if (typeof left === 'string' && typeof right === 'string') {
    // The engine joins lazily: what is new is the shorter side.
    run.charge(1 + (Math.min(left.length, right.length) >> 3))
    if (left.length + right.length > MAX_STRING) run.overflow()
    return left + right
  }
  if (left === null) return right
  if (right === null) return left
  if (isArray(left) && isArray(right)) {
    run.charge(left.length + right.length)
    run.spend((left.length + right.length) >> 4)
    return left.concat(right)
  }
  if (isObject(left) && isObject(right)) {
    const size = Object.keys(left).length
    run.charge(size + 1)
    run.spend(size >> 4)
    return { ...left, ...right }
  }
  throw new JqError('%0 and %1 cannot be added', [left, right], offset)
}

/** Adds like {@link add}, but appends in place to what `owned` holds, and puts what it makes there. */
export function addOwned(left: Json, right: Json, run: Run, owned: Set<object>): Json {
  if (isArray(left) && isArray(right)) {
    run.charge(right.length)
    if (!owned.has(left)) return own(left.concat(right), owned)
    for (const item of right) (left as Json[]).push(item)
    return left
  }
  if (isObject(left) && isObject(right)) {
    const keys = Object.keys(right)
    run.charge(keys.length)
    const target = owned.has(left) ? left : own({ ...left }, owned)
    for (const key of keys) setOwn(target, key, right[key])
    return target
  }
  return add(left, right, run)
}

function own<T extends object>(value: T, owned: Set<object>): T {
  owned.add(value)
  return value
}

/** Subtracts numbers; removes the elements of the right array from the left one. */
export function subtract(left: Json, right: Json, run: Run, offset?: number): Json {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (!isArray(left) || !isArray(right)) throw new JqError('%0 and %1 cannot be subtracted', [left, right], offset)
  run.charge(left.length)
  return left.filter((item) => {
    run.spend(1 + (right.length >> 2))
    return !right.some((gone) => equals(item, gone))
  })
}

/** Multiplies numbers, repeats a string, merges objects deeply. */
export function multiply(left: Json, right: Json, run: Run, offset?: number): Json {
  if (typeof left === 'number' && typeof right === 'number') return left * right
  if (typeof left === 'string' && typeof right === 'number') return repeat(left, right, run)
  if (typeof left === 'number' && typeof right === 'string') return repeat(right, left, run)
  if (isObject(left) && isObject(right)) return mergeDeeply(left, right, run)
  throw new JqError('%0 and %1 cannot be multiplied', [left, right], offset)
}

function repeat(text: string, times: number, run: Run): Json {
  // jq 1.8 cuts fractions off and gives null below zero.
  if (Number.isNaN(times) || times < 0) return null
  const length = text.length * Math.floor(times)
  if (length > MAX_STRING) throw new JqError('Repeat string result too long')
  run.charge(length / 8)
  return text.repeat(text === '' ? 0 : Math.floor(times))
}

function mergeDeeply(left: JsonObject, right: JsonObject, run: Run): Json {
  const result: Record<string, unknown> = {}
  const stack: { target: Record<string, unknown>; left: JsonObject; right: JsonObject; depth: number }[] =
    [{ target: result, left, right, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.depth > MAX_DEPTH) throw new JqError('Object merge too deep')
    const { target } = next
    const keys = Object.keys(next.right)
    for (const key of Object.keys(next.left)) setOwn(target, key, next.left[key])
    run.charge(keys.length + 1)
    run.spend(keys.length + 1)
    for (const key of keys) {
      const incoming = next.right[key] as Json
      const present = Object.hasOwn(next.left, key) ? (next.left[key] as Json) : null
      if (isObject(incoming) && isObject(present)) {
        const merged = {}
        setOwn(target, key, merged)
        stack.push({ target: merged, left: present, right: incoming, depth: next.depth + 1 })
      } else setOwn(target, key, incoming)
    }
  }
  return result as JsonObject
}

/** Divides numbers; splits a string. */
export function divide(left: Json, right: Json, run: Run, offset?: number): Json {
  if (typeof left === 'number' && typeof right === 'number') {
    if (right === 0) throw new JqError('%0 and %1 cannot be divided because the divisor is zero', [left, right], offset)
    return left / right
  }
  if (typeof left === 'string' && typeof right === 'string') return splitString(left, right, run)
  throw new JqError('%0 and %1 cannot be divided', [left, right], offset)
}

/** Splits a string at each occurrence of another; at each code point when that is empty. */
export function splitString(text: string, separator: string, run: Run): Json {
  if (text === '') return []
  run.charge(text.length / 4)
  return separator === '' ? Array.from(text) : text.split(separator)
}

/** Gives the remainder of whole numbers; the sign is that of the dividend. */
function remainder(left: Json, right: Json, _run: Run, offset?: number): Json {
  if (typeof left !== 'number' || typeof right !== 'number') {
    throw new JqError('%0 and %1 cannot be divided (remainder)', [left, right], offset)
  }
  if (Number.isNaN(left) || Number.isNaN(right)) return NaN
  const divisor = Math.trunc(Math.abs(right))
  if (divisor === 0) throw new JqError('%0 and %1 cannot be divided (remainder) because the divisor is zero', [left, right], offset)
  // Adding zero turns -0 into 0.
  if (Math.abs(left) <= Number.MAX_SAFE_INTEGER && divisor <= Number.MAX_SAFE_INTEGER) return (Math.trunc(left) % divisor) + 0
  const exact = toInteger(right)
  return Number(toInteger(left) % (exact < 0n ? -exact : exact))
}

// jq computes with 64-bit integers: what is larger counts as the largest.
function toInteger(value: number): bigint {
  if (value >= 2 ** 63) return 2n ** 63n - 1n
  return value <= -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(value))
}

/** Computes an arithmetic operator. */
export type Arithmetic = (left: Json, right: Json, run: Run, offset?: number) => Json

/** The arithmetic operators by their sign. */
export const ARITHMETIC: Readonly<Record<ArithmeticOperator, Arithmetic>> = {
  '+': add, '-': subtract, '*': multiply, '/': divide, '%': remainder,
}

/** The comparison operators by their sign. */
export const COMPARISON: Readonly<Record<ComparisonOperator, (left: Json, right: Json) => boolean>> = {
  '==': equals,
  '!=': (left, right) => !equals(left, right),
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
}
