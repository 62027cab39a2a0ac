import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Cancel, Clock, Logger } from '../../common/index.ts'
import { HostError } from '../../errors/index.ts'
import { createDetachedService } from './detached.ts'
import { createGatheringObject, createOutboxObject, createRouterService } from './events.ts'
import { createInstanceObject } from './instances.ts'
import { createDefinitionObject, createHistoryObject, createScheduleObject } from './stores.ts'
import { createWaitsObject } from './waits.ts'
import type { WorkerParts } from './worker-parts.ts'

/** How a worker is reached. */
export interface WorkerOptions {
  /** Address that it listens on; port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number }
  /** Address under which the engine reaches it, or those that share it; that of the listener when absent. */
  readonly advertisedUrl?: string
  /** Whether it makes itself known to the engine. */
  readonly register: boolean
}

/** A worker that listens. */
export interface Worker {
  readonly url: string
  /** Why the engine cannot use it; absent when it can. */
  readonly problem: HostError | undefined
  /** Lets running work finish within so many milliseconds, then stops. */
  close(graceMilliseconds: number): Promise<void>
}

const REGISTER_AGAIN = 2000

/** Starts the endpoint through which the engine hands out work, and makes it known. */
export async function startWorker(parts: WorkerParts, options: WorkerOptions): Promise<Worker> {
  const { server, sessions } = await serve(parts, options)
  const { port, address } = server.address() as AddressInfo
  const url = options.advertisedUrl ?? `http://${address.includes(':') ? `[${address}]` : address}:${String(port)}`
  const registration = new Registration(parts.engine, url, parts.options)
  if (options.register) await registration.attempt()
  return {
    url,
    get problem() { return registration.problem },
    async close(graceMilliseconds) {
      registration.close()
      await finish(server, sessions, { parts, graceMilliseconds })
    },
  }
}

async function serve(parts: WorkerParts, { listen }: WorkerOptions): Promise<{ server: Http2Server; sessions: Set<ServerHttp2Session> }> {
  const { sdk, options: { log } } = parts
  const handler = sdk.createEndpointHandler({
    services: [
      createInstanceObject(parts), createWaitsObject(parts), createRouterService(parts), createOutboxObject(parts), createGatheringObject(parts),
      createDetachedService(parts), createDefinitionObject(parts), createHistoryObject(parts), createScheduleObject(parts),
    ],
    defaultServiceOptions: {
      // Nothing is kept of what is over: the life of an instance holds all that counts.
      journalRetention: 0,
      // For ever: an instance that is tried 70 times and then stands still would be lost.
      retryPolicy: { initialInterval: 50, exponentiationFactor: 2, maxInterval: 2000 },
    },
    // A codec of our own, that changes nothing, because with one the SDK does not compare payloads when an invocation is taken again:
    // headers that must not be stored, and definitions that read the time, may differ on another worker.
    journalValueCodecProvider: () => Promise.resolve({ encode: (bytes) => bytes, decode: (bytes) => Promise.resolve(bytes) }),
    logger: ({ level }, message: unknown, ...more: readonly unknown[]) => {
      const line = { engine: more.map(String) }
      if (['error', 'warn'].includes(level)) log.warn(line, String(message))
      else log.trace(line, String(message))
    },
  })
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer(handler)
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) => {
      reject(new HostError({ code: 'STORE_UNAVAILABLE', message: `The worker cannot listen on ${listen.host}:${String(listen.port)} (sonatina.restate.listen): ${cause.message}`, cause }))
    })
    server.listen(listen.port, listen.host, resolve)
  })
  return { server, sessions }
}

/** Ends the endpoint: streams that are open get their time; what they leave is taken up by another worker. */
async function finish(server: Http2Server, sessions: ReadonlySet<ServerHttp2Session>, { parts, graceMilliseconds }: { parts: WorkerParts; graceMilliseconds: number }): Promise<void> {
  const closed = new Promise<void>((resolve) => { server.close(() => { resolve() }) })
  for (const session of sessions) session.close()
  const { clock } = parts.options
  let cancel: Cancel = () => undefined
  if (graceMilliseconds > 0) await Promise.race([closed, new Promise<void>((resolve) => { cancel = clock.at(clock.now() + graceMilliseconds, resolve) })])
  cancel()
  parts.calls.close()
  for (const session of sessions) session.destroy()
  await closed
}

/** Makes a worker known to the engine, and tries again until it is. */
class Registration {
  readonly #engine: WorkerParts['engine']
  readonly #url: string
  readonly #clock: Clock
  readonly #log: Logger
  #cancel: Cancel = () => undefined
  #closed = false
  problem: HostError | undefined

  constructor(engine: WorkerParts['engine'], url: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#engine = engine
    this.#url = url
    this.#clock = clock
    this.#log = log
  }

  async attempt(): Promise<void> {
    try {
      await this.#engine.register(this.#url)
      if (this.problem !== undefined) this.#log.info({ url: this.#url }, 'the engine knows this worker now')
      this.problem = undefined
    } catch (error) {
      if (!(error instanceof HostError)) throw error
      if (this.problem === undefined) this.#log.error({ url: this.#url, code: error.code }, `${error.message}; trying again`)
      this.problem = error
      if (!this.#closed) this.#cancel = this.#clock.at(this.#clock.now() + REGISTER_AGAIN, () => { void this.attempt() })
    }
  }

  close(): void {
    this.#closed = true
    this.#cancel()
  }
}
