import { isJsonObject, setOwn, toPointer, type Json, type JsonObject } from '../common/index.ts'
import type { ParsedDocument } from './parse.ts'

/** Properties that are texts and look like numbers: `version: 1.0` in YAML is the text `1.0`, not the number 1. */
const TEXTS = new Set(['version', 'specVersion', 'code', 'contextAttributeValue'])
/** Data of the author, where a number is a number. */
const DATA = new Set(['data', 'constants', 'arguments', 'metadata', 'extensions', 'dataInputSchema'])

/** Gives texts that were written as numbers their digits back. */
export function restoreNumberText(document: JsonObject, parsed: ParsedDocument): JsonObject {
  return restore(document, [], parsed) as JsonObject
}

function restore(value: Json, path: readonly (string | number)[], parsed: ParsedDocument): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, index) => restore(item, [...path, index], parsed))
  if (!isJsonObject(value)) return value
  const result: Record<string, Json> = {}
  for (const [key, child] of Object.entries(value)) {
    if (typeof child === 'number' && TEXTS.has(key)) setOwn(result, key, parsed.sourceText(toPointer([...path, key])) ?? String(child))
    else setOwn(result, key, DATA.has(key) ? child : restore(child, [...path, key], parsed))
  }
  return result
}
