import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { isJsonObject, type Json } from '../common/index.ts'
import { DefinitionError, type Violation } from '../errors/index.ts'
import { findDefinitionFiles, mayBeDefinition } from './find-files.ts'
import { readText, statusOf } from './io.ts'
import { lint } from './lint.ts'
import { toDefinition, type NormaliseOptions } from './normalise/to-definition.ts'
import { inDocumentOrder, invalid } from './invalid.ts'
import { MAX_DOCUMENT_LENGTH, parseDocument, type ParsedDocument } from './parse.ts'
import { createResourceReader, type ReadResourceOptions } from './read-resource.ts'
import { resolveReferences, type ResolvedDocument } from './resources.ts'
import { restoreNumberText } from './restore-text.ts'
import type { LoadFailure } from './catalogue.ts'
import { findPlace } from './source-places.ts'
import type { DefinitionSource, LintWarning, LoadedDefinition } from './types.ts'
import type { SemanticFinding } from './semantics/scope.ts'
import { findFaults } from './validate.ts'

/** How definitions are loaded. */
export interface LoadOptions extends NormaliseOptions, ReadResourceOptions {
  /** Language profile; `metadata.profile` of a definition goes first. */
  readonly profile: 'spec' | 'sonataflow'
  /** Namespaces of `custom` operations that the host has registered; others are warned about when this is given. */
  readonly functionTypes?: readonly string[]
  /** Refuses what is otherwise tolerated with a warning. @default false */
  readonly strict?: boolean
  /**
   * Finds faults that need more than the document, with their places: asked for a definition that is refused and can be read all the
   * same, so that an author sees everything at once. Parts that are wrong have their defaults.
   */
  readonly inspect?: (refused: LoadedDefinition) => readonly Violation[]
}

/** A definition file, or a document that is no file. */
export type DefinitionInput =
  | string
  | { readonly uri: string; readonly text: string }
  | { readonly uri: string; readonly document: Json }

/** What became of several files. */
export interface LoadResult {
  readonly loaded: readonly LoadedDefinition[]
  readonly failures: readonly LoadFailure[]
}

/**
 * Loads one definition: reads, resolves its external references, validates, normalises and lints it.
 *
 * @param input path of a JSON or YAML file, or its text or document with an address for messages
 * @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` when there is no such file, `DEFINITION_INVALID` with all
 * faults and their lines,
 * `DEFINITION_UNSUPPORTED` for what the runtime does not support
 */
export async function loadDefinition(input: DefinitionInput, options: LoadOptions): Promise<LoadedDefinition> {
  const { uri, text } = await readInput(input)
  const inline = typeof input === 'object' && 'document' in input
  const parsed = inline ? withoutPositions(parseDocument(text, { uri, format: 'json' })) : parseDocument(text, { uri })
  return loadParsed({ parsed, text, isGenerated: inline }, options)
}

/**
 * Loads all definitions among files and directories, in the order of their paths.
 *
 * Directories are searched for `*.sw.json|yaml|yml`, and for other `.json|.yaml|.yml` files that carry `id` and
 * `states`; hidden entries,
 * `node_modules` and `target` are skipped. A broken file is a failure and does not stop the others. Never throws.
 */
export async function loadDefinitions(paths: readonly string[], options: LoadOptions): Promise<LoadResult> {
  const loaded: LoadedDefinition[] = []
  const failures: LoadFailure[] = []
  for (const file of await findDefinitionFiles(paths)) {
    try {
      const { uri, text } = await readInput(file.path)
      if (!file.named && !mayBeDefinition(text)) continue
      const parsed = file.named ? parseDocument(text, { uri }) : parseQuietly(text, uri)
      if (parsed !== undefined) loaded.push(await loadParsed({ parsed, text, isGenerated: false }, options))
    } catch (error) {
      failures.push({ uri: file.path, error: toDefinitionError(error, file.path) })
    }
  }
  return { loaded, failures }
}

// A file that only looks like a definition may be anything: a template, another YAML dialect.
function parseQuietly(text: string, uri: string): ParsedDocument | undefined {
  try {
    const parsed = parseDocument(text, { uri })
    return isJsonObject(parsed.value) && ('id' in parsed.value || 'key' in parsed.value) && 'states' in parsed.value ? parsed : undefined
  } catch {
    return undefined
  }
}

interface Document {
  readonly parsed: ParsedDocument
  readonly text: string
  /** The text was made from a document: nobody has written its lines. */
  readonly isGenerated: boolean
}

async function loadParsed({ parsed, text, isGenerated }: Document, options: LoadOptions): Promise<LoadedDefinition> {
  if (!isJsonObject(parsed.value)) {
    throw invalid(
      parsed.uri,
      [{ pointer: '', line: 1, message: 'The document is not an object', hint: 'a definition is an object with id and states' }],
    )
  }
  const restored = restoreNumberText(parsed.value, parsed)
  const resolved = await resolveReferences(restored, parsed.uri, createResourceReader(options))
  const { findings, isReadable } = findFaults(resolved.document, options)
  const source = toSource(parsed, { text, resolved, isGenerated })
  if (resolved.violations.length > 0) throw refusal(parsed, resolved, { findings: [...resolved.violations, ...findings] })
  if (findings.length > 0) {
    const readable = isReadable && !findings.some(({ pointer }) => pointer === '/expressionLang')
    const more = readable ? options.inspect?.({ definition: toDefinition(resolved.document, options), source, warnings: [] }) : undefined
    throw refusal(parsed, resolved, { findings, ...(more === undefined ? {} : { more }) })
  }
  const definition = toDefinition(resolved.document, options)
  const warnings = lint(resolved.document, { ...options, original: parsed.value }).map((warning) => placedWarning(warning, parsed, resolved))
  const tolerated = options.strict === true ? warnings.filter((warning) => warning.rule.startsWith('tolerated-')) : []
  if (tolerated.length > 0) throw invalid(
    parsed.uri,
    tolerated.map((warning) => ({ ...warning, hint: 'strict loading tolerates nothing' })),
  )
  return { definition, source, warnings }
}

interface SourceParts {
  readonly text: string
  readonly resolved: ResolvedDocument
  readonly isGenerated: boolean
}

function toSource({ uri, format }: ParsedDocument, { text, resolved, isGenerated }: SourceParts): DefinitionSource {
  return {
    uri,
    format,
    text,
    hash: createHash('sha256').update(text).digest('hex'),
    resources: resolved.resources,
    ...(resolved.origins.size === 0 ? {} : { origins: originsOf(resolved) }),
    ...(isGenerated ? { generated: true } : {}),
  }
}

function originsOf({ origins }: ResolvedDocument): NonNullable<DefinitionSource['origins']> {
  return Object.fromEntries([...origins].map(([prefix, { parsed, pointer }]) => [prefix, { uri: parsed.uri, pointer }]))
}

interface Found {
  readonly findings: readonly SemanticFinding[]
  /** What else was found, with its places. */
  readonly more?: readonly Violation[]
}

function refusal(parsed: ParsedDocument, resolved: ResolvedDocument, { findings, more = [] }: Found): DefinitionError {
  const violations = findings.map(({ unsupported: _mark, ...violation }) => placed(violation, parsed, resolved))
  // A place that is wrong already is not told a second time for what it then fails to be.
  const others = more.filter(({ pointer }) => !findings.some((finding) => finding.pointer === pointer))
  const unsupported = others.length === 0 && findings.every((finding) => finding.unsupported === true)
  return invalid(parsed.uri, others.length === 0 ? violations : [...violations, ...others].sort(inDocumentOrder), { unsupported })
}

/** Adds the line; what came from another file is told with that file's name and line. */
function placed(found: Violation, parsed: ParsedDocument, resolved: ResolvedDocument): Violation {
  return { ...found, ...findPlace(parsed, resolved.origins, found.pointer) }
}

function placedWarning(found: LintWarning, parsed: ParsedDocument, resolved: ResolvedDocument): LintWarning {
  const { file, ...position } = findPlace(parsed, resolved.origins, found.pointer) ?? {}
  return { ...found, ...position, ...(file === undefined ? {} : { message: `${found.message} [in ${file}]` }) }
}

async function readInput(input: DefinitionInput): Promise<{ uri: string; text: string }> {
  if (typeof input === 'object') return { uri: input.uri, text: 'text' in input ? input.text : stringify(input.document, input.uri) }
  const uri = resolve(input)
  try {
    // A character takes at most four bytes; what is longer is refused before it fills the memory.
    const size = (await statusOf(uri))?.size ?? 0
    if (size > MAX_DOCUMENT_LENGTH * 4) throw invalid(
      uri,
      [{ pointer: '', message: `The file has ${String(size)} bytes`, hint: 'definitions are small; split it' }],
    )
    return { uri, text: await readText(uri) }
  } catch (error) {
    throw toDefinitionError(error, uri)
  }
}

function stringify(document: Json, uri: string): string {
  try {
    return JSON.stringify(document, undefined, 2)
  } catch (error) {
    throw toDefinitionError(error, uri)
  }
}

function withoutPositions(parsed: ParsedDocument): ParsedDocument {
  return { ...parsed, position: () => undefined, sourceText: () => undefined }
}

function toDefinitionError(error: unknown, uri: string): DefinitionError {
  if (error instanceof DefinitionError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const missing = error instanceof Error && 'code' in error
  return missing
    ? new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `${uri} cannot be read: ${reason}`, details: { uri }, cause: error })
    : invalid(uri, [{ pointer: '', message: `The document cannot be read: ${reason}` }], { cause: error })
}

