import type { Clock, Json } from '../../common/index.ts'
import type { Authorization, AuthorizedRequest } from '../../auth/index.ts'
import type { HttpClient, HttpResponse } from '../../http-client/index.ts'
import type { MaybePromise } from '../../expressions/index.ts'
import type { CallContext, FunctionResult } from '../invoker.ts'
import { encodeCookieValue, encodeUnreserved } from '../openapi/encode.ts'
import { readAnswer } from './answer.ts'
import { joinTarget, type Root } from './root.ts'
import { addRuntimeHeaders } from './runtime-headers.ts'

/** What is equal for all remote calls of a compiler. */
export interface RemoteOptions {
  readonly clock: Clock
  /** `sonatina.headers.kogito`. */
  readonly kogito: boolean
  /** `sonatina.headers.forward`, names in lower case. */
  readonly forward: readonly string[]
}

/** A call that is ready but for credentials and runtime headers. */
export interface RemoteCall {
  readonly client: HttpClient
  readonly method: string
  readonly root: Root
  /** Encoded path of the operation. */
  readonly path: string
  /** Encoded query without `?`. */
  readonly query: string
  /** Header arguments and those of the kind; names in any case. */
  readonly headers: Readonly<Record<string, string>>
  readonly cookies?: string
  readonly body?: string | Uint8Array | undefined
  readonly authorization?: Authorization | undefined
  readonly context: CallContext
  /** How the callee is named in messages. */
  readonly callee: string
  readonly details?: Readonly<Record<string, Json>>
  readonly failOnStatus?: boolean
  /** Milliseconds for the whole call; overrides that of the client. */
  readonly timeout?: number | undefined
}

/**
 * Sends a call and reads its answer: runtime headers, `Idempotency-Key`, credentials, one renewal after 401
 * (openapi-functions.md §4, §5; configuration.md §4).
 *
 * @throws {@link FunctionError} `REST_STATUS`, `FUNCTION_FAILED`, `FUNCTION_TIMEOUT` or `AUTH_FAILED`
 */
export async function callRemote(call: RemoteCall, options: RemoteOptions): Promise<FunctionResult> {
  const response = await send(call, options)
  return readAnswer({ status: response.status, statusText: response.statusMessage, headers: response.headers, body: response.body }, {
    callee: call.callee,
    method: call.method,
    now: options.clock.now(),
    ...(call.details !== undefined && { details: call.details }),
    ...(call.failOnStatus !== undefined && { failOnStatus: call.failOnStatus }),
  })
}

/** Sends a call and gives the answer as it came, whatever its status. Credentials at hand take no time of their own. */
function send(call: RemoteCall, options: RemoteOptions): Promise<HttpResponse> {
  const { authorization } = call
  if (authorization === undefined) return request(call, options)
  const credentials = authorize(authorization, call)
  return credentials instanceof Promise
    ? credentials.then((ready) => sendWith(ready, authorization, call, options))
    : sendWith(credentials, authorization, call, options)
}

function sendWith(credentials: AuthorizedRequest, authorization: Authorization, call: RemoteCall, options: RemoteOptions): Promise<HttpResponse> {
  return request(call, options, credentials).then(async (response) => {
    // Once, and with the same idempotency key: the callee can tell that it is the same call.
    if (response.status !== 401 || !authorization.renew(credentials)) return response
    return request(call, options, await authorize(authorization, call))
  })
}

function authorize(authorization: Authorization, { context }: RemoteCall): MaybePromise<AuthorizedRequest> {
  const request: AuthorizedRequest = { headers: {}, query: {}, cookies: {} }
  const applied = authorization.apply(request, { headers: context.headers, signal: context.cancellation ?? context.signal })
  return applied instanceof Promise ? applied.then(() => request) : request
}

/** Weakest first: forwarded inbound headers, then those of the call, then the runtime's. The client's fixed ones stand between. */
function headersOf(call: RemoteCall, options: RemoteOptions): Record<string, string> {
  const headers: Record<string, string> = {}
  const { context } = call
  for (const name of options.forward) {
    const inbound = context.headers[name]
    if (inbound !== undefined && !hasFixedHeader(call.client, name)) headers[name] = inbound
  }
  for (const name of Object.keys(call.headers)) headers[name.toLowerCase()] = call.headers[name] as string
  if (call.cookies !== undefined && call.cookies !== '') headers['cookie'] = call.cookies
  addRuntimeHeaders(headers, context, options)
  if (call.method !== 'GET' && call.method !== 'HEAD') headers['idempotency-key'] = context.idempotencyKey
  return headers
}

function hasFixedHeader(client: HttpClient, name: string): boolean {
  const fixed = client.options.headers
  return fixed !== undefined && Object.keys(fixed).some((other) => other.toLowerCase() === name)
}

function request(call: RemoteCall, options: RemoteOptions, credentials?: AuthorizedRequest): Promise<HttpResponse> {
  const { method, root, path, body, context, timeout, callee, client } = call
  const headers = headersOf(call, options)
  if (credentials !== undefined) addCredentials(headers, credentials)
  const query = credentials === undefined ? call.query : withQuery(call.query, credentials.query)
  return client.request({
    method,
    url: root.origin + joinTarget(root, path, query),
    headers,
    signal: context.cancellation ?? context.signal,
    purpose: callee,
    ...(body !== undefined && { body }),
    ...(timeout !== undefined && { timeouts: { total: timeout } }),
    ...(credentials !== undefined && { credentialHeaders: Object.keys(credentials.headers) }),
  })
}

function addCredentials(headers: Record<string, string>, credentials: AuthorizedRequest): void {
  for (const name of Object.keys(credentials.headers)) headers[name.toLowerCase()] = credentials.headers[name] ?? ''
  const names = Object.keys(credentials.cookies)
  if (names.length === 0) return
  const own = names.map((name) => `${name}=${encodeCookieValue(credentials.cookies[name] ?? '')}`)
  const given = (headers['cookie'] ?? '').split('; ').filter((pair) => pair !== '' && !names.includes(pair.slice(0, pair.indexOf('='))))
  headers['cookie'] = [...given, ...own].join('; ')
}

/** Credentials are stronger than an argument of the same name. */
function withQuery(query: string, credentials: Readonly<Record<string, string>>): string {
  const names = Object.keys(credentials)
  if (names.length === 0) return query
  const keys = new Set(names.map(encodeUnreserved))
  const given = query.split('&').filter((pair) => pair !== '' && !keys.has(pair.split('=', 1)[0] ?? ''))
  return [...given, ...names.map((name) => `${encodeUnreserved(name)}=${encodeUnreserved(credentials[name] ?? '')}`)].join('&')
}
