import type { Client, Metadata, ServiceError } from '@grpc/grpc-js'
import type { Authorization, AuthorizedRequest } from '../../auth/index.ts'
import { isJsonObject, type Json } from '../../common/index.ts'
import { FunctionError } from '../../errors/index.ts'
import { malformed, type FunctionSource } from '../compile-options.ts'
import { locateDocument } from '../documents/locate.ts'
import { loadGrpcMethod, type GrpcMethod } from '../grpc/proto.ts'
import type { CallContext, FunctionCall, FunctionResult, Invoker } from '../invoker.ts'
import { isJsonArray } from '../json-array.ts'
import { addRuntimeHeaders } from '../remote/runtime-headers.ts'
import { documentScope, type RemoteParts } from './parts.ts'
import { timeoutOf } from './rest-call.ts'
import { credentialsOf } from './static-credentials.ts'

const OPERATION = /^(.+)#([^#]+)#([^#]+)$/

/** A method with everything that calling it needs. */
interface RpcPlan {
  readonly source: FunctionSource
  readonly parts: RemoteParts
  readonly method: GrpcMethod
  readonly authorization: Authorization | undefined
  /** Milliseconds. */
  readonly timeout: number
  /** `sonatina.grpc.enum.include-default`. */
  readonly enumDefaults: boolean
}

/**
 * Compiles `<proto file>#<service>#<method>` (S120): the arguments are the request message; where the request streams they are a list
 * of messages, and where the answer streams the result is a list.
 *
 * @throws {@link DefinitionError} for a malformed operation, a file that cannot be used, an unknown service or method
 */
export async function compileRpc(source: FunctionSource, parts: RemoteParts): Promise<Invoker> {
  const match = OPERATION.exec(source.definition.operation)
  const [, document = '', service = '', name = ''] = match?.map((part) => part.trim()) ?? []
  if (match === null) throw malformed(source, '"<proto file>#<service>#<method>"')
  const scope = documentScope(source)
  const method = await loadGrpcMethod(await locateDocument(document, scope), scope, { service, method: name })
  const plan: RpcPlan = {
    source,
    parts,
    method,
    authorization: credentialsOf(source, parts),
    timeout: timeoutOf(source),
    enumDefaults: source.options.settings.boolean('sonatina.grpc.enum.include-default', false),
  }
  return { invoke: (call) => invoke(plan, call) }
}

async function invoke(plan: RpcPlan, call: FunctionCall): Promise<FunctionResult> {
  const messages = toMessages(plan, call.arguments ?? (plan.method.definition.requestStream ? [] : {}))
  const client = await plan.parts.grpc.of(plan.method.service)
  const first = await createMetadata(plan, call.context)
  try {
    return { output: await send(plan, { client, messages, metadata: first.metadata, context: call.context }) }
  } catch (error) {
    if (!isUnauthenticated(error) || first.credentials === undefined || plan.authorization?.renew(first.credentials) !== true) throw error
    const { metadata } = await createMetadata(plan, call.context)
    return { output: await send(plan, { client, messages, metadata, context: call.context }) }
  }
}

interface Exchange {
  readonly client: Client
  readonly messages: readonly object[]
  readonly metadata: Metadata
  readonly context: CallContext
}

/**
 * Makes the call in whichever of the four ways the method has. The signal of the context and the timeout cancel it; the timeout runs
 * on the injected clock, which gRPC's own deadlines do not know.
 */
function send(plan: RpcPlan, { client, messages, metadata, context }: Exchange): Promise<Json> {
  const { definition, types } = plan.method
  const { clock } = plan.source.options
  const toJson = (message: object): Json => types.toJson(definition.responseType, message, plan.enumDefaults)
  return new Promise((resolve, reject) => {
    let timedOut = false
    const settle = (error: ServiceError | null, result: () => Json): void => {
      stop()
      if (error === null) resolve(result())
      else reject(toFunctionError(error, { plan, timedOut, cancelled: context.signal.aborted }))
    }
    const call = start({ client, definition, messages, metadata }, settle, toJson)
    const cancel = (): void => { call.cancel() }
    const cancelTimer = clock.at(clock.now() + plan.timeout, () => {
      timedOut = true
      cancel()
    })
    const stop = (): void => {
      cancelTimer()
      context.signal.removeEventListener('abort', cancel)
    }
    if (context.signal.aborted) cancel()
    else context.signal.addEventListener('abort', cancel, { once: true })
  })
}

type Settle = (error: ServiceError | null, result: () => Json) => void

function start(
  { client, definition, messages, metadata }: Omit<Exchange, 'context'> & { readonly definition: GrpcMethod['definition'] },
  settle: Settle,
  toJson: (message: object) => Json,
): { cancel(): void } {
  const { path, requestStream, responseStream, requestSerialize, responseDeserialize } = definition
  const one = (error: ServiceError | null, message?: object): void => { settle(error, () => message === undefined ? null : toJson(message)) }
  const received: Json[] = []
  const [first = {}] = messages
  if (!requestStream && !responseStream) return client.makeUnaryRequest(path, requestSerialize, responseDeserialize, first, metadata, one)
  if (!requestStream) return collect(client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, first, metadata))
  const call = responseStream
    ? collect(client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata))
    : client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, one)
  for (const message of messages) call.write(message)
  call.end()
  return call

  function collect<Stream extends NodeJS.EventEmitter>(stream: Stream): Stream {
    return stream
      .on('data', (message: object) => { received.push(toJson(message)) })
      .on('error', (error: ServiceError) => { settle(error, () => null) })
      .on('end', () => { settle(null, () => received) })
  }
}

function toMessages({ method, source }: RpcPlan, given: Json): readonly object[] {
  const { definition, types } = method
  const candidates = definition.requestStream && isJsonArray(given) ? given : [given]
  return candidates.map((candidate) => {
    if (!isJsonObject(candidate)) {
      throw refused(source, definition.requestStream ? 'takes a list of messages (objects)' : 'takes named arguments (an object): the fields of the message')
    }
    const unknown = types.unknownMembers(definition.requestType, candidate)
    if (unknown.length > 0 && source.scope.profile === 'spec') throw refused(source, `the message has no field ${unknown.join(', ')}`)
    try {
      // Serialised here and again when sent: only this shows a wrong type before anything goes out.
      definition.requestSerialize(candidate)
    } catch (cause) {
      throw refused(source, cause instanceof Error ? cause.message : String(cause), cause)
    }
    return candidate
  })
}

async function createMetadata({ parts, authorization }: RpcPlan, context: CallContext): Promise<{ readonly metadata: Metadata; readonly credentials?: AuthorizedRequest }> {
  const { Metadata } = await import('@grpc/grpc-js')
  const metadata = new Metadata()
  const headers: Record<string, string> = { 'idempotency-key': context.idempotencyKey }
  addRuntimeHeaders(headers, context, parts.remote)
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  if (authorization === undefined) return { metadata }
  const credentials: AuthorizedRequest = { headers: {}, query: {}, cookies: {} }
  await authorization.apply(credentials, { headers: context.headers, signal: context.signal })
  for (const [name, value] of Object.entries(credentials.headers)) metadata.set(name.toLowerCase(), value)
  return { metadata, credentials }
}

const UNAUTHENTICATED = 16
const DEADLINE_EXCEEDED = 4
const UNAVAILABLE = 14
const RESOURCE_EXHAUSTED = 8

function isUnauthenticated(error: unknown): boolean {
  return error instanceof FunctionError && error.details['grpcStatus'] === UNAUTHENTICATED
}

function toFunctionError(error: ServiceError, { plan, timedOut, cancelled }: { plan: RpcPlan; timedOut: boolean; cancelled: boolean }): FunctionError {
  const callee = `${plan.method.service}/${plan.method.name}`
  const status: number = error.code
  const late = timedOut || status === DEADLINE_EXCEEDED
  // The details of a failed connection name the address, which callers of the workflow must not see.
  const reason = status === UNAVAILABLE ? 'the service cannot be reached' : error.details
  return new FunctionError({
    code: late ? 'FUNCTION_TIMEOUT' : 'FUNCTION_FAILED',
    message: `${callee} ${late ? 'did not answer in time' : cancelled ? 'was cancelled' : `failed: ${reason.slice(0, 8192)}`}`,
    retryable: late || status === UNAVAILABLE || status === RESOURCE_EXHAUSTED,
    details: { grpcStatus: status },
    cause: error,
  })
}

function refused({ definition }: FunctionSource, problem: string, cause?: unknown): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `Function ${definition.name}: ${problem}`, ...(cause !== undefined && { cause }) })
}
