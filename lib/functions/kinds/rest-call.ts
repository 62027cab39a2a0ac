import { isJsonObject, type Json } from '../../common/index.ts'
import { settingKey, type Settings } from '../../configuration/index.ts'
import { DefinitionError, FunctionError } from '../../errors/index.ts'
import { describeFunction, failsOnStatus, malformed, type FunctionSource } from '../compile-options.ts'
import type { FunctionCall, Invoker } from '../invoker.ts'
import { encodeUnreserved, toText } from '../openapi/encode.ts'
import { compilePathTemplate, placeNames, type PathTemplate } from '../openapi/path-template.ts'
import { joinQueries } from '../openapi/query.ts'
import { callRemote } from '../remote/call.ts'
import { parseRoot, staysBelow, type Root } from '../remote/root.ts'
import type { RemoteParts } from './parts.ts'
import { sortArguments } from './prefixed-arguments.ts'
import { credentialsOf } from './static-credentials.ts'

const OPERATION = /^([A-Za-z]+)\s*:\s*(\S[^]*)$/
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const WITHOUT_BODY = new Set(['GET', 'HEAD'])

/**
 * Compiles `rest:<METHOD>:<address>` (S125): arguments that the path names in braces fill it, `HEADER_x` and `QUERY_x` become header
 * and query parameter, the others are the JSON body. Without arguments the data of the action is the body.
 *
 * An address without host takes protocol, host and port from `sonatina.functions.<fn>.*`; function metadata of the same names wins.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for another method, or a place in the host
 */
export function compileRestCall(operation: string, source: FunctionSource, parts: RemoteParts): Invoker {
  const expected = '"rest:<method>:<address>", such as "rest:get:/orders/{id}"'
  const match = OPERATION.exec(operation)
  const method = match?.[1]?.toUpperCase() ?? ''
  const address = match?.[2]?.trim() ?? ''
  if (!METHODS.has(method) || address === '') throw malformed(source, expected)
  const { root, path } = splitAddress(address, source)
  const template = compilePathTemplate(path)
  const queryPlaces = placeNames(template.query)
  const callee = source.definition.name
  const authorization = credentialsOf(source, parts)
  const failOnStatus = failsOnStatus(source.definition.metadata)
  const timeout = timeoutOf(source)
  return {
    invoke(call) {
      const { places, given } = takePlaces(call, [...template.names, ...queryPlaces])
      const { headers, query, rest } = sortArguments(given, callee)
      const target = fillPath(template, places, callee)
      if (template.names.length > 0 && !staysBelow(root, root.basePath + target)) throw refused(callee, 'a path argument changes the address of the call')
      return callRemote({
        client: parts.httpClients.general,
        method,
        root,
        path: target,
        query: joinQueries(fillQuery(template.query, places), query),
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: WITHOUT_BODY.has(method) || rest === undefined ? undefined : JSON.stringify(rest),
        authorization,
        context: call.context,
        callee,
        failOnStatus,
        timeout,
      }, parts.remote)
    },
  }
}

/** Milliseconds that a call of the function may take: metadata, else `sonatina.functions.<fn>.timeout`. */
export function timeoutOf({ definition, options }: FunctionSource): number {
  const stated = Number(definition.metadata['timeout'])
  return Number.isFinite(stated) && stated > 0 ? stated : options.settings.duration(settingKey('sonatina.functions', definition.name, 'timeout'), 10_000)
}

/** Takes the arguments that fill places out of the others. */
function takePlaces({ arguments: args, data }: FunctionCall, names: readonly string[]): { readonly places: Readonly<Record<string, Json>>; readonly given: Json } {
  const given = args ?? data
  if (names.length === 0 || !isJsonObject(given)) return { places: {}, given }
  const places = Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)))
  return { places, given: Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name))) }
}

function fillPath(template: PathTemplate, places: Readonly<Record<string, Json>>, callee: string): string {
  const joined = template.join(template.names.map((name) => {
    const value = Object.hasOwn(places, name) ? places[name] : undefined
    if (value === undefined || value === null) throw refused(callee, `argument "${name}", which the path needs, is not given`)
    const text = toText(value)
    if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) throw refused(callee, `argument "${name}" is empty or holds a control character, which no path can carry`)
    return encodeUnreserved(text)
  }))
  if ('problem' in joined) throw refused(callee, joined.problem)
  return joined.path
}

function fillQuery(query: string, places: Readonly<Record<string, Json>>): string {
  return query.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeUnreserved(toText(Object.hasOwn(places, name) ? places[name] ?? null : null)))
}

function splitAddress(address: string, source: FunctionSource): { readonly root: Root; readonly path: string } {
  const absolute = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(address)
  if (absolute === null && /^[a-z][a-z0-9+.-]*:/i.test(address)) throw malformed(source, 'an address that is a path, or begins with "http://<host>" or "https://<host>"')
  const origin = absolute?.[1] ?? configuredOrigin(source)
  const root = origin.includes('{') ? 'may not depend on arguments: host and port come from the definition or its settings' : parseRoot(origin)
  if (typeof root === 'string') {
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The address of ${describeFunction(source)} ${root}` })
  }
  const path = absolute?.[2] ?? address
  return { root, path: path.startsWith('/') ? path : `/${path}` }
}

function configuredOrigin(source: FunctionSource): string {
  const protocol = attributeOf(source, 'protocol') ?? 'http'
  const host = attributeOf(source, 'host') ?? 'localhost'
  const port = attributeOf(source, 'port')
  return `${protocol}://${host}${port === undefined ? '' : `:${port}`}`
}

/** Metadata of the function, else its settings, else those of all functions. */
function attributeOf({ definition, options }: FunctionSource, attribute: string): string | undefined {
  const stated = definition.metadata[attribute]
  if (stated !== undefined && stated !== null) return toText(stated)
  const own = settingKey('sonatina.functions', definition.name, attribute)
  if (options.settings.has(own)) return options.settings.text(own)
  return sharedAttribute(options.settings, attribute)
}

function sharedAttribute(settings: Settings, attribute: string): string | undefined {
  return settings.text(`sonatina.functions.${attribute}`) ?? settings.text(`kogito.sw.functions.${attribute}`)
}

function refused(callee: string, problem: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `Function ${callee}: ${problem}` })
}
