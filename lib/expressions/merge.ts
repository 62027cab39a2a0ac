import { copyObject, isJsonObject, jsonEquals, setOwn, type Json, type JsonObject } from '../common/index.ts'
import type { Profile } from './evaluator.ts'

/**
 * Merges the result of an action or the payload of an event into workflow data (S156–S162, reading A01).
 *
 * Objects merge deeply and the result wins; an array over an array replaces it (`sonataflow`) or is appended without
 * duplicates (`spec`, S158); a scalar or array into object data becomes property `response`; anything else into array data
 * is appended when absent; a null result changes nothing; null data, and in `sonataflow` an empty object, is replaced; an
 * object over scalar data keeps the scalar under `_target`. Nothing is changed in place.
 */
export function mergeResult(data: Json | undefined, result: Json | undefined, profile: Profile): Json {
  if (result === undefined || result === null) return data ?? null
  if (data === undefined || data === null) return result
  if (isJsonObject(data)) {
    if (isJsonObject(result)) return mergeObjects(data, result, profile)
    if (profile === 'sonataflow' && Object.keys(data).length === 0) return result
    return { ...data, response: mergeValue(data['response'], result, profile) }
  }
  if (Array.isArray(data)) return mergeArray(data as readonly Json[], result, profile)
  return isJsonObject(result) ? { _target: data, ...result } : result
}

/**
 * Merges a result into what stands at a target such as `toStateData` (S151, expressions.md "Outputs").
 *
 * Like {@link mergeResult}, but a scalar at the target is replaced; `undefined` when nothing changes.
 */
export function mergeAt(current: Json | undefined, result: Json, profile: Profile): Json | undefined {
  if (result === null) return undefined
  if (isJsonObject(current) && isJsonObject(result)) return mergeObjects(current, result, profile)
  return Array.isArray(current) ? mergeArray(current as readonly Json[], result, profile) : result
}

/** Merges two objects deeply; the incoming one wins (S157). */
export function mergeObjects(target: JsonObject, incoming: JsonObject, profile: Profile): JsonObject {
  const merged = copyObject(target)
  for (const key of Object.keys(incoming)) {
    const value = incoming[key] as Json
    setOwn(merged, key, Object.hasOwn(target, key) ? mergeValue(target[key], value, profile) : value)
  }
  return merged as JsonObject
}

// Below the top level a value of another type replaces, but a scalar joins a list (A01).
function mergeValue(target: Json | undefined, incoming: Json, profile: Profile): Json {
  if (target === undefined || incoming === null) return incoming
  if (isJsonObject(incoming)) return isJsonObject(target) ? mergeObjects(target, incoming, profile) : incoming
  return Array.isArray(target) ? mergeArray(target as readonly Json[], incoming, profile) : incoming
}

function mergeArray(items: readonly Json[], incoming: Json, profile: Profile): Json {
  if (!Array.isArray(incoming)) return appendUnique(items, [incoming])
  return profile === 'sonataflow' ? incoming : appendUnique(items, incoming as readonly Json[])
}

function appendUnique(items: readonly Json[], incoming: readonly Json[]): readonly Json[] {
  const merged = [...items]
  // Scalars are found in a set; containers have to be compared one by one.
  const scalars = new Set(items.filter((item) => typeof item !== 'object' || item === null))
  for (const item of incoming) {
    const isScalar = typeof item !== 'object' || item === null
    if (isScalar ? scalars.has(item) : merged.some((present) => jsonEquals(present, item))) continue
    if (isScalar) scalars.add(item)
    merged.push(item)
  }
  return merged
}
