import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Authorizer } from '../../../lib/auth/index.ts'
import { createRandomIdSource, silentLogger, type Json, type Logger } from '../../../lib/common/index.ts'
import { createSettings, type Settings } from '../../../lib/configuration/index.ts'
import type { FunctionDefinition } from '../../../lib/definition/index.ts'
import { createFunctionCompiler, type CallContext, type FunctionCall, type FunctionCompiler, type FunctionCompilerOptions, type FunctionScope } from '../../../lib/functions/index.ts'
import { createHttpClients, type HttpClients } from '../../../lib/http-client/index.ts'
import { createVirtualClock } from '../../support/clock.ts'

/** A request as a recording server got it. */
export interface Recorded {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** An HTTP server on a free port of the loopback that keeps what it got. */
export interface RecordingServer {
  readonly url: string
  readonly requests: Recorded[]
  answer: (request: Recorded, response: ServerResponse) => void
  close(): Promise<void>
}

/** Starts a recording server; it answers `{}` until told otherwise. */
export async function startRecordingServer(): Promise<RecordingServer> {
  const requests: Recorded[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const recorded = { method: request.method ?? '', target: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
      requests.push(recorded)
      recording.answer(recorded, response)
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const recording: RecordingServer = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    answer: (_request, response) => { respond(response, 200, {}) },
    close: () => new Promise((resolve) => {
      server.closeAllConnections()
      server.close(() => { resolve() })
    }),
  }
  return recording
}

/** Answers with JSON. */
export function respond(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Settings made of these options alone. */
export function settingsOf(settings: Readonly<Record<string, unknown>> = {}): Promise<Settings> {
  return createSettings({ settings, root: import.meta.dirname, environment: {}, readFile: () => Promise.resolve(undefined) })
}

/** A compiler with what a test does not care about filled in. */
export interface TestCompiler extends AsyncDisposable {
  readonly compiler: FunctionCompiler
  readonly httpClients: HttpClients
  readonly warnings: string[]
  compile(definition: Partial<FunctionDefinition> & Pick<FunctionDefinition, 'operation'>, scope?: Partial<FunctionScope>): ReturnType<FunctionCompiler['compile']>
}

export const noAuthorizer: Authorizer = {
  compile: () => undefined,
  compileDefinition: () => ({ apply: () => undefined, renew: () => false }),
  close: () => undefined,
}

/** Creates a compiler over real HTTP clients. */
export async function createTestCompiler(options: Partial<FunctionCompilerOptions> & { readonly config?: Readonly<Record<string, unknown>> } = {}): Promise<TestCompiler> {
  const { config, ...given } = options
  const settings = given.settings ?? await settingsOf(config)
  const clock = given.clock ?? createVirtualClock()
  const httpClients = given.httpClients ?? createHttpClients({ settings, clock, log: silentLogger })
  const warnings: string[] = []
  const log: Logger = { ...silentLogger, warn: (_fields, message) => { warnings.push(message) } }
  const compiler = createFunctionCompiler({
    authorizer: noAuthorizer,
    ids: createRandomIdSource(),
    log,
    root: import.meta.dirname,
    hostClasses: new Map(),
    ...given,
    settings,
    clock,
    httpClients,
  })
  return {
    compiler,
    httpClients,
    warnings,
    compile: (definition, scope) => compiler.compile(
      { name: 'f', type: 'custom', metadata: {}, ...definition },
      { ...testScope, base: `${import.meta.dirname}/test.sw.json`, ...scope },
    ),
    async [Symbol.asyncDispose]() {
      await compiler.close()
      await httpClients.close()
    },
  }
}

const testScope: FunctionScope = {
  workflowId: 'orders',
  profile: 'spec',
  base: '/',
  auth: [],
  extensions: [],
  secrets: [],
  constants: {},
  evaluate: (text) => text,
}

/** A call with what a test does not care about filled in. */
export function callOf(args?: Json, more: Partial<Omit<FunctionCall, 'context'>> & { readonly context?: Partial<CallContext> } = {}): FunctionCall {
  return {
    data: {},
    ...(args !== undefined && { arguments: args }),
    ...more,
    context: {
      workflowId: 'orders',
      workflowVersion: '1.0',
      instanceId: 'i-1',
      state: 'Call',
      headers: {},
      idempotencyKey: 'i-1:e1:t1',
      signal: new AbortController().signal,
      log: silentLogger,
      ...more.context,
    },
  }
}
