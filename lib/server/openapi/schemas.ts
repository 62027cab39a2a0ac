import { copyObject, isJsonObject, setOwn, toPointer, type Json, type JsonObject } from '../../common/index.ts'

/** Keywords whose members are schemas by name. */
const MAPS = new Set(['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'])
/** Keywords whose value is a list of schemas. */
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
/** Keywords whose value is a schema. */
const SINGLE = new Set(['items', 'additionalItems', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'])

/**
 * Rewrites a schema of any draft to 2020-12, the dialect of OpenAPI 3.1, for a place inside another document.
 *
 * References into the schema itself are turned to `base`, the pointer of that place; `$schema` and `id` go, since they would say
 * otherwise. Draft-04 booleans, tuples and `dependencies` get their present form (JSON Schema 2020-12, release notes).
 */
export function toDialect(schema: JsonObject | boolean, base: string): JsonObject | boolean {
  return rewrite(schema, base) as JsonObject | boolean
}

function rewrite(schema: Json, base: string): Json {
  if (!isJsonObject(schema)) return schema
  const result: Record<string, Json> = {}
  for (const key of Object.keys(schema)) {
    const value = schema[key] as Json
    if (key === '$schema' || key === 'id' || key === '$id') continue
    if (key === '$ref' && typeof value === 'string') setOwn(result, key, reference(value, base))
    else if (key === 'definitions') result['$defs'] = rewriteMap(value, base)
    else if (key === 'dependencies') Object.assign(result, dependencies(value, base))
    else if (MAPS.has(key)) result[key] = rewriteMap(value, base)
    else if (LISTS.has(key) && Array.isArray(value)) result[key] = value.map((item: Json) => rewrite(item, base))
    else if (key === 'items' && Array.isArray(value)) result['prefixItems'] = value.map((item: Json) => rewrite(item, base))
    else if (key === 'additionalItems') { if (Array.isArray(schema['items'])) result['items'] = rewrite(value, base) }
    else if (SINGLE.has(key)) result[key] = rewrite(value, base)
    else setOwn(result, key, value)
  }
  return exclusive(result)
}

function rewriteMap(value: Json, base: string): Json {
  if (!isJsonObject(value)) return {}
  const result = copyObject({})
  for (const key of Object.keys(value)) setOwn(result, key, rewrite(value[key] as Json, base))
  return result as JsonObject
}

function reference(target: string, base: string): string {
  if (!target.startsWith('#')) return target
  const pointer = target.slice(1).replace(/^\/definitions(?=\/|$)/, '/$defs').replaceAll('/definitions/', '/$defs/')
  return base + pointer
}

function dependencies(value: Json, base: string): Record<string, Json> {
  const required: Record<string, Json> = {}
  const schemas: Record<string, Json> = {}
  if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const dependency = value[key] as Json
      setOwn(Array.isArray(dependency) ? required : schemas, key, Array.isArray(dependency) ? dependency : rewrite(dependency, base))
    }
  }
  return {
    ...(Object.keys(required).length === 0 ? {} : { dependentRequired: required }),
    ...(Object.keys(schemas).length === 0 ? {} : { dependentSchemas: schemas }),
  }
}

// Draft-04: a flag beside the limit; since draft-06 the limit itself.
function exclusive(schema: Record<string, Json>): Record<string, Json> {
  let result = schema
  for (const [flag, limit] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
    const { [flag]: isExclusive, [limit]: bound, ...rest } = result
    if (typeof isExclusive !== 'boolean') continue
    if (bound === undefined) result = rest
    else result = { ...rest, [isExclusive ? flag : limit]: bound }
  }
  return result
}

/** Named schemas of a document; equal names get a number. */
export class SchemaNames {
  readonly schemas: Record<string, Json> = {}

  /** Adds a schema under its title, else under `fallback`, and gives the reference to it. */
  add(schema: JsonObject | boolean, fallback: string): JsonObject {
    const title = isJsonObject(schema) && typeof schema['title'] === 'string' ? schema['title'].trim() : ''
    const wanted = toComponentName(title === '' ? fallback : title)
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}_${String(number)}`
      const pointer = `#${toPointer(['components', 'schemas', name])}`
      const rewritten = toDialect(schema, pointer)
      const present = this.schemas[name]
      if (present !== undefined && JSON.stringify(present) !== JSON.stringify(rewritten)) continue
      setOwn(this.schemas, name, rewritten)
      return { $ref: encodeReference(pointer) }
    }
  }
}

// A reference is a URI: blanks in a name have to be encoded in it.
function encodeReference(pointer: string): string {
  return encodeURI(pointer)
}

// OpenAPI 3.1 allows ^[a-zA-Z0-9._-]+$; blanks are kept for callers that know the title of SonataFlow documents.
function toComponentName(text: string): string {
  return text.replace(/[^A-Za-z0-9._ -]/g, '_').slice(0, 200)
}
