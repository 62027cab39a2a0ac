/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; keys are own properties, whatever they are called. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Tells whether a value is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Sets an own property, also for names such as `__proto__` that plain assignment would send to the prototype.
 *
 * Mutates `target`: only for objects that the caller has just made.
 */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

/** Reads an own property; `undefined` for anything inherited. */
export function getOwn(target: object, key: string): unknown {
  return Object.hasOwn(target, key) ? (target as Record<string, unknown>)[key] : undefined
}

/** Copies the own properties of an object into a fresh one, `__proto__` included. */
export function copyObject(source: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Spread defines properties, so `__proto__` stays data.
  return { ...source }
}

/** Compares two JSON values: key order is free, numbers compare as numbers. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return typeof left === 'number' && typeof right === 'number' && Number.isNaN(left) && Number.isNaN(right)
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && left.length === right.length &&
      left.every((item, index) => jsonEquals(item, right[index]))
  }
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && jsonEquals(getOwn(left, key), getOwn(right, key)))
}

/** Joins reference tokens to a JSON pointer (RFC 6901). */
export function toPointer(tokens: readonly (string | number)[]): string {
  let pointer = ''
  for (const token of tokens) pointer += `/${typeof token === 'number' ? String(token) : escapeToken(token)}`
  return pointer
}

function escapeToken(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token
}

/** Splits a JSON pointer (RFC 6901) into reference tokens. */
export function fromPointer(pointer: string): string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Finds the value at a JSON pointer; `undefined` when nothing is there. */
export function atPointer(document: unknown, pointer: string): unknown {
  let value = document
  for (const token of fromPointer(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined
    value = getOwn(value, token)
  }
  return value
}
