import { isJsonObject, type Json } from '../../common/index.ts'
import { DefinitionError, FunctionError } from '../../errors/index.ts'
import { describeFunction, failsOnStatus, malformed, type FunctionSource } from '../compile-options.ts'
import type { Invoker } from '../invoker.ts'
import { encodeUnreserved, toText } from '../openapi/encode.ts'
import { parseRoot } from '../remote/root.ts'
import { createCaller } from './caller.ts'
import type { RemoteParts } from './parts.ts'
import { splitOperation } from './parts.ts'

/** System query options by their names in the specification; the example's lower case `orderby` counts too (S123). */
const OPTIONS: Readonly<Record<string, string>> = {
  filter: '$filter', expand: '$expand', select: '$select', orderby: '$orderby', top: '$top', skip: '$skip', count: '$count',
  search: '$search', format: '$format', compute: '$compute', index: '$index', schemaversion: '$schemaversion',
}

const GUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/

/**
 * Compiles `<service>#<entity set>` of an OData service (S123): a query of the set, or of one entity by `key`, with `queryOptions`.
 *
 * A key that is a whole number or a GUID, also as text, is written bare, other texts quoted; an object is a key of several properties.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for a malformed operation
 */
export function compileOdata(source: FunctionSource, parts: RemoteParts): Invoker {
  const { document: service, name: entitySet } = splitOperation(source, '"<service>#<entity set>"')
  if (!/^[\p{L}_][\p{L}\p{N}_./]*$/u.test(entitySet)) throw malformed(source, '"<service>#<entity set>"')
  const root = parseRoot(service)
  if (typeof root === 'string') throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The service of ${describeFunction(source)} ${root}` })
  const callee = source.definition.name
  const callService = createCaller(source, parts)
  const failOnStatus = failsOnStatus(source.definition.metadata)
  return {
    invoke(call) {
      const given = call.arguments ?? {}
      if (!isJsonObject(given)) throw refused(callee, 'takes named arguments: key, queryOptions')
      const unknown = Object.keys(given).filter((name) => name !== 'key' && name !== 'queryOptions')
      if (unknown.length > 0) throw refused(callee, `does not know the arguments ${unknown.join(', ')}; it has key and queryOptions`)
      const { key, queryOptions } = given as { key?: Json; queryOptions?: Json }
      return callService(call.context, {
        method: 'GET',
        root,
        path: `/${encodeURI(entitySet)}${key === undefined || key === null ? '' : `(${writeKey(key, callee)})`}`,
        query: writeOptions(queryOptions ?? {}, callee),
        headers: { accept: 'application/json', 'odata-maxversion': '4.01' },
        failOnStatus,
      })
    },
  }
}

function writeKey(key: Json, callee: string): string {
  if (!isJsonObject(key)) return writeLiteral(key, callee)
  const names = Object.keys(key)
  if (names.length === 0) throw refused(callee, 'the key names no property')
  return names.map((name) => `${encodeUnreserved(name)}=${writeLiteral(key[name] ?? null, callee)}`).join(',')
}

/** OData 4.01 ABNF, primitiveLiteral: quotes inside a text are doubled. */
function writeLiteral(value: Json, callee: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') throw refused(callee, 'a key is a text, a number or an object of them')
  if (/^-?\d+$/.test(value) || GUID.test(value)) return value
  const bare = /^'[^]*'$/.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value
  return `'${encodeUnreserved(bare.replaceAll("'", "''")).replaceAll('%27', "'")}'`
}

function writeOptions(options: Json, callee: string): string {
  if (!isJsonObject(options)) throw refused(callee, 'queryOptions is not an object')
  return Object.keys(options).flatMap((name) => {
    const option = OPTIONS[name.replace(/^\$/, '').toLowerCase()]
    const value = options[name] ?? null
    if (option === undefined) throw refused(callee, `"${name}" is no query option; there are filter, expand, select, orderBy, top, skip, count, search, format, compute, index, schemaVersion`)
    return value === null ? [] : [`${option}=${encodeUnreserved(toText(value))}`]
  }).join('&')
}

function refused(callee: string, problem: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `Function ${callee}: ${problem}` })
}
