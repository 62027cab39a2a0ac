import { copyObject, isJsonObject, setOwn, type Json } from '../common/index.ts'
import type { Profile, Target } from './evaluator.ts'
import { ProgramFailure } from './language.ts'
import { mergeAt, mergeResult } from './merge.ts'

type Keys = readonly (string | number)[]

/** Makes the target that a plain path names; the empty path is the whole document. */
export function pathTarget(keys: Keys, profile: Profile): Target {
  if (keys.length === 0) {
    return { read: (document) => document, put: (_document, value) => value, merge: (document, value) => mergeResult(document, value, profile) }
  }
  const read = (document: Json): Json | undefined => keys.reduce<Json | undefined>(member, document)
  return {
    read,
    put: (document, value) => put(document, keys, 0, value),
    merge: (document, value) => {
      const merged = mergeAt(read(document), value, profile)
      return merged === undefined ? document : put(document, keys, 0, merged)
    },
  }
}

/**
 * Makes the target of an expression that is no plain path: what it selects is collected, and written to its last name
 * at the root of the document.
 */
export function namedTarget(name: string, select: (document: Json) => Json, profile: Profile): Target {
  return {
    read: select,
    put: (document, value) => put(document, [name], 0, value),
    merge: (document, value) => {
      const merged = mergeAt(select(document), value, profile)
      return merged === undefined ? document : put(document, [name], 0, merged)
    },
  }
}

function member(container: Json | undefined, key: string | number): Json | undefined {
  if (typeof key === 'number') return Array.isArray(container) ? (container as readonly Json[]).at(key) : undefined
  return isJsonObject(container) && Object.hasOwn(container, key) ? container[key] : undefined
}

function put(container: Json | undefined, keys: Keys, depth: number, value: Json): Json {
  const key = keys[depth]
  if (key === undefined) return value
  const inner = put(member(container, key), keys, depth + 1, value)
  if (typeof key === 'number') {
    const items = Array.isArray(container) ? [...(container as readonly Json[])] : []
    const index = key < 0 ? items.length + key : key
    if (index < 0) throw new ProgramFailure('failed', `the list has no element ${key}`)
    while (items.length < index) items.push(null)
    items[index] = inner
    return items
  }
  if (Array.isArray(container)) throw new ProgramFailure('failed', `cannot put ${JSON.stringify(key)} into a list`)
  const copy = isJsonObject(container) ? copyObject(container) : {}
  setOwn(copy, key, inner)
  return copy as Json
}
