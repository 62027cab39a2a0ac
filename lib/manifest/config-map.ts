import { createHash } from 'node:crypto'
import type { JsonObject } from '../common/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { document, type KubernetesDocument } from './documents.ts'
import type { ResolvedManifestOptions } from './options.ts'
import type { Project, ProjectFile } from './project.ts'

/** Most bytes that a ConfigMap holds. */
const LIMIT = 1_048_576

/** Name of the ConfigMap of a project. */
function configMapName({ name }: ResolvedManifestOptions): string {
  return `${name}-project`
}

/**
 * Makes the ConfigMap that holds the files of a project.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when they are too large for one
 */
export function configMap(project: Project, options: ResolvedManifestOptions): KubernetesDocument {
  const keys = keysOf(project.files)
  const data = Object.fromEntries(project.files.map((file) => [keys.get(file.path) ?? file.path, file.text]))
  const size = Object.entries(data).reduce((sum, [key, text]) => sum + Buffer.byteLength(key) + Buffer.byteLength(text), 0)
  if (size > LIMIT) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `The ${String(project.files.length)} files of the project have ${String(size)} bytes; a ConfigMap holds ${String(LIMIT)}. Build an image that has the project, and give --embedded`,
    })
  }
  return document('v1 ConfigMap', options, { name: configMapName(options), body: { data } })
}

/** Makes the volume that lays the files out as they stand in the project. */
export function configMapVolume(project: Project, options: ResolvedManifestOptions): JsonObject {
  const keys = keysOf(project.files)
  return { configMap: { name: configMapName(options), items: project.files.map(({ path }) => ({ key: keys.get(path) ?? path, path })) } }
}

/** Gives a text that changes when a file does: processes have to be started again then. */
export function checksum(project: Project): string {
  return createHash('sha256').update(JSON.stringify(project.files)).digest('hex')
}

/** Keys hold letters, digits and `-._` only, and no slash. */
function keysOf(files: readonly ProjectFile[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  return new Map(files.map(({ path }) => {
    const plain = path.replaceAll('/', '__').replace(/[^-.\w]/g, '_').slice(-240)
    let key = plain
    for (let count = 2; taken.has(key); count += 1) key = `${plain}.${String(count)}`
    taken.add(key)
    return [path, key]
  }))
}
