import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { environmentName, settingKey } from '../../configuration/index.ts'
import { DefinitionError, FunctionError } from '../../errors/index.ts'
import { EVENT_MEDIA_TYPE, encodeStructured, fromDocument } from '../../events/index.ts'
import { describeFunction, failsOnStatus, malformed, type FunctionSource } from '../compile-options.ts'
import type { CallContext, Invoker } from '../invoker.ts'
import { toText } from '../openapi/encode.ts'
import { appendPairs, joinQueries } from '../openapi/query.ts'
import { parseRoot, type Root } from '../remote/root.ts'
import { createCaller } from './caller.ts'
import type { RemoteParts } from './parts.ts'
import { sortArguments } from './prefixed-arguments.ts'

/** A call of a Knative service, as the operation writes it. */
interface KnativeOperation {
  /** The service as written. */
  readonly resource: string
  /** `<namespace>/<name>` or `<name>`, or an address. */
  readonly service: string
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly asCloudEvent: boolean
}

const RESOURCE = /^services\.v1\.serving\.knative\.dev\//

/**
 * Compiles `knative:<service>?path=…&method=…&asCloudEvent=…`: a call of a Knative service. `<service>` is
 * `services.v1.serving.knative.dev/<namespace>/<name>`, a shorter end of it, or an http address.
 *
 * The address is `sonatina.knative.services.<service>.url`, else that which the cluster gives the service. Arguments are the JSON
 * body (POST) or the query (GET), `HEADER_x` and `QUERY_x` apart; with `asCloudEvent=true` they are the attributes and data of the
 * event that is sent in structured mode, whose `id` is `<source>_<instance>` when not given.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for an operation that is malformed
 */
export function compileKnative(operation: string, source: FunctionSource, parts: RemoteParts): Invoker {
  const target = parseOperation(operation, source)
  const root = rootOf(target, source)
  const callee = source.definition.name
  const callService = createCaller(source, parts)
  const failOnStatus = failsOnStatus(source.definition.metadata)
  return {
    invoke(call) {
      const { headers, query, rest } = sortArguments(call.arguments ?? call.data, callee)
      const content = target.asCloudEvent ? eventContent(rest, call.context, callee) : plainContent(rest, target, callee)
      return callService(call.context, {
        method: target.method,
        root,
        path: target.path,
        query: joinQueries(query, content.query),
        headers: { accept: 'application/json', 'content-type': content.type, ...headers },
        body: content.body,
        failOnStatus,
      })
    },
  }
}

interface Content {
  readonly type: string
  readonly body?: string | Uint8Array
  readonly query: string
}

function plainContent(rest: Json | undefined, { method }: KnativeOperation, callee: string): Content {
  if (isJsonObject(rest) && ['specversion', 'source', 'type'].every((name) => Object.hasOwn(rest, name))) {
    throw new FunctionError({
      code: 'FUNCTION_ARGUMENT_INVALID',
      message: `Function ${callee}: the arguments are a CloudEvent; add asCloudEvent=true to the operation to send them as one`,
    })
  }
  const type = 'application/json'
  if (method === 'GET') return { type, query: isJsonObject(rest) ? toQuery(rest) : '' }
  return { type, query: '', ...(rest !== undefined && { body: JSON.stringify(rest) }) }
}

function toQuery(given: JsonObject): string {
  return Object.keys(given).reduce((query, name) => appendPairs(query, name, given[name] ?? null), '')
}

function eventContent(rest: Json | undefined, context: CallContext, callee: string): Content {
  try {
    const given = isJsonObject(rest) ? rest : {}
    const id = given['id'] ?? `${toText(given['source'] ?? '')}_${context.instanceId}`
    const event = fromDocument({ specversion: '1.0', ...given, id })
    return { type: `${EVENT_MEDIA_TYPE}; charset=UTF-8`, body: encodeStructured(event), query: '' }
  } catch (cause) {
    // The callee would refuse the event: that is how SonataFlow sees it too, a failed call and not a bad request of our caller.
    throw new FunctionError({
      code: 'FUNCTION_FAILED',
      message: `Function ${callee}: the arguments make no CloudEvent: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    })
  }
}

function parseOperation(operation: string, source: FunctionSource): KnativeOperation {
  const at = operation.indexOf('?')
  const resource = (at < 0 ? operation : operation.slice(0, at)).trim().replace(/\/+$/, '')
  const service = resource.replace(RESOURCE, '')
  const query = new URLSearchParams(at < 0 ? '' : operation.slice(at + 1))
  const asCloudEvent = query.get('asCloudEvent') === 'true'
  const method = (query.get('method') ?? 'POST').toUpperCase()
  const path = query.get('path') ?? '/'
  const unknown = [...query.keys()].filter((name) => !['asCloudEvent', 'method', 'path'].includes(name))
  if (service === '' || unknown.length > 0 || (method !== 'GET' && method !== 'POST') || (asCloudEvent && method === 'GET')) {
    throw malformed(source, '"knative:<namespace>/<service>?path=/<path>", with method=GET or POST, or asCloudEvent=true')
  }
  return { resource, service, path: encodeURI(path.startsWith('/') ? path : `/${path}`), method, asCloudEvent }
}

function rootOf(operation: KnativeOperation, source: FunctionSource): Root {
  const address = addressOf(operation, source)
  const root = parseRoot(address)
  if (typeof root !== 'string') return root
  throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The address of the Knative service of ${describeFunction(source)} ${root}` })
}

/** Settings by namespace and name, by name, by the name as written; then the address that Knative gives a service inside its cluster. */
function addressOf({ resource, service }: KnativeOperation, source: FunctionSource): string {
  if (/^https?:/i.test(service)) return service
  const { settings } = source.options
  const name = service.slice(service.lastIndexOf('/') + 1)
  const keys = [...new Set([service, name, resource])].map((each) => settingKey('sonatina.knative.services', each, 'url'))
  const configured = keys.map((key) => settings.text(key)).find((value) => value !== undefined)
  if (configured !== undefined) return configured
  const namespace = service.includes('/') ? service.slice(0, service.lastIndexOf('/')) : settings.text('sonatina.knative.namespace')
  if (namespace !== undefined) return `http://${name}.${namespace}.svc.cluster.local`
  const [key = ''] = keys
  throw new DefinitionError({
    code: 'DEFINITION_NOT_FOUND',
    message: `${describeFunction(source)} calls the Knative service "${service}" without a namespace; write "<namespace>/${service}" or set ${key} (or ${environmentName(key)})`,
  })
}
