import { copyObject, isJsonObject, setOwn, type Json, type JsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'
import { typesOf } from './arguments.ts'

/** Changes an answer to the types of its schema. */
export type Coercion = (value: Json) => Json

// Deeper schemas than this are cyclic; what lies below is left as it came.
const MAX_DEPTH = 12

/**
 * Compiles how an answer is brought to the types that its schema states: a text that reads as the number or boolean asked for becomes
 * one. SonataFlow's generated clients read answers so, and its projects rely on it (language profile `sonataflow`).
 *
 * @returns `undefined` when the schema asks for nothing that a text could stand for
 */
export function compileCoercion(schema: Json | undefined, depth = 0): Coercion | undefined {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return undefined
  const own = compileScalar(schema) ?? compileArray(schema, depth) ?? compileObject(schema, depth)
  const parts = isJsonArray(schema['allOf']) ? schema['allOf'].flatMap((part) => compileCoercion(part, depth + 1) ?? []) : []
  const all = own === undefined ? parts : [own, ...parts]
  return all.length === 0 ? undefined : (value) => all.reduce((changed, coerce) => coerce(changed), value)
}

function compileScalar(schema: JsonObject): Coercion | undefined {
  const types = typesOf(schema)
  if (types === undefined || types.includes('string')) return undefined
  if (types.includes('number') || types.includes('integer')) return (value) => typeof value === 'string' ? toNumber(value) : value
  return types.includes('boolean') ? (value) => value === 'true' ? true : value === 'false' ? false : value : undefined
}

function compileArray(schema: JsonObject, depth: number): Coercion | undefined {
  const coerce = compileCoercion(schema['items'], depth + 1)
  return coerce === undefined ? undefined : (value) => isJsonArray(value) ? value.map(coerce) : value
}

function compileObject(schema: JsonObject, depth: number): Coercion | undefined {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const coercions = Object.keys(properties).flatMap((name) => {
    const coerce = compileCoercion(properties[name], depth + 1)
    return coerce === undefined ? [] : [[name, coerce] as const]
  })
  if (coercions.length === 0) return undefined
  return (value) => {
    if (!isJsonObject(value)) return value
    const changed = copyObject(value)
    for (const [name, coerce] of coercions) if (Object.hasOwn(value, name)) setOwn(changed, name, coerce(value[name] ?? null))
    return changed as JsonObject
  }
}

/** A text is a number when JSON would write it so; digits that a number cannot hold stay a text. */
function toNumber(text: string): Json {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text
  const number = Number(text)
  return Number.isFinite(number) && (Number.isSafeInteger(number) || !/^-?\d+$/.test(text)) ? number : text
}
