import { isJsonObject, toPointer, type Json, type JsonObject } from '../common/index.ts'
import { DefinitionError, type Violation } from '../errors/index.ts'
import { parseDocument, type ParsedDocument } from './parse.ts'
import { bundleSchema } from './schema-bundle.ts'

/** Text of a referenced document, with the address it was found at. */
export interface Resource {
  readonly uri: string
  readonly text: string
}

/**
 * Finds a referenced document.
 *
 * Rejects with an error whose message says where was looked.
 */
export type ResourceReader = (reference: string, base: string) => Promise<Resource>

/** A document whose external references are written in. */
export interface ResolvedDocument {
  readonly document: JsonObject
  /** For each place that came from another file: that file, and the pointer inside it. */
  readonly origins: ReadonlyMap<string, { readonly parsed: ParsedDocument; readonly pointer: string }>
  /** Text of each file that was read, by address. */
  readonly resources: Readonly<Record<string, string>>
  readonly violations: readonly Violation[]
}

/** Parts that are a list, or the URI of a document that wraps the list under the same name (S293, S295). */
const LISTS = ['functions', 'events', 'retries', 'errors', 'auth', 'secrets'] as const
/** Parts that are an object, or the URI of one. */
const OBJECTS = ['timeouts', 'constants'] as const

interface Resolution {
  readonly base: string
  readonly read: (reference: string, base: string) => Promise<ParsedDocument>
  readonly document: Record<string, Json>
  readonly origins: Map<string, { parsed: ParsedDocument; pointer: string }>
  readonly violations: Violation[]
}

/**
 * Replaces the external references of a document by what they refer to (S293–S300), data schemas included.
 *
 * A reference that cannot be read is a violation, not an exception: all of them are told at once.
 */
export async function resolveReferences(document: JsonObject, base: string, reader: ResourceReader): Promise<ResolvedDocument> {
  const resources: Record<string, string> = {}
  const parsed = new Map<string, ParsedDocument>()
  const resolution: Resolution = {
    base,
    document: { ...document },
    origins: new Map(),
    violations: [],
    async read(reference, from) {
      const { uri, text } = await reader(reference, from)
      const known = parsed.get(uri) ?? parseDocument(text, { uri })
      parsed.set(uri, known)
      resources[uri] = text
      return known
    },
  }
  for (const name of [...LISTS, ...OBJECTS]) await resolvePart(resolution, name)
  await resolveSchemas(resolution)
  return { document: resolution.document, origins: resolution.origins, resources, violations: resolution.violations }
}

async function resolvePart(resolution: Resolution, name: string): Promise<void> {
  const reference = resolution.document[name]
  if (typeof reference !== 'string') return
  const pointer = toPointer([name])
  const parsed = await attempt(resolution, pointer, () => resolution.read(reference.trim(), resolution.base))
  if (parsed === undefined) return
  const isList = (LISTS as readonly string[]).includes(name)
  const { value, pointer: place } = unwrap(parsed.value, name)
  if (isList ? !Array.isArray(value) : !isJsonObject(value)) {
    resolution.violations.push({
      pointer,
      message: `${parsed.uri} holds no ${isList ? 'list' : 'object'} of ${name}`,
      hint: isList ? `write {"${name}": […]} there` : 'write an object there',
    })
    resolution.document[name] = isList ? [] : {}
    return
  }
  resolution.document[name] = value
  resolution.origins.set(pointer, { parsed, pointer: place })
}

/** Takes the part out of the object that wraps it under its own name (S295). */
function unwrap(content: Json, name: string): { readonly value: Json; readonly pointer: string } {
  const wrapped = isJsonObject(content) ? content[name] : undefined
  // A document of constants is the object itself (S296); a constant may be called `constants`.
  const isWrapper = isJsonObject(content) && wrapped !== undefined && (name !== 'constants' || Object.keys(content).length === 1)
  return isWrapper ? { value: wrapped, pointer: toPointer([name]) } : { value: content, pointer: '' }
}

interface PlacedSchema {
  readonly value: Json | undefined
  readonly pointer: string
}

async function resolveSchemas(resolution: Resolution): Promise<void> {
  await resolveSchema(resolution, 'dataInputSchema', { value: resolution.document['dataInputSchema'], pointer: '/dataInputSchema' })
  await resolveSchema(resolution, 'dataOutputSchema', outputSchemaOf(resolution.document))
}

/**
 * Finds the schema of the workflow data output: SonataFlow's extension `workflow-output-schema`, or a property
 * `dataOutputSchema`.
 */
function outputSchemaOf(document: JsonObject): PlacedSchema {
  const extensions: readonly unknown[] = Array.isArray(document['extensions']) ? document['extensions'] : []
  const index = extensions.findIndex((extension) => isJsonObject(extension) && extension['extensionid'] === 'workflow-output-schema')
  const extension = extensions[index]
  if (!isJsonObject(extension)) return { value: document['dataOutputSchema'], pointer: '/dataOutputSchema' }
  const schema = extension['outputSchema']
  const pointer = toPointer(['extensions', index, 'outputSchema'])
  // A resolved document holds the schema in both places; the resolved one stays.
  if (isJsonObject(document['dataOutputSchema'])) return { value: document['dataOutputSchema'], pointer: '/dataOutputSchema' }
  return { value: isJsonObject(schema) && !('schema' in schema) ? { schema } : schema, pointer }
}

async function resolveSchema(resolution: Resolution, name: string, { value, pointer }: PlacedSchema): Promise<void> {
  if (value === undefined) return
  const properties: JsonObject = isJsonObject(value) ? value : { schema: value }
  const place = isJsonObject(value) ? `${pointer}/schema` : pointer
  const { schema } = properties
  const reference = typeof schema === 'string' ? schema.trim() : undefined
  const bundled = await attempt(resolution, place, async () => {
    const root = reference === undefined ? undefined : await resolution.read(reference, resolution.base)
    return bundleSchema(root?.value ?? schema ?? null, root?.uri ?? resolution.base, resolution.read)
  })
  resolution.document[name] = bundled === undefined
    ? { ...properties, schema: true }
    : { ...properties, schema: bundled, ...(reference === undefined ? {} : { uri: reference }) }
}

async function attempt<T>(resolution: Resolution, pointer: string, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const inner = error instanceof DefinitionError ? error.violations[0]?.hint : undefined
    resolution.violations.push({ pointer, message, hint: inner ?? 'correct the reference, or put the document there' })
    return undefined
  }
}
