import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { readDuration } from '../duration.ts'

/** What readers of one document share. */
export interface ReadContext {
  /** Resolved constants, for durations that name one. */
  readonly constants: JsonObject
  readonly profile: 'spec' | 'sonataflow'
  readonly branchData: 'shared' | 'isolated'
}

/** Reads a name or another text without expressions: trimmed; numbers and booleans as text. */
export function readName(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? value.trim() : undefined
}

/** Reads a text that may hold expressions: as the author wrote it. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? value : undefined
}

/** Reads a boolean, also as text (SonataFlow definitions write `"true"`). */
export function readFlag(value: unknown, fallback: boolean): boolean {
  if (value === true || value === false) return value
  return value === 'true' ? true : value === 'false' ? false : fallback
}

/** Reads a number, also as text; any other text stays: it is an expression. */
export function readNumberOrExpression(value: unknown): number | string | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  return isNumeric(value) ? Number(value) : value
}

/** Reads a number, also as text. */
export function readNumber(value: unknown): number | undefined {
  const number = readNumberOrExpression(value)
  return typeof number === 'number' ? number : undefined
}

/** Tells whether a text is a plain decimal number. */
export function isNumeric(text: string): boolean {
  return /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(text)
}

/** Reads one of a few words; anything else is the fallback. */
export function readWord<const Word extends string>(value: unknown, words: readonly Word[], fallback: NoInfer<Word>): Word {
  return words.find((word) => word === value) ?? fallback
}

/** Reads an object; `{}` when there is none. */
export function readObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Reads the objects of a list; none when there is no list. */
export function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Reads a list of names. */
export function readNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap((item: unknown) => readName(item) ?? []) : []
}

/** Reads a duration in milliseconds. */
export function readMilliseconds(value: unknown, context: ReadContext): number | undefined {
  return readDuration(value, context.constants)?.milliseconds
}

/** Reads data that is an object or an expression. */
export function readData(value: unknown): string | JsonObject | undefined {
  return typeof value === 'string' || isJsonObject(value) ? value : undefined
}

/** Reads any JSON value that is given. */
export function readJson(value: unknown): Json | undefined {
  return value === undefined ? undefined : (value as Json)
}

/**
 * Reads extension attributes; the list of objects that an example of the specification writes becomes one object
 * (S142).
 */
export function readContextAttributes(value: unknown): JsonObject {
  return Array.isArray(value) ? Object.assign({}, ...readObjects(value)) as JsonObject : readObject(value)
}
