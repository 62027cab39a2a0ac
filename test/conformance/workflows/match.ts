import { jsonEquals } from '../../../lib/common/index.ts'
import { valueAt } from './body-path.ts'
import { assertKnown, type Fields } from './case-file.ts'
import type { Variables } from './variables.ts'

/** An answer over HTTP, read completely. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON, or as text when it is none; `undefined` without a body. */
  readonly body: unknown
}

/** Properties of `expect` that a caller checks: they are about more than the answer. */
const CALLER_CHECKS = ['sink', 'log', 'example'] as const

type Check = (expected: unknown, answer: Answer, variables: Variables) => readonly string[]

const CHECKS: Readonly<Record<string, Check>> = {
  status: (expected, { status }) => (status === expected ? [] : [`status is ${status}, expected ${String(expected)}`]),
  statusIn: (expected, { status }) =>
    (list(expected).includes(status) ? [] : [`status is ${status}, expected one of ${list(expected).join(', ')}`]),
  body: (expected, { body }, variables) =>
    entries(expected).flatMap(([path, value]) => differences(valueAt(body, path), value, variables).map((fault) => at(path, fault))),
  absent: (expected, { body }) => paths(expected).flatMap((path) => fault(path, body, { test: (value) => value === undefined || value === null, wanted: 'no value' })),
  notNull: (expected, { body }) => paths(expected).flatMap((path) => fault(path, body, { test: (value) => value !== undefined && value !== null, wanted: 'a value' })),
  emptyOrNull: (expected, { body }) => paths(expected).flatMap((path) => fault(path, body, { test: isEmpty, wanted: 'nothing, null or empty' })),
  contains: (expected, { body }, variables) => entries(expected).flatMap(([path, texts]) => list(texts).flatMap((text) => {
    const part = String(variables.resolve(text))
    return fault(path, body, { test: (value) => toText(value).includes(part), wanted: `a text with "${part}"` })
  })),
  startsWith: (expected, { body }, variables) => entries(expected).flatMap(([path, text]) => {
    const start = String(variables.resolve(text))
    return fault(path, body, { test: (value) => toText(value).startsWith(start), wanted: `a text that starts with "${start}"` })
  }),
  size: (expected, { body }) => entries(expected).flatMap(([path, size]) => fault(path, body, { test: (value) => sizeOf(value) === size, wanted: `${String(size)} items or keys` })),
  length: (expected, { body }) => entries(expected).flatMap(([path, length]) =>
    fault(path, body, { test: (value) => typeof value === 'string' && [...value].length === length, wanted: `a text of ${String(length)} characters` })),
  permutationOf: (expected, { body }) => entries(expected).flatMap(([path, text]) =>
    fault(path, body, { test: (value) => typeof value === 'string' && sorted(value) === sorted(String(text)), wanted: `the characters of "${String(text)}" in any order` })),
  gte: (expected, { body }) => entries(expected).flatMap(([path, least]) =>
    fault(path, body, { test: (value) => typeof value === 'number' && value >= Number(least), wanted: `a number of at least ${String(least)}` })),
  containsItem: (expected, { body }, variables) => entries(variables.resolve(expected)).flatMap(([path, item]) => missingItems(path, body, [item])),
  containsItems: (expected, { body }, variables) => entries(variables.resolve(expected)).flatMap(([path, items]) => missingItems(path, body, list(items))),
  bodyText: (expected, { text }, variables) => {
    const wanted = String(variables.resolve(expected))
    return text === wanted ? [] : [`body is ${shorten(text)}, expected ${shorten(wanted)}`]
  },
  responseHeaders: (expected, { headers }, variables) => entries(expected).flatMap(([name, value]) =>
    differences(headers[name.toLowerCase()], value, variables).map((difference) => `header ${name} ${difference}`)),
  capture: (expected, { body }, variables) => entries(expected).flatMap(([name, path]) => {
    const value = valueAt(body, String(path))
    variables.set(name, value)
    return value === undefined ? [`nothing to capture as "${name}" at ${String(path)} of ${shorten(body)}`] : []
  }),
}

/** Compares an answer with an `expect` block; gives one line for each difference and stores what it captures. */
export function matchAnswer(expected: Fields, answer: Answer, variables: Variables): readonly string[] {
  assertKnown(expected, [...Object.keys(CHECKS), ...CALLER_CHECKS], 'expect')
  const faults = Object.entries(expected).flatMap(([name, value]) => CHECKS[name]?.(value, answer, variables) ?? [])
  // The body says what went wrong when the status is not the expected one.
  return faults.length > 0 && faults[0]?.startsWith('status') === true ? [...faults, `the body was ${shorten(answer.text)}`] : faults
}

/** Compares a value with an expected one, in which texts such as `not empty` and `$matches:…` have a meaning. */
export function differences(actual: unknown, expected: unknown, variables: Variables): readonly string[] {
  if (typeof expected === 'string') return textDifferences(actual, expected, variables)
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [mismatch(actual, expected)]
    return expected.flatMap((item, index) => differences(actual[index], item, variables).map((fault) => at(`[${index}]`, fault)))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [mismatch(actual, expected)]
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
    return [...keys].flatMap((key) => (Object.hasOwn(expected, key)
      ? differences((actual as Fields)[key], (expected as Fields)[key], variables).map((fault) => at(key, fault))
      : [`has ${key} = ${shorten((actual as Fields)[key])}, expected no such key`]))
  }
  return jsonEquals(actual, expected) ? [] : [mismatch(actual, expected)]
}

function textDifferences(actual: unknown, expected: string, variables: Variables): readonly string[] {
  if (expected === 'not empty') return isEmpty(actual) ? [`is ${shorten(actual)}, expected anything that is not empty`] : []
  if (expected.startsWith('$capture:')) {
    variables.set(expected.slice('$capture:'.length), actual)
    return actual === undefined ? ['is absent, expected a value to capture'] : []
  }
  if (expected.startsWith('$matches:')) {
    const pattern = variables.resolve(expected.slice('$matches:'.length))
    return new RegExp(pattern).test(toText(actual)) ? [] : [`is ${shorten(actual)}, expected a text that matches ${pattern}`]
  }
  const wanted = variables.resolve<unknown>(expected)
  return jsonEquals(actual, wanted) ? [] : [mismatch(actual, wanted)]
}

/** Tells whether a value has at least what is expected: further keys of objects are allowed, at any depth. */
export function includesPart(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length && expected.every((item, index) => includesPart(actual[index], item))
  }
  if (typeof expected === 'object' && expected !== null) {
    return typeof actual === 'object' && actual !== null && !Array.isArray(actual) &&
      Object.entries(expected).every(([key, value]) => Object.hasOwn(actual, key) && includesPart((actual as Fields)[key], value))
  }
  return jsonEquals(actual, expected)
}

function missingItems(path: string, body: unknown, items: readonly unknown[]): readonly string[] {
  const value = valueAt(body, path)
  if (!Array.isArray(value)) return [at(path, `is ${shorten(value)}, expected a list`)]
  return items.filter((item) => !value.some((candidate) => includesPart(candidate, item)))
    .map((item) => at(path, `lacks the item ${shorten(item)}; it is ${shorten(value)}`))
}

interface Demand {
  readonly test: (value: unknown) => boolean
  readonly wanted: string
}

function fault(path: string, body: unknown, { test, wanted }: Demand): readonly string[] {
  const value = valueAt(body, path)
  return test(value) ? [] : [at(path, `is ${shorten(value)}, expected ${wanted}`)]
}

function mismatch(actual: unknown, expected: unknown): string {
  return `is ${shorten(actual)}, expected ${shorten(expected)}`
}

function at(path: string, text: string): string {
  return `${path} ${text}`
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || sizeOf(value) === 0
}

function sorted(text: string): string {
  return [...text].sort().join('')
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function entries(value: unknown): [string, unknown][] {
  return Object.entries(value as Fields)
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function paths(value: unknown): readonly string[] {
  return list(value).map(String)
}

/** Writes a value for a message; long ones are cut. */
export function shorten(value: unknown, length = 300): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > length ? `${text.slice(0, length)}…` : text
}
