import { join, resolve } from 'node:path'
import { namesIn, realPathOf, statusOf } from './io.ts'

/** A file that holds a definition, or may hold one. */
export interface DefinitionFile {
  /** Absolute. */
  readonly path: string
  /** Whether its name says that it is a definition, or the caller named it. */
  readonly named: boolean
}

/** Directories that hold copies or code of others: build output would double every definition. */
const SKIPPED = new Set(['node_modules', 'target'])

/**
 * Finds the files that may hold definitions, sorted by path within each given path.
 *
 * A path that does not exist is listed all the same: reading it says so.
 */
export async function findDefinitionFiles(paths: readonly string[]): Promise<readonly DefinitionFile[]> {
  const found = new Map<string, DefinitionFile>()
  const visited = new Set<string>()
  for (const path of paths.map((given) => resolve(given))) {
    const files = (await isDirectory(path)) ? await search(path, visited) : [{ path, named: true }]
    for (const file of files) if (!found.has(file.path)) found.set(file.path, file)
  }
  return [...found.values()]
}

/** Tells whether a text can be a definition, without reading it as JSON or YAML. */
export function mayBeDefinition(text: string): boolean {
  return /\bstates\b/.test(text) && /\b(id|key)\b/.test(text)
}

async function search(directory: string, visited: Set<string>): Promise<readonly DefinitionFile[]> {
  const real = await realPathOf(directory)
  // Links may lead back to a directory above.
  if (visited.has(real)) return []
  visited.add(real)
  const files: DefinitionFile[] = []
  for (const name of await namesIn(directory)) {
    if (name.startsWith('.') || SKIPPED.has(name)) continue
    const path = join(directory, name)
    const kind = (await statusOf(path))?.kind
    if (kind === 'directory') files.push(...await search(path, visited))
    // Reading a pipe would wait for whoever writes to it.
    else if (kind !== 'other' && /\.(json|ya?ml)$/i.test(name)) files.push({ path, named: /\.sw\.(json|ya?ml)$/i.test(name) })
  }
  return files
}

async function isDirectory(path: string): Promise<boolean> {
  return (await statusOf(path))?.kind === 'directory'
}
