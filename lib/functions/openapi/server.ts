import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'
import type { FoundOperation, ResolvedDocument } from './resolved-document.ts'

/**
 * Gives the address that a document states for an operation (openapi-functions.md §3): the first entry of the nearest `servers`
 * (operation, path item, document) with variables replaced by their defaults; for Swagger 2.0 scheme, host and base path.
 *
 * @returns `undefined` when the document names none, or only a relative one and was itself not read over http
 */
export function serverOf(source: ResolvedDocument, found: FoundOperation): string | undefined {
  const base = /^https?:/.test(source.uri) ? source.uri : undefined
  const stated = source.version === 2 ? legacyServer(source.document, base) : firstServer(found, source.document)
  if (stated === undefined) return undefined
  if (/^https?:/i.test(stated)) return stated
  return base === undefined ? undefined : new URL(stated, base).href
}

function firstServer({ operation, pathItem }: FoundOperation, document: JsonObject): string | undefined {
  for (const level of [operation, pathItem, document]) {
    const servers = level['servers']
    if (!isJsonArray(servers)) continue
    const [first] = servers
    if (isJsonObject(first) && typeof first['url'] === 'string') return replaceVariables(first['url'], first['variables'])
  }
  return undefined
}

function replaceVariables(url: string, variables: Json | undefined): string {
  return url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = isJsonObject(variable) ? variable['default'] : undefined
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole
  })
}

function legacyServer(document: JsonObject, base: string | undefined): string | undefined {
  const { host, basePath, schemes } = document as { host?: Json; basePath?: Json; schemes?: Json }
  const path = typeof basePath === 'string' ? basePath : ''
  if (typeof host !== 'string' || host === '') return base === undefined ? undefined : path || '/'
  const offered = isJsonArray(schemes) ? schemes.filter((scheme) => scheme === 'https' || scheme === 'http') : []
  const scheme = offered.includes('https') ? 'https' : offered[0] ?? (base?.startsWith('https:') === true ? 'https' : 'http')
  return `${scheme}://${host}${path}`
}
