import { atPointer, isJsonObject, type Json, type JsonObject } from '../common/index.ts'
import { DefinitionError } from '../errors/index.ts'
import { isJsonArray } from './json-array.ts'
import { nameNearest } from './name-nearest.ts'

/** What an AsyncAPI document says about one operation. */
export interface AsyncApiOperation {
  readonly action: 'publish' | 'subscribe'
  /** Address of the channel: topic, subject or path. */
  readonly channel: string
  /** The first server of the channel; absent when the document names none. */
  readonly server?: { readonly protocol: string; readonly url: string }
  /** Media type of the message. */
  readonly contentType: string
  /** Method of the HTTP binding, upper case. */
  readonly method: string
}

interface Found {
  readonly action: 'publish' | 'subscribe'
  readonly channelName: string
  readonly channel: JsonObject
  readonly operation: JsonObject
}

/**
 * Reads an operation of an AsyncAPI 2.x or 3.0 document (S119). What the document's application sends, the workflow publishes; what it
 * receives, the workflow waits for: the document describes the workflow's side, as SonataFlow reads it.
 *
 * @throws {@link DefinitionError} `DEFINITION_UNSUPPORTED` for another version, `DEFINITION_NOT_FOUND` naming the nearest operations
 */
export function readAsyncApiOperation(document: JsonObject, name: string, operationId: string): AsyncApiOperation {
  const version = document['asyncapi']
  if (typeof version !== 'string' || !/^(?:2|3)\.\d+\.\d+/.test(version)) {
    throw new DefinitionError({ code: 'DEFINITION_UNSUPPORTED', message: `Document "${name}" says asyncapi: ${JSON.stringify(version ?? null)}; 2.x and 3.0 can be read` })
  }
  const operations = version.startsWith('2') ? listVersion2(document) : listVersion3(document)
  const found = operations.get(operationId)
  if (found === undefined) {
    throw new DefinitionError({
      code: 'DEFINITION_NOT_FOUND',
      message: `Document "${name}" has no operation "${operationId}"; ${nameNearest(operationId, operations.keys())}`,
    })
  }
  const { action, channel, channelName, operation } = found
  const address = typeof channel['address'] === 'string' ? channel['address'] : channelName
  const server = serverOf(document, channel)
  const binding = object(object(operation['bindings'])['http'])['method']
  return {
    action,
    channel: address,
    ...(server !== undefined && { server }),
    contentType: contentTypeOf(document, operation),
    method: typeof binding === 'string' ? binding.toUpperCase() : 'POST',
  }
}

function listVersion3(document: JsonObject): Map<string, Found> {
  const found = new Map<string, Found>()
  for (const [id, declared] of Object.entries(object(document['operations']))) {
    const operation = follow(document, declared)
    const reference = object(operation['channel'])['$ref']
    const channelName = typeof reference === 'string' ? decodeURIComponent(reference.slice(reference.lastIndexOf('/') + 1)).replaceAll('~1', '/').replaceAll('~0', '~') : id
    found.set(id, {
      action: operation['action'] === 'receive' ? 'subscribe' : 'publish',
      channelName,
      channel: follow(document, operation['channel']),
      operation,
    })
  }
  return found
}

function listVersion2(document: JsonObject): Map<string, Found> {
  const found = new Map<string, Found>()
  for (const [channelName, declared] of Object.entries(object(document['channels']))) {
    const channel = follow(document, declared)
    for (const action of ['publish', 'subscribe'] as const) {
      const operation = follow(document, channel[action])
      const id = operation['operationId']
      if (typeof id === 'string') found.set(id, { action, channelName, channel, operation })
    }
  }
  return found
}

function serverOf(document: JsonObject, channel: JsonObject): AsyncApiOperation['server'] {
  const servers = object(document['servers'])
  const named = channel['servers']
  const [first] = isJsonArray(named) ? named : []
  const server = typeof first === 'string' ? follow(document, servers[first]) : follow(document, first ?? Object.values(servers)[0])
  const { protocol, host, pathname, url } = server as { protocol?: Json; host?: Json; pathname?: Json; url?: Json }
  if (typeof protocol !== 'string') return undefined
  const address = typeof url === 'string' ? url : `${typeof host === 'string' ? host : ''}${typeof pathname === 'string' ? pathname : ''}`
  return { protocol: protocol.toLowerCase(), url: replaceVariables(/^[a-z][a-z+]*:\/\//i.test(address) ? address : `${protocol}://${address}`, server) }
}

function replaceVariables(url: string, server: JsonObject): string {
  const variables = object(server['variables'])
  return url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(variables, name) ? object(variables[name])['default'] : undefined
    return typeof value === 'string' ? value : whole
  })
}

function contentTypeOf(document: JsonObject, operation: JsonObject): string {
  const messages = operation['messages']
  const [first] = isJsonArray(messages) ? messages : [operation['message']]
  const declared = follow(document, first)['contentType'] ?? document['defaultContentType']
  return typeof declared === 'string' ? declared : 'application/json'
}

/** Follows references, which are all internal after bundling; a loop among them was refused there. */
function follow(document: JsonObject, value: Json | undefined): JsonObject {
  let target = value
  while (isJsonObject(target) && typeof target['$ref'] === 'string') target = atPointer(document, decodeURIComponent(target['$ref'].slice(1))) as Json | undefined
  return object(target)
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
