import type { Authorization } from '../../auth/index.ts'
import { isJsonObject, type Json } from '../../common/index.ts'
import { environmentName, settingKey } from '../../configuration/index.ts'
import { FunctionError } from '../../errors/index.ts'
import type { HttpClient } from '../../http-client/index.ts'
import { describeFunction, failsOnStatus, type FunctionSource } from '../compile-options.ts'
import type { FunctionCall, FunctionResult, Invoker } from '../invoker.ts'
import { argumentError } from '../openapi/arguments.ts'
import { findOperation } from '../openapi/find-operation.ts'
import type { OperationModel } from '../openapi/model.ts'
import { toOperationModel, type QueryStyle } from '../openapi/operation.ts'
import { compileRequestBuilder, type BuiltRequest, type RequestBuilder } from '../openapi/request.ts'
import { compileArgumentValidation } from '../openapi/validate.ts'
import { compileCoercion, type Coercion } from '../openapi/response-schema.ts'
import { callRemote } from '../remote/call.ts'
import { parseRoot, staysBelow, type Root } from '../remote/root.ts'
import { documentKey, documentScope, splitOperation, type RemoteParts } from './parts.ts'

/** A remote service under one configuration: the document's, or that which `configKey` chose. */
interface Service {
  readonly client: HttpClient
  /** What is wrong with it, when it cannot be called. */
  readonly root: Root | string
  readonly authorization: Authorization | undefined
}

/**
 * Compiles `<document>#<operationId>` of an OpenAPI document (S117, S118, openapi-functions.md): document, operation and request
 * builder at load; a call builds the request from its arguments and sends it.
 *
 * @throws {@link DefinitionError} for a document, reference or operation that does not exist or cannot be used
 * @throws {@link ConfigurationError} for a root address or security scheme that is configured wrong
 */
export async function compileRest(source: FunctionSource, parts: RemoteParts): Promise<Invoker> {
  const { definition, scope, options } = source
  const { document, name } = splitOperation(source, '"<OpenAPI document>#<operationId>"')
  const { located, resolved } = await parts.library.load(document, documentScope(source), parts.readerOf(source))
  const key = documentKey(source, parts, { located, document: resolved.document })
  const queryStyle = options.settings.text(settingKey('sonatina.rest-client', key, 'query-param-style')) as QueryStyle | undefined
  const operation = toOperationModel(resolved, findOperation(resolved, name), queryStyle)
  for (const scheme of operation.security.flatMap(Object.keys)) parts.schemes.add(scheme)
  for (const warning of operation.warnings) options.log.warn({ workflowId: scope.workflowId, function: definition.name }, warning)
  const builder = createBuilder(source, operation, resolved.document)
  const plan: Plan = {
    source,
    parts,
    operation,
    builder,
    key,
    accept: [...new Set(['application/json', ...operation.responseTypes])].join(', '),
    failOnStatus: failsOnStatus(definition.metadata),
    coerce: scope.profile === 'sonataflow' ? compileCoercion(operation.responseSchema) : undefined,
    services: new Map(),
  }
  const { configKey } = definition.metadata
  if (configKey === undefined) {
    const service = serviceOf(plan, key)
    return { invoke: (call) => invoke(plan, service, call) }
  }
  return {
    async invoke(call) {
      const value = await evaluateConfigKey(source, configKey, call)
      if (value === undefined) throw argumentError(operation, 'metadata.configKey gives no text; it must name a configuration of the document')
      const chosen = key + parts.configKeySeparator + value
      // Asked before anything is made for it: the value comes from data, and its number must not grow with the calls.
      if (!options.settings.has(urlKeyOf(chosen))) throw argumentError(operation, `metadata.configKey gives "${value}", but ${urlKeyOf(chosen)} is not set`)
      return invoke(plan, serviceOf(plan, chosen), call)
    },
  }
}

interface Plan {
  readonly source: FunctionSource
  readonly parts: RemoteParts
  readonly operation: OperationModel
  readonly builder: RequestBuilder
  readonly key: string
  readonly accept: string
  readonly failOnStatus: boolean
  readonly coerce: Coercion | undefined
  /** By key; bounded, since `configKey` comes from data. */
  readonly services: Map<string, Service>
}

const MAX_SERVICES = 64

function createBuilder(source: FunctionSource, operation: OperationModel, document: Json): RequestBuilder {
  const { scope, options, definition } = source
  const validates = options.settings.boolean('sonatina.openapi.validate-arguments', false)
  let warned = false
  return compileRequestBuilder(operation, {
    ...(validates && isJsonObject(document) && { validate: compileArgumentValidation(operation, document) }),
    // SonataFlow drops them, and its projects rely on that.
    ...(scope.profile === 'sonataflow' && {
      onUnknown: (names: readonly string[]) => {
        if (warned) return
        warned = true
        options.log.warn({ workflowId: scope.workflowId, function: definition.name }, `Arguments ${names.join(', ')} are dropped: operation ${operation.operationId} does not know them`)
      },
    }),
  })
}

/** Gives the service under a configuration key, made at its first use. */
function serviceOf(plan: Plan, key: string): Service {
  const known = plan.services.get(key)
  if (known !== undefined) return known
  const { operation, parts, source } = plan
  const { settings } = source.options
  const urlKey = urlKeyOf(key)
  const configured = settings.text(urlKey)
  const address = configured ?? (key === plan.key ? operation.server : undefined)
  const root = address === undefined
    ? `has no root address; set ${urlKey} (or ${environmentName(urlKey)})`
    : describeRoot(parseRoot(address), configured === undefined ? `the server of ${operation.document}` : urlKey)
  const authorization = parts.authorizer.compile({
    fileKey: plan.key,
    document: operation.document,
    operation: operation.operationId,
    security: operation.security,
    schemes: operation.schemes as never,
    ...(typeof root !== 'string' && { base: root.origin + root.basePath }),
  }) ?? (operation.security.length === 0 && source.definition.metadata['authorizeCalls'] === true ? parts.authorizationOf(source) : undefined)
  const service: Service = { client: parts.httpClients.forDocument(key), root, authorization }
  if (plan.services.size < MAX_SERVICES) plan.services.set(key, service)
  return service
}

function urlKeyOf(key: string): string {
  return settingKey('sonatina.rest-client', key, 'url')
}

function describeRoot(root: Root | string, where: string): Root | string {
  return typeof root === 'string' ? `cannot be called: the address of ${where} ${root}` : root
}

function invoke(plan: Plan, service: Service, call: FunctionCall): Promise<FunctionResult> {
  const { operation, parts } = plan
  const { root } = service
  if (typeof root === 'string') throw new FunctionError({ code: 'FUNCTION_FAILED', message: `${describeFunction(plan.source)} ${root}` })
  const request = plan.builder.build(call.arguments)
  if (operation.path.includes('{') && !staysBelow(root, root.basePath + request.path)) {
    throw argumentError(operation, 'a path parameter changes the address of the call')
  }
  const answer = callRemote({
    client: service.client,
    method: operation.method,
    root,
    path: request.path,
    query: request.query,
    headers: headersOf(plan.accept, request),
    cookies: request.cookies,
    body: request.body,
    authorization: service.authorization,
    context: call.context,
    callee: operation.operationId,
    details: { operationId: operation.operationId },
    failOnStatus: plan.failOnStatus,
  }, parts.remote)
  const { coerce } = plan
  return coerce === undefined ? answer : answer.then((result) => ({ ...result, output: coerce(result.output ?? null) }))
}

/** `Content-Type` is sent on GET too (openapi-functions.md §4). */
function headersOf(accept: string, request: BuiltRequest): Record<string, string> {
  // A document cannot name these two as parameters; what is copied stands last, which V8 makes many times faster.
  return { accept, 'content-type': request.contentType ?? 'application/json', ...request.headers }
}

async function evaluateConfigKey({ scope }: FunctionSource, configKey: Json, call: FunctionCall): Promise<string | undefined> {
  const value: Json = typeof configKey === 'string' ? await (scope.evaluate(configKey, call.data, call.context)) : configKey
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

