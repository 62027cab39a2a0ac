import { isJsonObject, setOwn, type Json, type JsonObject } from '../common/index.ts'
import { DefinitionError } from '../errors/index.ts'
import type { ParsedDocument } from './parse.ts'

/** Where documents that a schema refers to are put inside it. */
const BUNDLED = '$bundled'
/** Keywords whose values are data: a `$ref` in them is a key like others. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Most documents that one schema may be spread over. */
const MAX_DOCUMENTS = 64

type Read = (reference: string, base: string) => Promise<ParsedDocument>

/** A document that is being rewritten. */
interface Place {
  readonly uri: string
  /** What references into the document begin with. */
  readonly prefix: string
  readonly bundle: Bundle
}

interface Bundle {
  readonly read: Read
  /** Prefix of references into each document, by its address; the root's is `#`. */
  readonly prefixes: Map<string, string>
  readonly documents: Map<string, Json>
}

/**
 * Brings the documents that a JSON Schema refers to into it, so that it stands alone (S299).
 *
 * References to other files become references into `$bundled`. References to `http(s):` documents that declare a
 * JSON Schema draft are
 * left to the validator.
 *
 * @returns the schema; not an object when `schema` is none
 */
export async function bundleSchema(schema: Json, uri: string, read: Read): Promise<Json> {
  if (!isJsonObject(schema)) return schema
  const bundle: Bundle = { read, prefixes: new Map([[uri, '#']]), documents: new Map() }
  const root = await rewrite(schema, { uri, prefix: '#', bundle })
  return bundle.documents.size === 0 || !isJsonObject(root) ? root : { ...root, [BUNDLED]: Object.fromEntries(bundle.documents) }
}

async function rewrite(value: Json, place: Place): Promise<Json> {
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value as readonly Json[]) items.push(await rewrite(item, place))
    return items
  }
  if (!isJsonObject(value)) return value
  const result: Record<string, Json> = {}
  for (const [key, child] of Object.entries(value)) {
    const isReference = key === '$ref' && typeof child === 'string'
    setOwn(result, key, isReference ? await rewriteReference(child, place) : DATA.has(key) ? child : await rewrite(child, place))
  }
  return result
}

async function rewriteReference(reference: string, { uri, prefix, bundle }: Place): Promise<string> {
  const hash = reference.indexOf('#')
  const file = hash < 0 ? reference : reference.slice(0, hash)
  const fragment = hash < 0 ? '' : reference.slice(hash + 1)
  if (/^https?:\/\/json-schema\.org\//.test(file)) return reference
  const target = file === '' ? prefix : await include(file, uri, bundle)
  // A named anchor stands for itself; only pointers are relative to the document.
  if (fragment !== '' && !fragment.startsWith('/')) return reference
  return target + fragment
}

async function include(file: string, base: string, bundle: Bundle): Promise<string> {
  const parsed = await bundle.read(file, base)
  const known = bundle.prefixes.get(parsed.uri)
  if (known !== undefined) return known
  if (bundle.documents.size >= MAX_DOCUMENTS) {
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The schema refers to more than ${String(MAX_DOCUMENTS)} documents` })
  }
  const name = `document-${String(bundle.documents.size + 1)}`
  const prefix = `#/${BUNDLED}/${name}`
  bundle.prefixes.set(parsed.uri, prefix)
  // Takes its place before its own references are followed: they may come back here.
  bundle.documents.set(name, true)
  const content = await rewrite(parsed.value, { uri: parsed.uri, prefix, bundle })
  bundle.documents.set(name, withoutIdentity(content))
  return prefix
}

// An embedded `$id` would change what its inner references are relative to.
function withoutIdentity(schema: Json): Json {
  if (!isJsonObject(schema)) return schema
  const { $id: _id, id: _oldId, $schema: _draft, ...rest } = schema as JsonObject & Record<'$id' | 'id' | '$schema', Json>
  return rest
}
