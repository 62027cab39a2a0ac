import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../configuration/index.ts'
import type { LoadedDefinition } from '../definition/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { findHostModules, locateDocument } from '../functions/index.ts'
import type { ProjectFile } from './project.ts'

/** What the files of a project are found from. */
export interface FileSources {
  /** Project directory, absolute. */
  readonly root: string
  /** Files and directories of definitions, absolute. */
  readonly places: readonly string[]
  readonly loaded: readonly LoadedDefinition[]
  readonly settings: Settings
}

/**
 * Collects the files that serving a project reads: definitions, what they refer to, documents of their functions with the folder
 * around them, host modules with what these import, and `package.json`, which says how modules are read.
 *
 * @returns the files without the settings, and what cannot go along
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for a file outside the project, or one that is no text
 */
export async function collectFiles(sources: FileSources): Promise<{ readonly files: readonly ProjectFile[]; readonly warnings: readonly string[] }> {
  const { root } = sources
  const modules = await followImports(await hostModules(sources))
  const paths = new Set([
    ...sources.loaded.flatMap(({ source }) => [source.uri, ...Object.keys(source.resources)]).filter(isFile).map(pathOf),
    ...await documentsOf(sources),
    ...modules.paths,
    ...(modules.paths.length > 0 && await exists(join(root, 'package.json')) ? [join(root, 'package.json')] : []),
  ])
  const files = await Promise.all([...paths].map((path) => readProjectFile(root, path)))
  const warnings = [...modules.packages].sort().map(([name, by]) => `${relative(root, by)} imports the package ${name}, which is no part of the documents; build an image that has it, and give --embedded`)
  return { files, warnings }
}

/** Tells whether a path leads to a directory, links followed. */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then((status) => status.isDirectory(), () => false)
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false)
}

function isFile(uri: string): boolean {
  return !/^[a-z][a-z\d+.-]+:/i.test(uri) || uri.startsWith('file:')
}

function pathOf(uri: string): string {
  return uri.startsWith('file:') ? fileURLToPath(uri) : uri
}

async function readProjectFile(root: string, path: string): Promise<ProjectFile> {
  const name = relative(root, path).split(sep).join('/')
  // What is printed goes elsewhere: a link must not take a file of whoever prints it along.
  if (!isAbove(root, path) || !isAbove(await realpath(root), await realpath(path).catch(() => path))) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${name} is read by the project but lies outside of its directory; move it into the project` })
  }
  try {
    return { path: name, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path)) }
  } catch (cause) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${name} cannot be taken along: it cannot be read as text in UTF-8`, cause })
  }
}

const WITH_DOCUMENT = new Set(['rest', 'asyncapi', 'rpc'])
const DOCUMENT = /\.(?:json|ya?ml|proto|graphqls?)$/i

/** Documents refer to each other, so the folder of one goes along, unless it is the project itself. */
async function documentsOf({ root, loaded, settings }: FileSources): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const { definition, source } of loaded) {
    const scope = { base: source.uri, root, extensions: definition.extensions, remote: settings.boolean('sonatina.openapi.remote-documents', false) }
    for (const { type, operation } of definition.functions) {
      const name = operation.split('#', 1)[0] ?? ''
      if (!WITH_DOCUMENT.has(type) || name === '') continue
      const { uri } = await locateDocument(name, scope)
      if (uri.startsWith('file:')) found.add(fileURLToPath(uri))
    }
  }
  const folders = [...new Set([...found].map((path) => dirname(path)))].filter((directory) => !isAbove(directory, root))
  const around = await Promise.all(folders.map(filesBelow))
  return [...found, ...around.flat().filter((path) => DOCUMENT.test(path))]
}

function isAbove(directory: string, path: string): boolean {
  return directory === path || path.startsWith(directory + sep)
}

/** Gives the regular files below a directory. */
async function filesBelow(directory: string): Promise<readonly string[]> {
  const start = await realpath(directory)
  return walk(directory, (real) => isAbove(real, start) && real !== start)
}

/** Links may lead back to where the walk has been, or to what it began in. */
async function walk(directory: string, isAhead: (real: string) => boolean, visited = new Set<string>()): Promise<readonly string[]> {
  const real = await realpath(directory)
  if (visited.has(real) || isAhead(real)) return []
  visited.add(real)
  const found: string[] = []
  for (const name of await readdir(directory)) {
    if (name.startsWith('.') || name === 'node_modules') continue
    const path = join(directory, name)
    const status = await stat(path).catch(() => undefined)
    if (status?.isDirectory() === true) found.push(...await walk(path, isAhead, visited))
    else if (status?.isFile() === true) found.push(path)
  }
  return found
}

async function hostModules({ root, places, settings }: FileSources): Promise<readonly string[]> {
  const named = settings.list('sonatina.host-classes', [])
  const functions = settings.list('sonatina.function-runtime.modules', [])
  const beside = named.length > 0 ? named.map((path) => resolve(root, path)) : await findHostModules(await Promise.all(places.map(async (place) => (await isDirectory(place) ? place : dirname(place)))))
  return [...beside, ...functions.map((path) => resolve(root, path))]
}

interface FollowedImports {
  readonly paths: readonly string[]
  /** Names of packages with a module that imports them. */
  readonly packages: ReadonlyMap<string, string>
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*(["'])([^"'\n]+)\1/g

async function followImports(modules: readonly string[]): Promise<FollowedImports> {
  const paths = new Set<string>()
  const packages = new Map<string, string>()
  const open = [...modules]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (paths.has(path)) continue
    paths.add(path)
    for (const specifier of importsOf(await readFile(path, 'utf8'))) {
      if (/^\.{1,2}\//.test(specifier)) open.push(...await firstExisting(resolve(dirname(path), specifier)))
      // The program itself stands in every image.
      else if (!isBuiltin(specifier) && packageOf(specifier) !== 'sonatina') packages.set(packageOf(specifier), path)
    }
  }
  return { paths: [...paths], packages }
}

// Types are gone when the module runs.
function importsOf(text: string): readonly string[] {
  const running = text.replace(/\bimport\s+type\b[^'"]*(["'])[^"'\n]+\1/g, '')
  return [...running.matchAll(IMPORT)].map((match) => match[2] ?? '')
}

// TypeScript may name the file that it would compile to.
async function firstExisting(path: string): Promise<readonly string[]> {
  for (const candidate of [path, path.replace(/\.(m?)js$/, '.$1ts')]) if (await exists(candidate)) return [candidate]
  return []
}

function packageOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
