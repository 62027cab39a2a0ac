import type { NatsConnection } from 'nats'
import type { Json } from '../../common/index.ts'
import { settingKey } from '../../configuration/index.ts'
import { DefinitionError, FunctionError } from '../../errors/index.ts'
import { isJsonMediaType, parseMediaType, type CloudEventRecord } from '../../events/index.ts'
import { readAsyncApiOperation, type AsyncApiOperation } from '../asyncapi-document.ts'
import { andThen, describeFunction, type FunctionSource } from '../compile-options.ts'
import { bundleDocument } from '../documents/bundle.ts'
import { locateDocument } from '../documents/locate.ts'
import type { CallContext, FunctionCall, FunctionResult, Invoker } from '../invoker.ts'
import { toText } from '../openapi/encode.ts'
import { addRuntimeHeaders, type RuntimeHeaderOptions } from '../remote/runtime-headers.ts'
import { parseRoot } from '../remote/root.ts'
import { createCaller } from './caller.ts'
import { documentKey, documentScope, splitOperation, type RemoteParts } from './parts.ts'

/**
 * Compiles `<AsyncAPI document>#<operationId>` (S119). The arguments, or the data of the action, are the payload.
 *
 * A server that speaks http or NATS is called directly, at `sonatina.asyncapi.<file_key>.url` or the document's address. Any other
 * protocol, and any channel that `sonatina.messaging` configures, is an event of that type: see {@link Invoker.event}.
 *
 * @throws {@link DefinitionError} for a document or operation that does not exist or cannot be used
 */
export async function compileAsyncapi(source: FunctionSource, parts: RemoteParts): Promise<Invoker> {
  const { document, name } = splitOperation(source, '"<AsyncAPI document>#<operationId>"')
  const scope = documentScope(source)
  const located = await locateDocument(document, scope)
  const bundle = await bundleDocument(located, scope, parts.readerOf(source))
  const operation = readAsyncApiOperation(bundle.document, document, name)
  const key = documentKey(source, parts, { located, document: bundle.document })
  const { settings } = source.options
  const address = settings.text(settingKey('sonatina.asyncapi', key, 'url')) ?? operation.server?.url
  const direction = operation.action === 'publish' ? 'outgoing' : 'incoming'
  const isChannel = settings.segments(`sonatina.messaging.${direction}`).includes(operation.channel)
  if (!isChannel && address !== undefined && /^nats:/i.test(address)) return compileNats(operation, address, { source, parts })
  if (!isChannel && address !== undefined && /^https?:/i.test(address) && operation.action === 'publish') {
    return compileHttp(operation, { address, key }, { source, parts })
  }
  return operation.action === 'publish' ? compileProduced(operation, source, parts) : compileConsumed(operation, source)
}

interface Compilation {
  readonly source: FunctionSource
  readonly parts: RemoteParts
}

function compileHttp(operation: AsyncApiOperation, { address, key }: { address: string; key: string }, { source, parts }: Compilation): Invoker {
  const root = parseRoot(address)
  if (typeof root === 'string') throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The server of ${describeFunction(source)} ${root}` })
  const callService = createCaller(source, parts)
  return {
    invoke: (call) => callService(call.context, {
      client: parts.httpClients.forDocument(key),
      method: operation.method,
      root,
      path: encodeURI(operation.channel.startsWith('/') ? operation.channel : `/${operation.channel}`),
      query: '',
      headers: { accept: 'application/json', 'content-type': operation.contentType },
      body: operation.method === 'GET' ? undefined : encodePayload(operation, call),
    }),
  }
}

/** NATS: `publish` answers when the server has taken the message, `subscribe` with the next message of the subject. */
function compileNats(operation: AsyncApiOperation, address: string, { source, parts }: Compilation): Invoker {
  const callee = source.definition.name
  const failed = (cause: unknown): never => {
    throw new FunctionError({
      code: 'FUNCTION_FAILED',
      message: `Function ${callee}: the message server cannot be reached or refuses`,
      retryable: true,
      cause,
    })
  }
  return {
    async invoke(call) {
      const connection = await parts.nats.to(address).catch(failed)
      if (operation.action === 'subscribe') return await nextMessage(connection, { operation, signal: call.context.signal, callee })
      try {
        connection.publish(operation.channel, encodePayload(operation, call))
        await connection.flush()
      } catch (cause) {
        failed(cause)
      }
      return { output: null }
    },
  }
}

async function nextMessage(connection: NatsConnection, wanted: { readonly operation: AsyncApiOperation; readonly signal: AbortSignal; readonly callee: string }): Promise<FunctionResult> {
  const subscription = connection.subscribe(wanted.operation.channel, { max: 1 })
  const stop = (): void => { subscription.unsubscribe() }
  // The signal may have come while the connection was made.
  if (wanted.signal.aborted) stop()
  wanted.signal.addEventListener('abort', stop, { once: true })
  for await (const message of subscription) {
    wanted.signal.removeEventListener('abort', stop)
    return { output: decodePayload(wanted.operation, message.data) }
  }
  throw new FunctionError({ code: 'FUNCTION_FAILED', message: `Function ${wanted.callee} stopped waiting for a message` })
}

function compileProduced(operation: AsyncApiOperation, source: FunctionSource, parts: RemoteParts): Invoker {
  const { publish, clock } = source.options
  return {
    event: { kind: 'produced', type: operation.channel },
    invoke(call) {
      const { context } = call
      if (publish === undefined) {
        throw new FunctionError({
          code: 'FUNCTION_NOT_FOUND',
          message: `${describeFunction(source)} publishes to channel "${operation.channel}", but nothing takes events; configure sonatina.messaging.outgoing.${operation.channel}`,
        })
      }
      const event: CloudEventRecord = {
        specversion: '1.0',
        // Equal when the call is repeated, so that a receiver can tell.
        id: context.idempotencyKey,
        source: `/process/${encodeURIComponent(context.workflowId)}`,
        type: operation.channel,
        time: new Date(clock.now()).toISOString(),
        datacontenttype: operation.contentType,
        data: call.arguments ?? call.data,
        ...instanceAttributes(context, parts.remote),
      }
      return andThen(publish(event), (): FunctionResult => ({ output: null }))
    },
  }
}

/** Extensions that tell which instance produced an event: those that remote calls carry as headers. */
function instanceAttributes(context: CallContext, options: RuntimeHeaderOptions): Record<string, string> {
  const attributes: Record<string, string> = {}
  addRuntimeHeaders(attributes, context, options)
  return attributes
}

function compileConsumed(operation: AsyncApiOperation, source: FunctionSource): Invoker {
  return {
    event: { kind: 'consumed', type: operation.channel },
    invoke: () => {
      throw new FunctionError({
        code: 'FUNCTION_FAILED',
        message: `${describeFunction(source)} waits for events of channel "${operation.channel}"; an instance waits, there is nothing to call`,
      })
    },
  }
}

function encodePayload({ contentType }: AsyncApiOperation, call: FunctionCall): string {
  const payload: Json = call.arguments ?? call.data
  const mediaType = parseMediaType(contentType)
  return mediaType === undefined || isJsonMediaType(mediaType) ? JSON.stringify(payload) : toText(payload)
}

function decodePayload({ contentType }: AsyncApiOperation, bytes: Uint8Array): Json {
  const text = new TextDecoder().decode(bytes)
  const mediaType = parseMediaType(contentType)
  if (mediaType !== undefined && !isJsonMediaType(mediaType)) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
