import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Document } from 'yaml'
import { fromPointer, isNestedDeeper, toPointer, type Json } from '../common/index.ts'
import { DefinitionError, type Violation } from '../errors/index.ts'
import { invalid } from './invalid.ts'
import { findJsonPositions, type JsonPositions } from './json-positions.ts'
import { findInScalar, type Notation } from './scalar-positions.ts'

// Read for the first text in YAML: many projects have JSON only.
let library: typeof Yaml | undefined
const yaml = (): typeof Yaml => library ??= createRequire(import.meta.url)('yaml') as typeof Yaml

/** Line and column in a text, both from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A character of a text value: the value, so that it can be compared, and an offset in it. */
export interface TextPlace {
  readonly text: string
  readonly offset: number
}

/** A JSON or YAML text, read. */
export interface ParsedDocument {
  readonly value: Json
  readonly format: 'json' | 'yaml'
  /** Address of the text, for messages. */
  readonly uri: string
  /**
   * Where the value at a JSON pointer stands, or a character of it; `undefined` when there is none. What cannot be followed into the
   * value, because the value is another or is written in a way that does not allow it, is told as the beginning of the value.
   */
  position(pointer: string, place?: TextPlace): Position | undefined
  /** The characters of the scalar at a JSON pointer, quotes included: `1.0` stays `1.0`. */
  sourceText(pointer: string): string | undefined
}

/** What `parseDocument` has to know. */
export interface ParseOptions {
  /** Address of the text, for messages. */
  readonly uri: string
  /** Notation; found out from the content when absent (S015). */
  readonly format?: 'json' | 'yaml'
}

/** Longest text that is read, in characters: the largest definition known has 200 thousand. */
export const MAX_DOCUMENT_LENGTH = 1024 * 1024
/** Deepest nesting that is read. */
const MAX_DOCUMENT_DEPTH = 200
/** Most syntax faults that are told at once: what follows the first few is rarely a fault of its own. */
const MAX_SYNTAX_FAULTS = 5
/** Most YAML aliases that one document may expand to. */
const MAX_ALIASES = 100

/**
 * Reads a JSON or YAML text (S015) and keeps the positions of its values.
 *
 * The notation is decided by content: a text that begins with `{` and is JSON is JSON, anything else is YAML 1.2.
 * Keys given twice, more
 * than 100 aliases, nesting beyond 200, texts over 1 Mi characters and numbers that JSON has not are refused;
 * `__proto__` is a key like others.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` with the line of each fault; nothing else, whatever the text.
 */
export function parseDocument(text: string, options: ParseOptions): ParsedDocument {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (content.length > MAX_DOCUMENT_LENGTH) {
    refuse(
      options.uri,
      { message: `The document has ${String(content.length)} characters`, hint: `at most ${String(MAX_DOCUMENT_LENGTH)} are read` },
    )
  }
  const nul = content.indexOf('\0')
  if (nul >= 0) {
    refuse(
      options.uri,
      { ...positionAt(content, nul), message: 'The document holds a NUL character', hint: 'save it as UTF-8 text' },
    )
  }
  return chooseFormat(content, options) === 'json' ? parseJson(content, options.uri) : parseYaml(content, options.uri)
}

function chooseFormat(text: string, options: ParseOptions): 'json' | 'yaml' {
  if (options.format !== undefined) return options.format
  if (!/^\s*[{[]/.test(text)) return /\.json$/i.test(options.uri) && text.trim() === '' ? 'json' : 'yaml'
  // A YAML file may begin with a flow mapping.
  return /\.ya?ml$/i.test(options.uri) && !isJson(text) ? 'yaml' : 'json'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parseJson(text: string, uri: string): ParsedDocument {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const at = /at position (\d+)/.exec(reason)?.[1]
    const position = positionAt(text, at === undefined ? text.length : Number(at))
    return refuse(
      uri,
      { ...position, message: `The text is not JSON: ${reason}`, hint: 'check commas, quotes and brackets just before this place' },
    )
  }
  // Pointers of an unlimited depth would be as long as the text, each of them.
  refuseDeepNesting(value, uri)
  let positions: JsonPositions | undefined
  const find = (): JsonPositions => (positions ??= findJsonPositions(text))
  const duplicates = find().duplicates.map((pointer): Violation => ({
    ...locate(find(), text, pointer),
    pointer,
    message: `The key "${fromPointer(pointer).at(-1) ?? ''}" is given twice`,
    hint: 'keep one of them',
  }))
  if (duplicates.length > 0) throw invalid(uri, duplicates)
  return {
    value,
    format: 'json',
    uri,
    position: (pointer, place) => locate(find(), text, pointer, place),
    sourceText: (pointer) => jsonScalar(find(), text, pointer),
  }
}

function locate(positions: JsonPositions, text: string, pointer: string, place?: TextPlace): Position | undefined {
  const offset = positions.offsets.get(pointer)
  if (offset === undefined) return undefined
  const source = place === undefined ? undefined : jsonScalar(positions, text, pointer)
  const within = place === undefined || source?.startsWith('"') !== true ? 0 : findInScalar(source, 'double-quoted', place.text, place.offset) ?? 0
  return positionAt(text, offset + within)
}

const JSON_SCALAR = /"(?:[^"\\]|\\.)*"|[^\s,\]}]+/y

function jsonScalar(positions: JsonPositions, text: string, pointer: string): string | undefined {
  const offset = positions.offsets.get(pointer)
  if (offset === undefined) return undefined
  JSON_SCALAR.lastIndex = offset
  return JSON_SCALAR.exec(text)?.[0]
}

function parseYaml(text: string, uri: string): ParsedDocument {
  if (isNestedDeeper(text, MAX_DOCUMENT_DEPTH)) refuseNesting(uri)
  const lines = new (yaml().LineCounter)()
  const toPosition = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  try {
    // The library compares each key with all others of its map; a set does not take minutes for 100 thousand keys.
    const document = yaml().parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error', uniqueKeys: false })
    if (document.errors.length > 0) {
      throw invalid(uri, document.errors.slice(0, MAX_SYNTAX_FAULTS).map((error) => ({
        pointer: '', ...toPosition(error.pos[0]), message: `The text is not YAML: ${error.message}`, hint: yamlHint(error.code),
      })))
    }
    const duplicates = findDuplicateKeys(document)
    if (duplicates.length > 0) {
      throw invalid(uri, duplicates.slice(0, MAX_SYNTAX_FAULTS).map(({ key, offset }) => ({
        pointer: '', ...toPosition(offset), message: `The key "${key}" is given twice`, hint: 'keep one of them',
      })))
    }
    const value = document.toJS({ maxAliasCount: MAX_ALIASES }) as Json
    refuseDeepNesting(value, uri)
    const position: ParsedDocument['position'] = (pointer, place) => {
      const node = findYamlNode(document, pointer)
      const offset = node?.range?.[0]
      return offset === undefined ? undefined : toPosition(offset + (place === undefined ? 0 : findInYaml(text, node, place)))
    }
    const wrong = findNonNumber(value)
    if (wrong !== undefined) {
      refuse(
        uri,
        { ...position(wrong), pointer: wrong, message: 'the number is infinite or none', hint: 'JSON has finite numbers only' },
      )
    }
    return {
      value,
      format: 'yaml',
      uri,
      position,
      sourceText: (pointer) => {
        const range = findYamlNode(document, pointer)?.range
        return range === undefined || range === null ? undefined : text.slice(range[0], range[1])
      },
    }
  } catch (error) {
    if (error instanceof DefinitionError) throw error
    // Alias bombs (ReferenceError) and nesting beyond the stack (RangeError) come from the library as bare errors.
    const reason = error instanceof Error ? error.message : String(error)
    return refuse(
      uri,
      { message: `The YAML cannot be read: ${reason}`, hint: 'use fewer aliases and less nesting' },
      error,
    )
  }
}

function findDuplicateKeys(document: Document): readonly { readonly key: string; readonly offset: number }[] {
  const duplicates: { key: string; offset: number }[] = []
  yaml().visit(document, {
    Map(_position, map) {
      const keys = new Set<string>()
      for (const { key } of map.items) {
        if (!yaml().isScalar(key)) continue
        const name = String(key.value)
        if (keys.has(name)) duplicates.push({ key: name, offset: key.range?.[0] ?? 0 })
        keys.add(name)
      }
    },
  })
  return duplicates
}

function yamlHint(code: string): string {
  if (code === 'MULTIPLE_DOCS') return 'one file holds one definition'
  if (code === 'TAB_AS_INDENT') return 'indent with blanks'
  return 'check the indentation and quotes of this line and the one before'
}

interface YamlNode {
  readonly range?: readonly [number, number, number] | null
}

function findYamlNode(document: Document, pointer: string): YamlNode | undefined {
  let node: unknown = document.contents
  for (const token of fromPointer(pointer)) {
    if (yaml().isAlias(node)) node = node.resolve(document)
    if (yaml().isMap(node)) {
      node = node.items.find((pair) => yaml().isScalar(pair.key) && String(pair.key.value) === token)?.value
    } else if (yaml().isSeq(node)) {
      node = node.items[Number(token)]
    } else {
      return undefined
    }
  }
  return typeof node === 'object' && node !== null ? node : undefined
}

const NOTATIONS: Readonly<Record<string, Notation>> = {
  PLAIN: 'plain', QUOTE_DOUBLE: 'double-quoted', QUOTE_SINGLE: 'single-quoted', BLOCK_LITERAL: 'block', BLOCK_FOLDED: 'block',
}

/** Gives how far from its beginning a character of a scalar stands; 0 where that cannot be told. */
function findInYaml(text: string, node: unknown, place: TextPlace): number {
  const notation = yaml().isScalar(node) ? NOTATIONS[node.type ?? ''] : undefined
  const range = yaml().isScalar(node) ? node.range : undefined
  if (notation === undefined || range === undefined || range === null) return 0
  return findInScalar(text.slice(range[0], range[1]), notation, place.text, place.offset) ?? 0
}

/** An explicit stack: recursion would end where the author likes. */
function refuseDeepNesting(document: Json, uri: string): void {
  const pending: { value: unknown; depth: number }[] = [{ value: document, depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth >= MAX_DOCUMENT_DEPTH) {
      refuseNesting(uri)
    }
    for (const child of Object.values(value)) pending.push({ value: child, depth: depth + 1 })
  }
}

function refuseNesting(uri: string): never {
  return refuse(uri, { message: `The document nests deeper than ${String(MAX_DOCUMENT_DEPTH)} levels`, hint: 'flatten it' })
}

/** Finds the first number that YAML has and JSON has not. */
function findNonNumber(value: unknown, pointer = ''): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : pointer
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, child] of Object.entries(value)) {
    const found = findNonNumber(child, pointer + toPointer([key]))
    if (found !== undefined) return found
  }
  return undefined
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

function refuse(uri: string, violation: Omit<Violation, 'pointer'> & { pointer?: string }, cause?: unknown): never {
  throw invalid(uri, [{ pointer: '', ...violation }], { cause })
}
