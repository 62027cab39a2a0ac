import { realpath } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { atPointer, isJsonObject, toPointer, type Json, type JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import { isJsonArray } from '../json-array.ts'
import { assertContained, assertRemote, type DocumentScope, type LocatedDocument } from './locate.ts'
import { parseDocumentText } from './parse.ts'
import { readDocument, type RemoteReader } from './read.ts'

const MAX_DOCUMENTS = 64
const MAX_REFERENCES = 20_000
const CLOSURE = 'x-sonatina-closure'
/** Below these a `$ref` is data of the author, not a reference. */
const OPAQUE = new Set(['example', 'default', 'enum', 'const'])

/** A document with all that it refers to, in one. */
export interface Bundle {
  readonly located: LocatedDocument
  /** References are internal; other documents of the closure stand under `x-sonatina-closure`. */
  readonly document: JsonObject
  /** Every document of the closure: address to text. */
  readonly texts: ReadonlyMap<string, string>
}

interface Loaded {
  readonly uri: string
  readonly name: string
  readonly document: JsonObject
  /** Pointer of the document inside the bundle. */
  readonly at: string
}

/**
 * Reads a document and everything its `$ref`s name, and rewrites all references to internal ones (openapi-functions.md §1).
 *
 * Done before swagger-client resolves: its own loaders read no files, and for OpenAPI 3.1 take no other loader.
 *
 * @throws {@link DefinitionError} naming document, JSON pointer and reference: outside the project, remote, missing, to itself, too many
 */
export async function bundleDocument(located: LocatedDocument, scope: DocumentScope, readRemote: RemoteReader): Promise<Bundle> {
  const texts = new Map<string, string>()
  const loaded = new Map<string, Loaded>()
  const pending: Loaded[] = []
  let references = 0

  const load = async (uri: string, name: string, at: string): Promise<Loaded> => {
    const text = await readDocument({ uri, name }, readRemote)
    texts.set(uri, text)
    const entry: Loaded = { uri, name, document: parseDocumentText(text, name), at }
    loaded.set(uri, entry)
    pending.push(entry)
    return entry
  }

  const target = async (from: Loaded, { reference, pointer }: FoundReference): Promise<Loaded> => {
    const [address] = split(reference)
    if (address === '') return from
    const uri = await resolveAddress(address, { from, pointer, scope })
    const known = loaded.get(uri)
    if (known !== undefined) return known
    if (loaded.size >= MAX_DOCUMENTS) throw fault(from, pointer, `more than ${String(MAX_DOCUMENTS)} documents in all`)
    const key = String(loaded.size)
    const read = await load(uri, address, toPointer([CLOSURE, key]))
    closure[key] = read.document
    return read
  }

  const closure: Record<string, JsonObject> = {}
  const root = await load(located.uri, located.name, '')
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    for (const found of referencesOf(entry.document)) {
      references += 1
      if (references > MAX_REFERENCES) throw fault(entry, found.pointer, `more than ${String(MAX_REFERENCES)} references in all`)
      const to = await target(entry, found)
      found.holder['$ref'] = `#${to.at}${pointerOf(to, entry, found)}`
    }
  }
  const document = Object.keys(closure).length === 0 ? root.document : { ...root.document, [CLOSURE]: closure }
  assertNoLoops(document, located.name)
  return { located, document, texts }
}

interface FoundReference {
  readonly holder: Record<string, Json>
  readonly reference: string
  readonly pointer: string
}

function referencesOf(document: JsonObject): FoundReference[] {
  const found: FoundReference[] = []
  const walk = (value: Json, tokens: readonly string[]): void => {
    if (isJsonArray(value)) {
      value.forEach((item, index) => { walk(item, [...tokens, String(index)]) })
      return
    }
    if (!isJsonObject(value)) return
    if (typeof value['$ref'] === 'string') found.push({ holder: value, reference: value['$ref'], pointer: toPointer(tokens) })
    for (const key of Object.keys(value)) if (!isOpaque(key, tokens)) walk(value[key] as Json, [...tokens, key])
  }
  walk(document, [])
  return found
}

/** Names of schemas and properties are free: `example` is opaque only where it is a keyword. */
function isOpaque(key: string, tokens: readonly string[]): boolean {
  if (tokens.length === 0 && key.startsWith('x-')) return key !== CLOSURE
  const parent = tokens.at(-1)
  const named = parent === 'properties' || parent === 'schemas' || parent === 'definitions' || parent === 'parameters' || parent === 'patternProperties'
  return OPAQUE.has(key) && !named
}

async function resolveAddress(address: string, { from, pointer, scope }: { readonly from: Loaded; readonly pointer: string; readonly scope: DocumentScope }): Promise<string> {
  if (/^https?:/i.test(address) || !from.uri.startsWith('file:')) {
    const uri = absolute(address, from, pointer)
    if (!/^https?:/i.test(uri)) throw fault(from, pointer, `a remote document may not refer to the file "${address}"`)
    try {
      assertRemote(uri, scope)
    } catch (error) {
      throw fault(from, pointer, error instanceof Error ? error.message : String(error))
    }
    return uri
  }
  const uri = absolute(address, from, pointer)
  if (!uri.startsWith('file:')) throw fault(from, pointer, `the reference "${address}" has a scheme that is not read`)
  const real = await realpath(toPath(uri, from, pointer)).catch(() => undefined)
  if (real === undefined) throw fault(from, pointer, `the reference "${address}" leads to a file that does not exist`)
  try {
    await assertContained(real, address, scope)
  } catch (error) {
    throw fault(from, pointer, error instanceof Error ? error.message : String(error))
  }
  return pathToFileURL(real).href
}

function toPath(uri: string, from: Loaded, pointer: string): string {
  try {
    return fileURLToPath(uri)
  } catch {
    throw fault(from, pointer, `the reference "${uri}" names a host, or has a slash that is encoded; write a path`)
  }
}

function absolute(address: string, from: Loaded, pointer: string): string {
  try {
    return new URL(address, from.uri).href
  } catch {
    throw fault(from, pointer, `the reference "${address}" is not an address`)
  }
}

/** Gives the pointer that a fragment means in a document: a pointer itself, or an `$anchor` (JSON Schema 2020-12). */
function pointerOf(target: Loaded, from: Loaded, { reference, pointer }: FoundReference): string {
  const [, fragment] = split(reference)
  if (fragment === '') return ''
  const decoded = decodeFragment(fragment)
  const anchored = decoded.startsWith('/') ? undefined : anchorOf(target.document, decoded)
  if (atPointer(target.document, anchored ?? decoded) === undefined) throw fault(from, pointer, `the reference "${reference}" leads to nothing`)
  // The fragment stays encoded as the author wrote it: whoever follows the reference decodes it once.
  return anchored ?? fragment
}

function anchorOf(document: JsonObject, anchor: string): string | undefined {
  const search = (value: Json, tokens: readonly string[]): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    if (isJsonObject(value) && (value['$anchor'] === anchor || value['$dynamicAnchor'] === anchor)) return toPointer(tokens)
    for (const [key, child] of Object.entries(value)) {
      const found = search(child, [...tokens, key])
      if (found !== undefined) return found
    }
    return undefined
  }
  return search(document, [])
}

/** Refuses references that lead only to each other: there is nothing at the end of them. */
function assertNoLoops(document: JsonObject, name: string): void {
  for (const { reference, pointer } of referencesOf(document)) {
    const seen = new Set([pointer])
    let next = decodeFragment(reference.slice(1))
    for (;;) {
      if (seen.has(next)) throw fault({ name }, pointer, `the reference "${reference}" leads back to itself`)
      seen.add(next)
      const value = atPointer(document, next)
      if (!isJsonObject(value) || typeof value['$ref'] !== 'string') break
      next = decodeFragment(value['$ref'].slice(1))
    }
  }
}

function split(reference: string): [address: string, fragment: string] {
  const at = reference.indexOf('#')
  return at < 0 ? [reference, ''] : [reference.slice(0, at), reference.slice(at + 1)]
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function fault(document: { readonly name: string }, pointer: string, message: string): DefinitionError {
  return new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `Document "${document.name}" at ${pointer === '' ? 'the top' : pointer}: ${message}`,
    violations: [{ pointer, message }],
  })
}
