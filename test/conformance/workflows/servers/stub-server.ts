import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../../lib/common/index.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import { jsonEquals } from '../../../../lib/common/index.ts'
import { parseDuration } from '../durations.ts'
import type { Variables } from '../variables.ts'
import { compileBehaviour, type StubResponse } from './behaviours.ts'
import { startServer, type ReceivedRequest, type RunningServer } from './http-server.ts'
import { fitOf, type RequestPattern } from './request-fit.ts'
import { CaseFault } from '../case-fault.ts'

/** What stubs need from the case that they belong to. */
export interface StubContext {
  readonly variables: Variables
  /** Delays of answers pass on this clock; the runner moves it. */
  readonly clock: Clock
  /** Sends the event of a `then`, with `request` as a root of variables. */
  emit(emit: Fields, locals: Readonly<Record<string, unknown>>): void
  /** Told when an answer is held back, so that somebody moves the clock; gives what to call when it is not any more. */
  hold(): () => void
}

/** A named stub server with what it got. */
export interface StubServer extends RunningServer {
  readonly requests: readonly ReceivedRequest[]
  /** Puts stubs before those that are there: they answer from now on. */
  respond(mocks: readonly Fields[]): void
}

const MOCK_KEYS = ['method', 'path', 'server', 'spec', 'query', 'requestMust', 'response', 'behaviour', 'rates', 'checks', 'then']
const RESPONSE_KEYS = ['status', 'headers', 'body', 'delay', 'fault']

/** Starts a stub server that answers as the mocks of a case say. */
export async function startStubServer(mocks: readonly Fields[], context: StubContext): Promise<StubServer> {
  const stubs = mocks.map((mock) => createStub(mock, context))
  const requests: ReceivedRequest[] = []
  const server = await startServer((request, response) => {
    requests.push(request)
    answer(stubs, request, response)
  })
  return {
    ...server,
    requests,
    respond: (added) => { stubs.unshift(...added.map((mock) => createStub(mock, context))) },
  }
}

interface Stub {
  pattern(): RequestPattern
  answer(request: ReceivedRequest, response: ServerResponse): void
}

function answer(stubs: readonly Stub[], request: ReceivedRequest, response: ServerResponse): void {
  let credentials = false
  for (const stub of stubs) {
    const fit = fitOf(stub.pattern(), request)
    if (fit === 'fits') {
      stub.answer(request, response)
      return
    }
    credentials ||= fit === 'credentials'
  }
  // The reason phrase says why, so that a failing case can be understood.
  response.writeHead(credentials ? 401 : 404)
  response.end()
}

function createStub(mock: Fields, context: StubContext): Stub {
  assertKnown(mock, MOCK_KEYS, 'a mock')
  const fixed = (mock['response'] ?? {}) as Fields
  assertKnown(fixed, RESPONSE_KEYS, 'the response of a mock')
  const behave = typeof mock['behaviour'] === 'string' ? compileBehaviour(mock['behaviour'], mock) : undefined
  if (behave !== undefined) checkBehaviour(behave, (mock['checks'] ?? []) as readonly Fields[])
  const after = (mock['then'] ?? []) as readonly Fields[]
  return {
    pattern: () => context.variables.resolve({
      method: String(mock['method']),
      path: String(mock['path']),
      ...(mock['query'] === undefined ? {} : { query: mock['query'] as Fields }),
      ...(mock['requestMust'] === undefined ? {} : { requestMust: mock['requestMust'] as Fields }),
    }),
    answer(request, response) {
      const locals = { request }
      if (fixed['fault'] !== undefined) {
        response.socket?.resetAndDestroy()
        return
      }
      const send = (): void => {
        const { body, ...rest } = context.variables.resolve<StubResponse>(fixed, locals)
        write(response, { ...rest, ...(body === undefined ? {} : { body }), ...behave?.(request) })
        for (const entry of after) {
          assertKnown(entry, ['emit'], 'then')
          context.emit(entry['emit'] as Fields, locals)
        }
      }
      if (fixed['delay'] === undefined) {
        send()
      } else {
        const release = context.hold()
        const cancel = context.clock.at(context.clock.now() + parseDuration(String(fixed['delay'])), () => {
          if (!response.destroyed) send()
        })
        // Comes after a complete answer as well as after an abort.
        response.once('close', () => {
          cancel()
          release()
        })
      }
    },
  }
}

function write(response: ServerResponse, { status = 200, headers = {}, body }: StubResponse): void {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (body === undefined) {
    response.writeHead(status, named)
    response.end()
    return
  }
  const media = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  response.writeHead(status, { 'content-type': media, ...named })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** `checks` are answers that the behaviour must give: they hold this runner to the words. */
function checkBehaviour(behave: (request: ReceivedRequest) => StubResponse, checks: readonly Fields[]): void {
  for (const check of checks) {
    assertKnown(check, ['query', 'body'], 'checks')
    const query = Object.fromEntries(Object.entries((check['query'] ?? {}) as Fields).map(([name, value]) => [name, [String(value)]]))
    const { body } = behave({ method: 'GET', path: '/', query, headers: {}, text: '', body: undefined })
    if (!jsonEquals(body, check['body'])) {
      throw new CaseFault(`the stub answers ${JSON.stringify(body)} where its checks say ${JSON.stringify(check['body'])}`)
    }
  }
}
