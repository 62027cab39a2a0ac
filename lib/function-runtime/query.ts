import { jsonEquals, setOwn } from '../common/index.ts'
import { RequestError } from '../errors/index.ts'
import { findName } from './conversion.ts'
import type { CompiledSchema } from './compiled-schema.ts'
import type { Shape, Shapes } from './schema-shape.ts'
import type { JsonSchema } from './schema-types.ts'

const MAX_PARAMETERS = 1000
const MAX_DEPTH = 20
const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const INTEGER = /^[+-]?\d+$/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?$/

/** One list that is being filled; elements of objects are found again by their id, in order of first appearance. */
interface List {
  readonly items: unknown[]
  readonly byId: Map<string, Record<string, unknown>>
}

interface Reading {
  readonly shapes: Shapes
  readonly caseInsensitive: boolean
  readonly lists: Map<unknown[], List>
  readonly unique: Set<unknown[]>
  /** The whole parameter name, for messages. */
  parameter: string
}

/**
 * Reads a query as an object, directed by its schema (function-runtime.md §4 "Query to object"); the schema is not yet applied.
 *
 * @param query what follows the question mark, still encoded
 * @throws {@link RequestError} `REQUEST_INVALID` naming the parameter
 */
export function readQuery(query: string, schema: CompiledSchema, caseInsensitive = false): Record<string, unknown> {
  const reading: Reading = { shapes: schema.shapes, caseInsensitive, lists: new Map(), unique: new Set(), parameter: '' }
  const target: Record<string, unknown> = {}
  for (const [name, value] of parameters(query)) {
    reading.parameter = name
    const tokens = name.split('.')
    if (tokens.length > MAX_DEPTH) throw refuse(name, `is nested deeper than ${String(MAX_DEPTH)} levels`)
    // An empty part has no property: names that start with a dot are ignored.
    if (!tokens.includes('')) fillObject(target, schema.shapes.of(schema.schema), tokens, value, reading)
  }
  for (const list of reading.unique) removeDuplicates(list)
  return target
}

function parameters(query: string): [name: string, value: string][] {
  const parts = query.split('&', MAX_PARAMETERS + 1).filter((part) => part !== '')
  if (parts.length > MAX_PARAMETERS) throw refuse('query', `has more than ${String(MAX_PARAMETERS)} parameters`)
  return parts.map((part) => {
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    return [decode(name, name), equals < 0 ? '' : decode(part.slice(equals + 1), name)]
  })
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw refuse(name, 'holds a broken percent escape')
  }
}

function fillObject(target: Record<string, unknown>, shape: Shape, tokens: readonly string[], value: string, reading: Reading): void {
  const [token = '', ...rest] = tokens
  if (shape.kind !== 'object' && shape.kind !== 'map') return
  const declared = shape.kind === 'object' ? declaredName(shape.properties, token, reading.caseInsensitive) : undefined
  if (declared === undefined && REFUSED_KEYS.has(token)) throw refuse(reading.parameter, 'is a name that is never read')
  const schema = declared === undefined || shape.kind !== 'object' ? shape.values : shape.properties[declared]
  if (schema !== undefined) fillMember(target, declared ?? token, reading.shapes.of(schema), rest, value, reading)
  // A map without a schema for its values holds texts; a bean ignores what it does not know.
  else if (shape.kind === 'map' && rest.length === 0) setOwn(target, token, value)
}

function fillMember(
  target: Record<string, unknown>,
  name: string,
  member: Shape,
  rest: readonly string[],
  value: string,
  reading: Reading,
): void {
  if (member.kind === 'scalar') {
    if (rest.length === 0) setOwn(target, name, toScalar(value, member.type, reading.parameter))
  } else if (member.kind === 'array') {
    const list = ownValue(target, name, (): unknown[] => [])
    if (member.unique) reading.unique.add(list)
    fillList(list, member.items, rest, value, reading)
  } else {
    const nested = ownValue(target, name, (): Record<string, unknown> => ({}))
    if (rest.length > 0) fillObject(nested, member, rest, value, reading)
  }
}

function fillList(list: unknown[], items: JsonSchema | undefined, tokens: readonly string[], value: string, reading: Reading): void {
  const shape = items === undefined ? undefined : reading.shapes.of(items)
  if (shape === undefined || shape.kind === 'scalar') {
    list.push(shape === undefined ? value : toScalar(value, shape.type, reading.parameter))
    return
  }
  const [id, ...rest] = tokens
  // Lists of lists have no spelling in a query.
  if (id === undefined || shape.kind === 'array') return
  if (REFUSED_KEYS.has(id)) throw refuse(reading.parameter, 'is a name that is never read')
  const known = reading.lists.get(list) ?? { items: list, byId: new Map<string, Record<string, unknown>>() }
  reading.lists.set(list, known)
  let element = known.byId.get(id)
  if (element === undefined) {
    element = {}
    known.byId.set(id, element)
    list.push(element)
  }
  if (rest.length > 0) fillObject(element, shape, rest, value, reading)
}

function toScalar(text: string, type: 'string' | 'integer' | 'number' | 'boolean', parameter: string): string | number | boolean {
  switch (type) {
    case 'string': return text
    // Anything but true is false, as in Funqy.
    case 'boolean': return text.toLowerCase() === 'true'
    case 'integer': {
      const value = INTEGER.test(text) ? Number(text) : Number.NaN
      if (!Number.isSafeInteger(value)) throw refuse(parameter, 'is not an integer that can be read; write digits, up to 2^53−1')
      return value
    }
    case 'number': {
      const value = NUMBER.test(text) ? Number(text.replace(/[fFdD]$/, '')) : Number.NaN
      if (!Number.isFinite(value)) throw refuse(parameter, 'is not a finite number in decimal or exponent form')
      return value
    }
  }
}

function declaredName(properties: Readonly<Record<string, unknown>>, name: string, caseInsensitive: boolean): string | undefined {
  if (caseInsensitive) return findName(properties, name)
  return Object.hasOwn(properties, name) ? name : undefined
}

function ownValue<T extends object>(target: Record<string, unknown>, name: string, make: () => T): T {
  if (!Object.hasOwn(target, name)) setOwn(target, name, make())
  return target[name] as T
}

function removeDuplicates(list: unknown[]): void {
  const kept: unknown[] = []
  for (const item of list) if (!kept.some((other) => jsonEquals(other, item))) kept.push(item)
  list.splice(0, list.length, ...kept)
}

function refuse(parameter: string, reason: string): RequestError {
  const shown = parameter.length > 80 ? `${parameter.slice(0, 80)}…` : parameter
  return new RequestError({
    code: 'REQUEST_INVALID',
    message: `The query parameter ${JSON.stringify(shown)} ${reason}`,
    details: { parameter: shown },
  })
}
