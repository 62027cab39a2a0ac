import { LineCounter, parseAllDocuments, parseDocument, type Document, type ParsedNode } from 'yaml'
import { fromPointer, getOwn, isJsonObject, isNestedDeeper, type JsonObject } from '../common/index.ts'
import { TenancyError, type Violation } from '../errors/index.ts'

/** A fault of a document, with the document and file it is in. */
export interface DocumentViolation extends Violation {
  /** `namespace/name`, or `#3` for the third document of a file when it has no name. */
  readonly document: string
  readonly file?: string
}

/** One Kubernetes object as read from a file. */
export interface LoadedDocument {
  readonly value: JsonObject
  readonly file: string
  /** `namespace/name`, or `#3` for the third object of a file when it has no name. */
  readonly name: string
  /** Line of a JSON pointer in the file, from 1. */
  readonly line: (pointer: string) => number | undefined
}

/** What a text holds. */
export interface ParsedDocuments {
  readonly documents: readonly LoadedDocument[]
  readonly violations: readonly DocumentViolation[]
}

/** The longest text that is read, in characters: a cluster accepts no object above 1.5 MiB. */
export const LONGEST_TEXT = 4 * 1024 * 1024

/**
 * Parses YAML (JSON included) to Kubernetes objects: several documents in a text, and `List` kinds taken apart.
 *
 * Never throws: what cannot be read (syntax, duplicate keys, excessive aliases, binary, too long) is a violation.
 *
 * @param file name for messages
 */
export function parseDocuments(text: string, file: string): ParsedDocuments {
  const fault = faultOfText(text)
  if (fault !== undefined) return { documents: [], violations: [{ document: '#1', file, pointer: '', message: fault }] }
  const lines = new LineCounter()
  const documents: LoadedDocument[] = []
  const violations: DocumentViolation[] = []
  try {
    const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
    for (const [index, document] of ('empty' in parsed ? [] : parsed).entries()) {
      readDocument(document, { file, lines, position: `#${String(index + 1)}`, documents, violations })
    }
  } catch (error) {
    violations.push({ document: '#1', file, pointer: '', message: `the text cannot be read: ${messageOf(error)}` })
  }
  return { documents, violations }
}

function faultOfText(text: string): string | undefined {
  if (text.length > LONGEST_TEXT) return `the text is longer than ${String(LONGEST_TEXT)} characters`
  if (text.includes('\0')) return 'the text is binary'
  return isNestedDeeper(text, DEEPEST) ? `the text is nested deeper than ${String(DEEPEST)} levels` : undefined
}

// Policies are about ten levels deep.
const DEEPEST = 200

interface Reading {
  readonly file: string
  readonly lines: LineCounter
  readonly position: string
  readonly documents: LoadedDocument[]
  readonly violations: DocumentViolation[]
}

function readDocument(document: Document.Parsed, reading: Reading): void {
  const { file, lines, position, documents, violations } = reading
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0])
    violations.push({ document: position, file, pointer: '', line, column: col, message: error.message })
  }
  if (document.errors.length > 0) return
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    violations.push({ document: position, file, pointer: '', message: `the document cannot be read: ${messageOf(error)}` })
    return
  }
  if (value === null || value === undefined) return
  const line = (pointer: string): number | undefined => lineOf(document, lines, pointer)
  if (!isJsonObject(value)) {
    violations.push({ document: position, file, pointer: '', ...lineField(line('')), message: 'a Kubernetes object is expected here' })
    return
  }
  for (const [prefix, object] of objectsOf(value)) {
    if (!isJsonObject(object)) {
      violations.push({ document: position, file, pointer: prefix, ...lineField(line(prefix)), message: 'a Kubernetes object is expected here' })
    } else documents.push({ value: object, file, name: nameOf(object, position + prefix), line: (pointer) => line(prefix + pointer) })
  }
}

/** Takes a `List` apart; other objects stand for themselves. */
function objectsOf(value: JsonObject): [prefix: string, object: unknown][] {
  const items = value['items']
  if (typeof value['kind'] !== 'string' || !value['kind'].endsWith('List') || !Array.isArray(items)) return [['', value]]
  return items.map((item: unknown, index) => [`/items/${String(index)}`, item])
}

/** Names an object by namespace and name, also when it is malformed. */
export function nameOf(value: JsonObject, position: string): string {
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {}
  const name = metadata['name']
  const namespace = metadata['namespace']
  return typeof name === 'string' ? `${typeof namespace === 'string' ? namespace : 'default'}/${name}` : position
}

/** Finds the line of the deepest part of a pointer that the text has. */
function lineOf(document: Document.Parsed, lines: LineCounter, pointer: string): number | undefined {
  const path = fromPointer(pointer).map((token) => /^\d+$/.test(token) ? Number(token) : token)
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = typeof node === 'object' && node !== null ? (getOwn(node, 'range') as ParsedNode['range'] | null | undefined) : undefined
    if (range !== undefined && range !== null) return lines.linePos(range[0]).line
  }
  return undefined
}

function lineField(line: number | undefined): { line?: number } {
  return line === undefined ? {} : { line }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Parses a text that holds one YAML or JSON value, such as a tenants file.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` naming file, line and fault
 */
export function parseValue(text: string, file: string): unknown {
  const fault = faultOfText(text)
  if (fault !== undefined) throw unreadableText(file, fault)
  const lines = new LineCounter()
  let document: Document.Parsed
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  } catch (error) {
    throw unreadableText(file, messageOf(error))
  }
  const [error] = document.errors
  if (error !== undefined) throw unreadableText(`${file}:${String(lines.linePos(error.pos[0]).line)}`, error.message)
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw unreadableText(file, messageOf(cause))
  }
}

function unreadableText(place: string, fault: string): TenancyError {
  return new TenancyError({ code: 'TENANCY_INVALID', message: `${place}: ${fault}`, details: { place } })
}
