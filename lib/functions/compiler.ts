import type { Authorization, AuthorizedRequest } from '../auth/index.ts'
import { findUnusedNames } from '../configuration/index.ts'
import { DefinitionError, FunctionError } from '../errors/index.ts'
import type { FunctionDefinition } from '../definition/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import type { FunctionCompilerOptions, FunctionSource } from './compile-options.ts'
import { describeFunction } from './compile-options.ts'
import { createGrpcChannels } from './grpc/channels.ts'
import { MAX_DOCUMENT_SIZE } from './documents/parse.ts'
import type { FunctionCompiler, Invoker } from './invoker.ts'
import { compileAsyncapi } from './kinds/asyncapi.ts'
import { compileCustom } from './kinds/custom.ts'
import { compileGraphql } from './kinds/graphql.ts'
import { compileOdata } from './kinds/odata.ts'
import { contextWithoutCall, type RemoteParts } from './kinds/parts.ts'
import { compileRest } from './kinds/rest.ts'
import { compileRpc } from './kinds/rpc.ts'
import { createNatsConnections } from './nats.ts'
import { createOpenApiLibrary } from './openapi/library.ts'

type Kind = (source: FunctionSource, parts: RemoteParts) => Invoker | Promise<Invoker>

const KINDS: Readonly<Record<FunctionDefinition['type'], Kind>> = {
  asyncapi: compileAsyncapi,
  custom: compileCustom,
  graphql: compileGraphql,
  odata: compileOdata,
  rest: compileRest,
  rpc: compileRpc,
  expression: (source) => {
    throw new DefinitionError({
      code: 'DEFINITION_UNSUPPORTED',
      message: `${describeFunction(source)} is an expression function, which has no invoker: instances evaluate it themselves`,
    })
  },
}

/** Creates the compiler of functions; one for a process, closed with it. */
export function createFunctionCompiler(options: FunctionCompilerOptions): FunctionCompiler {
  const parts = createParts(options)
  return {
    async compile(definition, scope) {
      return await KINDS[definition.type]({ definition, scope, options }, parts)
    },
    unusedSettings() {
      const found = findUnusedNames(options.settings, { documents: parts.documentKeys.keys(), schemes: parts.schemes })
      return found.map(({ message }) => message)
    },
    async close() {
      parts.grpc.close()
      await parts.nats.close()
    },
  }
}

function createParts(options: FunctionCompilerOptions): RemoteParts {
  const { settings, httpClients, authorizer } = options
  const authorizations = new Map<string, Authorization>()
  return {
    library: createOpenApiLibrary(),
    httpClients,
    authorizer,
    readerOf: (source) => (uri) => readRemote(uri, httpClients.general, authorizationOf(source, options, authorizations)),
    grpc: createGrpcChannels(settings),
    nats: createNatsConnections(),
    remote: {
      clock: options.clock,
      kogito: settings.boolean('sonatina.headers.kogito', false),
      forward: settings.list('sonatina.headers.forward', []).map((name) => name.toLowerCase()),
    },
    configKeySeparator: settings.text('sonatina.rest-client.config-key.separator', '.'),
    documentKeys: new Map(),
    schemes: new Set(),
    authorizationOf: (source) => authorizationOf(source, options, authorizations),
  }
}

async function readRemote(uri: string, client: HttpClient, authorization: Authorization | undefined): Promise<string> {
  const credentials: AuthorizedRequest = { headers: {}, query: {}, cookies: {} }
  await authorization?.apply(credentials, { headers: {} })
  const answer = await client.request({
    method: 'GET',
    url: uri,
    headers: credentials.headers,
    credentialHeaders: Object.keys(credentials.headers),
    maxResponseSize: MAX_DOCUMENT_SIZE,
    purpose: 'document',
  })
  if (answer.status !== 200) {
    throw new FunctionError({ code: 'REST_STATUS', message: `The document was answered with status ${String(answer.status)}`, status: answer.status })
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(answer.body)
}

/** One object for each `auth` definition of a workflow, so that its functions share tokens. */
function authorizationOf(source: FunctionSource, { authorizer }: FunctionCompilerOptions, made: Map<string, Authorization>): Authorization | undefined {
  const { definition, scope } = source
  if (definition.authRef === undefined) return undefined
  const auth = scope.auth.find((candidate) => candidate.name === definition.authRef)
  if (auth === undefined) {
    throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `${describeFunction(source)} names the auth definition "${definition.authRef}", which does not exist`,
    })
  }
  const key = `${scope.base} ${auth.name} ${JSON.stringify(auth.properties)}`
  const known = made.get(key)
  if (known !== undefined) return known
  const context = contextWithoutCall(source)
  const authorization = authorizer.compileDefinition(auth, (text) => scope.evaluate(text, {}, context))
  made.set(key, authorization)
  return authorization
}

