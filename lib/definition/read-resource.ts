import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefinitionError } from '../errors/index.ts'
import { readText, realPathOf, statusOf } from './io.ts'
import { MAX_DOCUMENT_LENGTH } from './parse.ts'
import type { Resource, ResourceReader } from './resources.ts'

/** Where referenced documents may come from. */
export interface ReadResourceOptions {
  /** Project directory: searched after the directory of the definition, and no reference may leave it. */
  readonly root?: string
  /** Reads what the file system does not have: `http(s):` addresses and references unknown there. */
  readonly readResource?: (uri: string, base: string) => Promise<string>
}

/**
 * Creates the reader of referenced documents.
 *
 * Relative names are looked for beside the referring file, then in the project root, then in its
 * `src/main/resources`; `classpath:` and
 * `file:` likewise. `file://name.json` has the name in the host part and is relative (S298). `http(s):` needs
 * `readResource`.
 */
export function createResourceReader(options: ReadResourceOptions): ResourceReader {
  return async (reference, base) => {
    const path = toPath(reference)
    const tried: string[] = []
    if (path !== undefined) {
      for (const candidate of candidates(path, base, options.root)) {
        const found = await readLocal(candidate, options.root)
        if (found !== undefined) return found
        tried.push(candidate)
      }
    }
    if (options.readResource !== undefined) return { uri: toAbsolute(reference, base), text: await options.readResource(reference, base) }
    throw notFound(path === undefined
      ? `"${reference}" is remote, and remote documents are not read here`
      : `"${reference}" is not found; looked for ${tried.length === 0 ? 'nothing: the definition is no file and there is no project root' : tried.join(', ')}`)
  }
}

function notFound(message: string): DefinitionError {
  return new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message })
}

/** Gives the path that a reference names; `undefined` when it is not local. */
function toPath(reference: string): string | undefined {
  if (/^classpath:/i.test(reference)) return reference.replace(/^classpath:\/*/i, '')
  if (/^file:\/\/\//i.test(reference)) return toAbsolutePath(reference)
  if (/^file:/i.test(reference)) return reference.replace(/^file:(\/\/)?/i, '')
  return /^[a-z][a-z0-9+.-]+:/i.test(reference) ? undefined : reference
}

function toAbsolutePath(reference: string): string | undefined {
  try {
    return fileURLToPath(reference)
  } catch {
    return undefined
  }
}

function candidates(path: string, base: string, root: string | undefined): readonly string[] {
  if (path.includes('\0')) return []
  const place = /^file:\/\/\//i.test(base) ? toAbsolutePath(base) ?? base : base
  const directory = isAbsolute(place) ? [dirname(place)] : []
  const project = root === undefined ? [] : [resolve(root), join(resolve(root), 'src/main/resources')]
  // An absolute path is that file; `/schema.json` in a project often means its root.
  const absolute = isAbsolute(path) ? [path] : []
  return [...new Set([...absolute, ...[...directory, ...project].map((home) => join(home, path))])]
}

async function readLocal(path: string, root: string | undefined): Promise<Resource | undefined> {
  const status = await statusOf(path)
  if (status?.kind !== 'file') return undefined
  if (status.size > MAX_DOCUMENT_LENGTH * 4) throw notFound(`${path} is too large to be read`)
  if (root !== undefined && !isInside(await realPathOf(path), await realPathOf(root))) {
    throw notFound(`${path} is outside of the project directory ${root}`)
  }
  return { uri: path, text: await readText(path) }
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}

function toAbsolute(reference: string, base: string): string {
  try {
    return new URL(reference, /^[a-z][a-z0-9+.-]+:/i.test(base) ? base : undefined).href
  } catch {
    return reference
  }
}
