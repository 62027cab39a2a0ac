import { atPointer, getOwn, isJsonObject } from '../common/index.ts'
import type { JsonSchema } from './schema-types.ts'

/** What a schema describes, reduced to what reading a query and converting values need. */
export type Shape =
  | { readonly kind: 'scalar'; readonly type: 'string' | 'integer' | 'number' | 'boolean'; readonly base64: boolean }
  | { readonly kind: 'array'; readonly items: JsonSchema | undefined; readonly unique: boolean }
  | { readonly kind: 'object'; readonly properties: Readonly<Record<string, JsonSchema>>; readonly values: JsonSchema | undefined }
  | { readonly kind: 'map'; readonly values: JsonSchema | undefined }

/** Tells shapes of the schemas within one root schema, each computed once. */
export class Shapes {
  readonly #root: JsonSchema
  readonly #known = new WeakMap<JsonSchema, Shape>()

  constructor(root: JsonSchema) {
    this.#root = root
  }

  /** Tells the shape of a schema, following references inside the root. */
  of(schema: JsonSchema): Shape {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const shape = shapeOf(this.#resolve(schema))
    this.#known.set(schema, shape)
    return shape
  }

  #resolve(schema: JsonSchema): JsonSchema {
    let current = schema
    // A reference that leads back to itself is refused when the schema is compiled; this bound only ends the loop.
    for (let steps = 0; steps < 100 && typeof current['$ref'] === 'string'; steps++) {
      const target = atPointer(this.#root, decodeURIComponent(current['$ref'].slice(1)))
      if (!isJsonObject(target)) break
      current = target
    }
    return current
  }
}

function shapeOf(schema: JsonSchema): Shape {
  switch (typeOf(schema)) {
    case 'object': {
      const properties = schema['properties']
      const values = isJsonObject(schema['additionalProperties']) ? schema['additionalProperties'] : undefined
      if (!isJsonObject(properties)) return { kind: 'map', values }
      return { kind: 'object', properties: properties as Record<string, JsonSchema>, values }
    }
    case 'array': {
      const items = schema['items']
      return { kind: 'array', items: isJsonObject(items) ? items : undefined, unique: schema['uniqueItems'] === true }
    }
    case 'integer': return { kind: 'scalar', type: 'integer', base64: false }
    case 'number': return { kind: 'scalar', type: 'number', base64: false }
    case 'boolean': return { kind: 'scalar', type: 'boolean', base64: false }
    default: return { kind: 'scalar', type: 'string', base64: schema['contentEncoding'] === 'base64' }
  }
}

function typeOf(schema: JsonSchema): unknown {
  const type = schema['type']
  if (Array.isArray(type)) return (type as unknown[]).find((one) => one !== 'null')
  if (type !== undefined) return type
  if (schema['properties'] !== undefined || schema['additionalProperties'] !== undefined) return 'object'
  if (schema['items'] !== undefined) return 'array'
  const sample: unknown = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[])[0] : getOwn(schema, 'const')
  return typeof sample === 'number' ? 'number' : typeof sample
}
