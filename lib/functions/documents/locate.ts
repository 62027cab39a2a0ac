import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isJsonObject, type JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'

/** What a reference to a document is resolved against. */
export interface DocumentScope {
  /** URI or absolute path of the definition. */
  readonly base: string
  /** Project directory. */
  readonly root: string
  readonly extensions: readonly JsonObject[]
  /** `sonatina.openapi.remote-documents`. */
  readonly remote: boolean
}

/** Where a document was found. */
export interface LocatedDocument {
  /** As the definition writes it. */
  readonly name: string
  /** Absolute: `file:`, `http:` or `https:`. */
  readonly uri: string
  /** Alias of the `workflow-uri-definitions` extension that led here; it names the settings of the document. */
  readonly alias?: string
}

/**
 * Finds a document that a function names (openapi-functions.md §1): relative to the definition, then to the project directory, then
 * to its `src/main/resources`; `classpath:` and `file:` addresses; aliases of the `workflow-uri-definitions` extension.
 *
 * @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` naming the places looked at; `DEFINITION_UNSUPPORTED` for a remote document
 * while they are off; `DEFINITION_INVALID` for one outside the project directory
 */
export async function locateDocument(name: string, scope: DocumentScope): Promise<LocatedDocument> {
  const aliased = aliasOf(name, scope.extensions)
  const reference = aliased ?? name
  const alias = aliased === undefined ? {} : { alias: name }
  if (/^https?:/i.test(reference)) {
    assertRemote(reference, scope)
    return { name, uri: reference, ...alias }
  }
  for (const candidate of candidates(reference, scope)) {
    const real = await realpath(candidate).catch(() => undefined)
    if (real === undefined) continue
    await assertContained(real, name, scope)
    return { name, uri: pathToFileURL(real).href, ...alias }
  }
  throw new DefinitionError({
    code: 'DEFINITION_NOT_FOUND',
    message: `Document "${name}" does not exist; looked at ${candidates(reference, scope).map((file) => shown(file, scope)).join(', ')}`,
  })
}

/** Asserts that remote documents may be read. @throws {@link DefinitionError} `DEFINITION_UNSUPPORTED` */
export function assertRemote(reference: string, scope: Pick<DocumentScope, 'remote'>): void {
  if (scope.remote) return
  throw new DefinitionError({
    code: 'DEFINITION_UNSUPPORTED',
    message: `Document "${withoutSecrets(reference)}" is remote, which is off; copy it into the project or set sonatina.openapi.remote-documents=true`,
  })
}

/**
 * Asserts that a file, its symbolic links resolved, lies in the project directory or beside the definition.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` naming the reference, not the place it leads to
 */
export async function assertContained(real: string, name: string, scope: Pick<DocumentScope, 'base' | 'root'>): Promise<void> {
  const directories = [scope.root, ...definitionDirectory(scope.base)]
  for (const directory of directories) {
    const resolved = await realpath(directory).catch(() => undefined)
    if (resolved !== undefined && (real === resolved || real.startsWith(resolved.endsWith(path.sep) ? resolved : resolved + path.sep))) return
  }
  throw new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `Document "${name}" lies outside the project directory; move it into the project`,
  })
}

/** Gives an address without user info and query, which may hold secrets. */
function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/, '')
}

function candidates(reference: string, scope: DocumentScope): string[] {
  const resources = path.join(scope.root, 'src', 'main', 'resources')
  const absolute = /^file:(?:\/\/)?(\/(?!\/).*)/i.exec(reference)?.[1]
  if (absolute !== undefined) return [path.resolve(decoded(absolute))]
  // `file://apis/greeting.json`, as the specification's examples write it, has the first part of a relative path where a host would be.
  const relative = decoded(reference.replace(/^(?:classpath:|file:(?:\/\/)?)/i, '').replace(/^\/+/, ''))
  const beside = definitionDirectory(scope.base)
  const directories = /^classpath:/i.test(reference) ? [resources, scope.root, ...beside] : [...beside, scope.root, resources]
  return [...new Set(directories.map((directory) => path.resolve(directory, relative)))]
}

function definitionDirectory(base: string): string[] {
  if (/^file:/i.test(base)) return [path.dirname(fileURLToPath(base))]
  return path.isAbsolute(base) ? [path.dirname(base)] : []
}

function aliasOf(name: string, extensions: readonly JsonObject[]): string | undefined {
  for (const extension of extensions) {
    if (extension['extensionid'] !== 'workflow-uri-definitions') continue
    const definitions = extension['definitions']
    const target = isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined
    if (typeof target === 'string') return target
  }
  return undefined
}

function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference)
  } catch {
    return reference
  }
}

function shown(file: string, scope: DocumentScope): string {
  const relative = path.relative(scope.root, file)
  return relative.startsWith('..') ? path.basename(file) : relative
}
