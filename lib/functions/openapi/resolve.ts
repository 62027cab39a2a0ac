import { isJsonObject, toPointer, type Json, type JsonObject } from '../../common/index.ts'
import type { Resolve } from 'swagger-client'
import { DefinitionError } from '../../errors/index.ts'
import type { Bundle } from '../documents/bundle.ts'
import type { ResolvedDocument } from './resolved-document.ts'

/**
 * Resolves the references of a bundled document with swagger-client; cyclic schemas keep a reference (openapi-functions.md §1).
 *
 * swagger-client takes long to import, and half of it is for OpenAPI 3.1: it is imported only here, and of it what the version needs.
 *
 * @throws {@link DefinitionError} `DEFINITION_UNSUPPORTED` for another version of OpenAPI, `DEFINITION_INVALID` for a reference that
 * does not resolve
 */
export async function resolveDocument(bundle: Bundle): Promise<ResolvedDocument> {
  const { name, uri } = bundle.located
  const version = versionOf(bundle.document, name)
  const resolve = await importResolve(bundle.document)
  // It marks what it resolves (`$$ref`, `__originalOperationId`) and caches by address for the process: it gets a copy of its own
  // and an address that tells nothing.
  const result = await resolve({
    spec: structuredClone(bundle.document),
    baseDoc: `https://closure.invalid/${encodeURIComponent(name)}`,
    http: ({ url }) => Promise.reject(outside(name, url)),
  })
  const [fault] = result.errors
  if (fault !== undefined) {
    const pointer = toPointer(fault.fullPath ?? [])
    throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `Document "${name}"${pointer === '' ? '' : ` at ${pointer}`}: ${fault.message ?? 'a reference does not resolve'}`,
      violations: [{ pointer, message: fault.message ?? 'a reference does not resolve' }],
    })
  }
  const document = result.spec as Json
  if (!isJsonObject(document)) throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${name}" is not an OpenAPI document` })
  return { name, uri, version, document }
}

async function importResolve({ openapi }: { readonly openapi?: Json }): Promise<Resolve> {
  if (typeof openapi === 'string' && openapi.startsWith('3.1')) return (await import('swagger-client')).default.resolve
  const { default: resolver } = await import('swagger-client/lib/resolver/index.js')
  // A module of CommonJS that calls itself one of ES: Node.js gives its exports as the default, bundlers and tsx its own default.
  return typeof resolver === 'function' ? resolver : resolver.default
}

/** Bundling has read everything that is referred to; swagger-client must not fetch on its own. */
function outside(name: string, url: string): DefinitionError {
  return new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${name}" refers to ${url}, which is not part of it` })
}

function versionOf(document: JsonObject, name: string): 2 | 3 {
  const { swagger, openapi } = document as { swagger?: Json; openapi?: Json }
  // YAML reads an unquoted 2.0 as a number.
  if (swagger === '2.0' || swagger === 2) return 2
  if (typeof openapi === 'string' && /^3\.[01]\.\d+/.test(openapi)) return 3
  const found = openapi !== undefined ? `openapi: ${JSON.stringify(openapi)}` : swagger !== undefined ? `swagger: ${JSON.stringify(swagger)}` : undefined
  throw new DefinitionError({
    code: 'DEFINITION_UNSUPPORTED',
    message: `Document "${name}" ${found === undefined ? 'has neither "swagger" nor "openapi" at the top' : `says ${found}`}; ` +
      'Swagger 2.0, OpenAPI 3.0.x and 3.1.x can be read',
  })
}
