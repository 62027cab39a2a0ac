import { readFile, realpath } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MethodDefinition, PackageDefinition, ServiceDefinition } from '@grpc/proto-loader'
import { DefinitionError } from '../../errors/index.ts'
import { assertContained, type DocumentScope, type LocatedDocument } from '../documents/locate.ts'
import { nameNearest } from '../name-nearest.ts'
import { TypeRegistry } from './types.ts'

/** A method of a service, with what its messages are made of. */
export interface GrpcMethod {
  /** Full name of the service. */
  readonly service: string
  readonly name: string
  readonly definition: MethodDefinition<object, object>
  readonly types: TypeRegistry
}

const MAX_FILES = 64

/**
 * Loads a `.proto` file with what it imports and finds a method (S120).
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for a file that does not parse or imports something outside the project,
 * `DEFINITION_NOT_FOUND` for an unknown service or method, with the nearest names
 */
export async function loadGrpcMethod(
  located: LocatedDocument,
  scope: DocumentScope,
  wanted: { readonly service: string; readonly method: string },
): Promise<GrpcMethod> {
  if (!located.uri.startsWith('file:')) {
    throw new DefinitionError({ code: 'DEFINITION_UNSUPPORTED', message: `Document "${located.name}" is remote; copy the .proto file into the project` })
  }
  const file = fileURLToPath(located.uri)
  const includeDirs = [path.dirname(file), scope.root, path.join(scope.root, 'src', 'main', 'resources')]
  await assertImports(file, { name: located.name, includeDirs, scope })
  const { load } = await import('@grpc/proto-loader')
  const definition = await load(file, { includeDirs, longs: String, enums: String, bytes: String, defaults: false, oneofs: false }).catch((cause: unknown) => {
    throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `Document "${located.name}" is not a valid .proto file: ${cause instanceof Error ? cause.message.replaceAll(scope.root, '.') : String(cause)}`,
      cause,
    })
  })
  return findMethod(definition, located.name, wanted)
}

function findMethod(definition: PackageDefinition, name: string, wanted: { readonly service: string; readonly method: string }): GrpcMethod {
  const services = Object.keys(definition).filter((key) => !('format' in (definition[key] as object)))
  const fitting = services.filter((key) => key === wanted.service || key.endsWith(`.${wanted.service}`))
  const [service] = fitting
  if (service === undefined || fitting.length > 1) {
    throw new DefinitionError({
      code: 'DEFINITION_NOT_FOUND',
      message: `Document "${name}" has ${fitting.length > 1 ? `several services "${wanted.service}": ${fitting.join(', ')}` : `no service "${wanted.service}"; ${nameNearest(wanted.service, services)}`}`,
    })
  }
  const methods = definition[service] as ServiceDefinition
  const method = Object.hasOwn(methods, wanted.method) ? methods[wanted.method] : undefined
  if (method === undefined) {
    throw new DefinitionError({
      code: 'DEFINITION_NOT_FOUND',
      message: `Service "${service}" of "${name}" has no method "${wanted.method}"; ${nameNearest(wanted.method, Object.keys(methods))}`,
    })
  }
  return { service, name: wanted.method, definition: method, types: new TypeRegistry(definition) }
}

/** Follows the imports before the loader does: it would read any file that an import names. */
async function assertImports(file: string, { name, includeDirs, scope }: { readonly name: string; readonly includeDirs: readonly string[]; readonly scope: DocumentScope }): Promise<void> {
  const seen = new Set<string>()
  const pending = [file]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    if (seen.size > MAX_FILES) throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${name}" imports more than ${String(MAX_FILES)} files` })
    const text = await readFile(next, 'utf8')
    for (const [, imported = ''] of text.matchAll(/^\s*import\s+(?:public\s+|weak\s+)?"([^"]*)"/gm)) {
      // Those of protobuf itself are part of the loader.
      if (imported.startsWith('google/protobuf/')) continue
      const real = await firstExisting(imported, includeDirs)
      if (real === undefined) throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `Document "${name}" imports "${imported}", which does not exist` })
      await assertContained(real, imported, scope)
      pending.push(real)
    }
  }
}

async function firstExisting(imported: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const real = await realpath(path.resolve(directory, imported)).catch(() => undefined)
    if (real !== undefined) return real
  }
  return undefined
}
