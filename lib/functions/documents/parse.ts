import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { isJsonObject, isNestedDeeper, type Json, type JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'

// Read for the first document in YAML: not every definition calls a described service.
let library: typeof Yaml | undefined
const yaml = (): typeof Yaml => library ??= createRequire(import.meta.url)('yaml') as typeof Yaml

/** Longest document that is read, bytes. */
export const MAX_DOCUMENT_SIZE = 10 * 1024 * 1024
const MAX_NESTING = 200
// Prose in descriptions leaves brackets open (intervals), so the bound on a text not yet parsed is wider.
const MAX_TEXT_NESTING = 400
// One alias that stands for many nodes, repeated, is how a small file becomes gigabytes.
const MAX_ALIASES = 100

/**
 * Parses a JSON or YAML 1.2 document; the content decides, not the file name.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` with document, line and reason
 */
export function parseDocumentText(text: string, name: string): JsonObject {
  const value = /^\s*\{/.test(text) ? parseJsonOrYaml(text, name) : parseYaml(text, name)
  if (!isJsonObject(value)) throw invalid(name, 'is not an object at the top')
  assertNesting(value, name)
  return value
}

function parseJsonOrYaml(text: string, name: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // A flow mapping of YAML begins with a brace too.
    return parseYaml(text, name)
  }
}

function parseYaml(text: string, name: string): Json {
  if (isNestedDeeper(text, MAX_TEXT_NESTING)) throw tooDeep(name)
  const document = yaml().parseDocument(text, { version: '1.2', prettyErrors: true })
  const [fault] = document.errors
  if (fault !== undefined) {
    const [position] = fault.linePos ?? []
    throw invalid(name, `${position === undefined ? '' : `line ${String(position.line)}, column ${String(position.col)}: `}${firstLine(fault.message)}`)
  }
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as Json
  } catch (error) {
    throw invalid(name, error instanceof Error ? error.message : 'cannot be read', error)
  }
}

/** Goes level by level: a document that nests deeper than the stack must not end the process. */
function assertNesting(value: Json, name: string): void {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) throw tooDeep(name)
    level = level.flatMap((item) => (Object.values(item as object) as unknown[]).filter((child) => typeof child === 'object' && child !== null))
  }
}

function tooDeep(name: string): DefinitionError {
  return invalid(name, `is nested deeper than ${String(MAX_NESTING)} levels`)
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '')
}

function invalid(name: string, reason: string, cause?: unknown): DefinitionError {
  return new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${name}": ${reason}`, ...(cause !== undefined && { cause }) })
}
