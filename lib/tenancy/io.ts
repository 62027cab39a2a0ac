import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TenancyError } from '../errors/index.ts'
import { LONGEST_TEXT, parseDocuments, type DocumentViolation, type LoadedDocument } from './documents.ts'
import { GENERATED_MARK, type RenderedFile } from './render.ts'

/** Objects read from files, and what could not be read. */
export interface LoadedFiles {
  readonly documents: readonly LoadedDocument[]
  readonly violations: readonly DocumentViolation[]
}

/**
 * Loads Kubernetes objects from files and folders (`*.yaml`, `*.yml`, `*.json`, not deeper); `-` stands for standard input.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a file does not exist or cannot be opened
 */
export async function loadDocuments(paths: readonly string[], readStdin: () => Promise<string>): Promise<LoadedFiles> {
  const files = (await Promise.all(paths.map(expandPath))).flat()
  const parsed = await Promise.all(files.map(async (file) => parseDocuments(file === '-' ? await readStdin() : await loadText(file), file)))
  return { documents: parsed.flatMap(({ documents }) => documents), violations: parsed.flatMap(({ violations }) => violations) }
}

/**
 * Reads a text file.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when it does not exist, is too long, or is not UTF-8
 */
export async function loadText(file: string): Promise<string> {
  const bytes = await attempt(file, async () => (await stat(file)).size > LONGEST_TEXT ? undefined : readFile(file))
  if (bytes === undefined) throw unusable(file, `the file is longer than ${String(LONGEST_TEXT)} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw unusable(file, 'the file is binary or not UTF-8', cause)
  }
}

async function expandPath(path: string): Promise<string[]> {
  if (path === '-') return [path]
  const isFolder = await attempt(path, async () => (await stat(path)).isDirectory())
  if (!isFolder) return [path]
  const names = await attempt(path, () => readdir(path))
  return names.filter((name) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.')).sort().map((name) => join(path, name))
}

/** How a file on disk relates to a generated one. */
export interface FileState {
  readonly path: string
  readonly state: 'equal' | 'absent' | 'differs' | 'foreign'
}

/**
 * Compares generated files with what a folder holds; a differing file without the mark of generated ones is `foreign`.
 */
export async function compareFiles(folder: string, files: readonly RenderedFile[]): Promise<FileState[]> {
  return Promise.all(files.map(async ({ path, text }) => {
    const found = await readFile(join(folder, path), 'utf8').catch(() => undefined)
    if (found === undefined) return { path, state: 'absent' }
    if (found === text) return { path, state: 'equal' }
    return { path, state: isOurs(path, found, text) ? 'differs' : 'foreign' }
  }))
}

/** JSON carries no comment: there, a file is ours when it holds the same object. */
function isOurs(path: string, found: string, text: string): boolean {
  if (found.startsWith(GENERATED_MARK)) return true
  if (!path.endsWith('.json') || !text.includes('"kind"')) return false
  const names = parseDocuments(found, path).documents.map(({ name }) => name)
  return names.length > 0 && names[0] === parseDocuments(text, path).documents[0]?.name
}

/**
 * Writes generated files into a folder, made when needed; files that it did not write are never touched.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when one of the files exists and was not generated; then nothing is written
 */
export async function writeFiles(folder: string, files: readonly RenderedFile[]): Promise<void> {
  const foreign = (await compareFiles(folder, files)).filter(({ state }) => state === 'foreign').map(({ path }) => path)
  if (foreign.length > 0) throw unusable(folder, `not written, because these files exist and were not generated: ${foreign.join(', ')}`)
  for (const { path, text } of files) {
    const target = join(folder, path)
    await attempt(target, async () => {
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text)
    })
  }
}

async function attempt<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw unusable(path, code === 'ENOENT' ? 'the file does not exist' : `the file cannot be used (${code})`, cause)
  }
}

function unusable(path: string, fault: string, cause?: unknown): TenancyError {
  return new TenancyError({ code: 'TENANCY_INVALID', message: `${path}: ${fault}`, details: { path }, cause })
}
