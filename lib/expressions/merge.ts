import { copyObject, isJsonObject, jsonEquals, setOwn, type Json, type JsonObject } from '../common/index.ts'
import type { Profile } from './evaluator.ts'

/**
 * Merges the result of an action or the payload of an event into workflow data (S156–S162, readings A01).
 *
 * Objects merge deeply and the result wins; an array over an array replaces it (`sonataflow`) or is appended without
 * duplicates (`spec`); a scalar or array into object data becomes property `response`; a null result changes nothing; null or
 * empty data is replaced; an object over scalar data keeps the scalar under `_target`. Nothing is changed in place.
 */
export function mergeResult(data: Json | undefined, result: Json | undefined, profile: Profile): Json {
  if (result === undefined || result === null) return data ?? null
  if (data === undefined || data === null) return result
  if (isJsonObject(data)) {
    if (isJsonObject(result)) return mergeObjects(data, result, profile)
    if (Object.keys(data).length === 0) return result
    return { ...data, response: mergeValue(data['response'], result, profile) }
  }
  if (Array.isArray(data)) return mergeValue(data, result, profile)
  return isJsonObject(result) ? { _target: data, ...result } : result
}

/** Merges two objects deeply; the incoming one wins. */
export function mergeObjects(target: JsonObject, incoming: JsonObject, profile: Profile): JsonObject {
  const merged = copyObject(target)
  for (const key of Object.keys(incoming)) {
    const value = incoming[key] as Json
    setOwn(merged, key, Object.hasOwn(target, key) ? mergeValue(target[key], value, profile) : value)
  }
  return merged as JsonObject
}

function mergeValue(target: Json | undefined, incoming: Json, profile: Profile): Json {
  if (target === undefined || incoming === null) return incoming
  if (isJsonObject(target) && isJsonObject(incoming)) return mergeObjects(target, incoming, profile)
  if (!Array.isArray(target)) return incoming
  const items = target as readonly Json[]
  if (!Array.isArray(incoming)) return isJsonObject(incoming) || items.some((item) => jsonEquals(item, incoming)) ? replaceOrKeep(items, incoming) : [...items, incoming]
  return profile === 'sonataflow' ? incoming : appendUnique(items, incoming as readonly Json[])
}

function replaceOrKeep(items: readonly Json[], incoming: Json): Json {
  return isJsonObject(incoming) ? incoming : items
}

function appendUnique(items: readonly Json[], incoming: readonly Json[]): readonly Json[] {
  const merged = [...items]
  for (const item of incoming) if (!merged.some((present) => jsonEquals(present, item))) merged.push(item)
  return merged
}
