import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { createLogger, type Logger } from '../common/index.ts'
import type { FunctionService } from './serve.ts'

/** Where to listen, and limits of the connection (http-contract.md §8). */
export interface ListenOptions {
  /** @default `127.0.0.1` */
  readonly host?: string
  /** 0 takes a free one. @default 8080 */
  readonly port?: number
  /** Bytes of the request line and headers. @default 20 KiB */
  readonly maxHeaderSize?: number
  /** Milliseconds for receiving the headers. @default 30000 */
  readonly headersTimeout?: number
  /** Milliseconds for receiving a whole request. @default 60000 */
  readonly requestTimeout?: number
  /** Milliseconds that an unused connection stays open. @default 60000 */
  readonly idleTimeout?: number
  /** Gets a line at level debug when a connection breaks. @default standard output */
  readonly log?: Logger
}

/** A port that serves functions. */
export interface FunctionServer {
  /** Base URL, with the port that was taken. */
  readonly url: string
  /** Lets running functions finish (see {@link FunctionService.close}), then closes the port and all connections. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a service and opens a port for it alone.
 *
 * @throws whatever the start of the service throws; the error of `node:http` when the port cannot be opened
 */
export async function listenFunctions(service: FunctionService, options: ListenOptions = {}): Promise<FunctionServer> {
  await service.start()
  const app = new Koa()
  app.use(service)
  const log = options.log ?? createLogger()
  // The service answers its own errors; what is left comes from connections that broke.
  app.on('error', (error: unknown) => { log.debug({ err: error }, 'A connection broke') })
  const handle = app.callback()
  const server = createServer({
    maxHeaderSize: options.maxHeaderSize ?? 20 * 1024,
    headersTimeout: options.headersTimeout ?? 30_000,
    requestTimeout: options.requestTimeout ?? 60_000,
    keepAliveTimeout: options.idleTimeout ?? 60_000,
  }, (request, response) => { void handle(request, response) })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 8080, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    await service.close()
    await new Promise<void>((resolve) => {
      server.close(() => { resolve() })
      // What is still open now has used up the shutdown timeout.
      server.closeIdleConnections()
      setImmediate(() => { server.closeAllConnections() })
    })
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}
