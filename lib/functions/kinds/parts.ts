import type { Authorization, Authorizer } from '../../auth/index.ts'
import type { Json, JsonObject } from '../../common/index.ts'
import { isJsonObject } from '../../common/index.ts'
import { canonicalName, fileKey } from '../../configuration/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import type { HttpClients } from '../../http-client/index.ts'
import { describeFunction, malformed, type FunctionSource } from '../compile-options.ts'
import type { DocumentScope, LocatedDocument } from '../documents/locate.ts'
import type { RemoteReader } from '../documents/read.ts'
import type { GrpcChannels } from '../grpc/channels.ts'
import type { CallContext } from '../invoker.ts'
import type { NatsConnections } from '../nats.ts'
import type { OpenApiLibrary } from '../openapi/library.ts'
import type { RemoteOptions } from '../remote/call.ts'

/** What the remote kinds of a compiler share. */
export interface RemoteParts {
  readonly library: OpenApiLibrary
  readonly httpClients: HttpClients
  readonly authorizer: Authorizer
  readonly remote: RemoteOptions
  /** Reads remote documents with the credentials of the `auth` definition that a function names (S284). */
  readerOf(source: FunctionSource): RemoteReader
  readonly grpc: GrpcChannels
  readonly nats: NatsConnections
  /** `sonatina.rest-client.config-key.separator`. */
  readonly configKeySeparator: string
  /** Keys of documents in use, with the address each was made for. */
  readonly documentKeys: Map<string, string>
  /** Names of the security schemes that operations in use ask for. */
  readonly schemes: Set<string>
  /** Credentials of the `auth` definition that a function names; `undefined` when it names none. */
  authorizationOf(source: FunctionSource): Authorization | undefined
}

/** Splits `<document>#<name>` at the last `#`. @throws {@link DefinitionError} `DEFINITION_INVALID` */
export function splitOperation(source: FunctionSource, expected: string): { readonly document: string; readonly name: string } {
  const { operation } = source.definition
  const at = operation.lastIndexOf('#')
  const document = operation.slice(0, Math.max(0, at)).trim()
  const name = operation.slice(at + 1).trim()
  if (at < 0 || document === '' || name === '') throw malformed(source, expected)
  return { document, name }
}

/** Gives where the documents of a function are looked for. */
export function documentScope({ scope, options }: FunctionSource): DocumentScope {
  return {
    base: scope.base,
    root: options.root,
    extensions: scope.extensions,
    remote: options.settings.boolean('sonatina.openapi.remote-documents', false),
  }
}

/** A document with where it was found. */
interface KeyedDocument {
  readonly located: LocatedDocument
  readonly document: JsonObject
}

/**
 * Makes the key under which a document is configured (configuration.md §2): by file name, full address, function or title, as
 * `sonatina.operation-id-strategy` says; an alias is used as it is.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` when another document has the key already
 */
export function documentKey(source: FunctionSource, parts: RemoteParts, { located, document }: KeyedDocument): string {
  const strategy = source.options.settings.text('sonatina.operation-id-strategy', 'FILE_NAME')
  const key = located.alias ?? keyBy(strategy, source, { located, document })
  const owner = parts.documentKeys.get(key)
  if (owner !== undefined && owner !== located.uri && strategy !== 'FUNCTION_NAME') {
    throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `Two documents share the configuration key "${key}": "${located.name}" of ${describeFunction(source)} and another one of that name; ` +
        'set sonatina.operation-id-strategy=FULL_URI, or give one an alias with the extension workflow-uri-definitions',
    })
  }
  parts.documentKeys.set(key, located.uri)
  return key
}

function keyBy(strategy: string, { definition, scope }: FunctionSource, { located: { name }, document }: KeyedDocument): string {
  switch (strategy) {
    case 'FULL_URI':
      return canonicalName(name.replace(/^[a-z]+:\/\/[^/]*\/?|^(?:file|classpath):\/*/i, '').replace(/[?#].*$/, ''))
    case 'FUNCTION_NAME':
      return canonicalName(`${scope.workflowId}_${definition.name}`)
    case 'SPEC_TITLE': {
      const title: Json | undefined = isJsonObject(document['info']) ? document['info']['title'] : undefined
      return typeof title === 'string' ? canonicalName(title) : fileKey(name)
    }
    default:
      return fileKey(name)
  }
}

/** A context for expressions that belong to no call: properties of `auth` definitions, which read secrets and constants. */
export function contextWithoutCall({ scope, options }: FunctionSource): CallContext {
  return {
    workflowId: scope.workflowId,
    workflowVersion: '',
    instanceId: '',
    state: '',
    headers: {},
    idempotencyKey: '',
    signal: new AbortController().signal,
    log: options.log,
  }
}
