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

/**
 * Reads a query as an object, directed by its schema (function-runtime.md §4 "Query to object"); the schema is not yet applied.
 *
 * @param query what follows the question mark, still encoded
 * @throws {@link RequestError} `REQUEST_INVALID` naming the parameter
 */
export function readQuery(query: string, schema: CompiledSchema, caseInsensitive = false): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  const reader = new QueryReader(schema.shapes, caseInsensitive)
  for (const [name, value] of parameters(query)) {
    const tokens = name.split('.')
    if (tokens.length > MAX_DEPTH) throw refuse(name, `is nested deeper than ${String(MAX_DEPTH)} levels`)
    // An empty part has no property: names that start with a dot are ignored.
    if (!tokens.includes('')) reader.fill(target, schema.shapes.of(schema.schema), { name, value, tokens })
  }
  reader.finish()
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

/** One parameter on its way into the object. */
interface Parameter {
  /** As written, for messages. */
  readonly name: string
  readonly value: string
  /** Parts of the name that are still to be followed. */
  readonly tokens: readonly string[]
}

/** Puts parameters where the schema has a place for them. */
class QueryReader {
  readonly #shapes: Shapes
  readonly #caseInsensitive: boolean
  readonly #lists = new Map<unknown[], List>()
  readonly #unique = new Set<unknown[]>()

  constructor(shapes: Shapes, caseInsensitive: boolean) {
    this.#shapes = shapes
    this.#caseInsensitive = caseInsensitive
  }

  fill(target: Record<string, unknown>, shape: Shape, parameter: Parameter): void {
    if (shape.kind !== 'object' && shape.kind !== 'map') return
    const [token = '', ...tokens] = parameter.tokens
    const declared = shape.kind === 'object' ? this.#declaredName(shape.properties, token) : undefined
    if (declared === undefined && REFUSED_KEYS.has(token)) throw refuse(parameter.name, 'is a name that is never read')
    const schema = declared === undefined || shape.kind !== 'object' ? shape.values : shape.properties[declared]
    if (schema !== undefined) this.#fillMember({ target, name: declared ?? token }, this.#shapes.of(schema), { ...parameter, tokens })
    // A map without a schema for its values holds texts; a bean ignores what it does not know.
    else if (shape.kind === 'map' && tokens.length === 0) setOwn(target, token, parameter.value)
  }

  /** Takes out what stands twice in lists whose items are unique. */
  finish(): void {
    for (const list of this.#unique) removeDuplicates(list)
  }

  #fillMember({ target, name }: { readonly target: Record<string, unknown>; readonly name: string }, shape: Shape, parameter: Parameter): void {
    if (shape.kind === 'scalar') {
      if (parameter.tokens.length === 0) setOwn(target, name, toScalar(parameter, shape.type))
    } else if (shape.kind === 'array') {
      const list = ownValue(target, name, (): unknown[] => [])
      if (shape.unique) this.#unique.add(list)
      this.#fillList(list, shape.items, parameter)
    } else {
      const nested = ownValue(target, name, (): Record<string, unknown> => ({}))
      if (parameter.tokens.length > 0) this.fill(nested, shape, parameter)
    }
  }

  #fillList(list: unknown[], items: JsonSchema | undefined, parameter: Parameter): void {
    const shape = items === undefined ? undefined : this.#shapes.of(items)
    if (shape === undefined || shape.kind === 'scalar') {
      list.push(shape === undefined ? parameter.value : toScalar(parameter, shape.type))
      return
    }
    const [id, ...tokens] = parameter.tokens
    // Lists of lists have no spelling in a query.
    if (id === undefined || shape.kind === 'array') return
    if (REFUSED_KEYS.has(id)) throw refuse(parameter.name, 'is a name that is never read')
    const element = this.#elementOf(list, id)
    if (tokens.length > 0) this.fill(element, shape, { ...parameter, tokens })
  }

  #elementOf(list: unknown[], id: string): Record<string, unknown> {
    const known = this.#lists.get(list) ?? { items: list, byId: new Map<string, Record<string, unknown>>() }
    this.#lists.set(list, known)
    const found = known.byId.get(id)
    if (found !== undefined) return found
    const element = {}
    known.byId.set(id, element)
    list.push(element)
    return element
  }

  #declaredName(properties: Readonly<Record<string, unknown>>, name: string): string | undefined {
    if (this.#caseInsensitive) return findName(properties, name)
    return Object.hasOwn(properties, name) ? name : undefined
  }
}

function toScalar({ name, value: text }: Parameter, type: 'string' | 'integer' | 'number' | 'boolean'): string | number | boolean {
  switch (type) {
    case 'string': return text
    // Anything but true is false, as in Funqy.
    case 'boolean': return text.toLowerCase() === 'true'
    case 'integer': {
      const value = INTEGER.test(text) ? Number(text) : Number.NaN
      if (!Number.isSafeInteger(value)) throw refuse(name, 'is not an integer that can be read; write digits, up to 2^53−1')
      return value
    }
    case 'number': {
      const value = NUMBER.test(text) ? Number(text.replace(/[fFdD]$/, '')) : Number.NaN
      if (!Number.isFinite(value)) throw refuse(name, 'is not a finite number in decimal or exponent form')
      return value
    }
  }
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
