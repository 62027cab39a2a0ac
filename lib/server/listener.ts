import { createServer as createHttpServer, type RequestListener, type Server as HttpServer, type ServerOptions as HttpOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterArrivals, createSystemClock } from '../common/index.ts'
import { ConfigurationError, RequestError } from '../errors/index.ts'
import { JSON_TYPE } from './answer.ts'
import type { ServerContext } from './context.ts'
import type { Mount } from './options.ts'
import { toProblem } from './problem.ts'

/** One open port. */
export interface Listener {
  /** `http://host:port`, without root path. */
  readonly origin: string
  /** Takes no new connections; those that are open go on. */
  refuse(): Promise<void>
  /** Waits until the open connections have ended, within so many milliseconds, then cuts the rest. Call `refuse` before. */
  drain(graceMilliseconds: number): Promise<void>
}

/** What a port is opened with. */
export interface ListenerOptions {
  readonly address: { readonly host: string; readonly port: number }
  readonly handle: RequestListener
  /** Those that take over connections. */
  readonly mounts: readonly Mount[]
}

/** How long connections that were idle when the stop began may still bring a request, in milliseconds. */
const LAME_DUCK = 1000

/**
 * Opens a port with the limits of the settings (http-contract.md §8).
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when the address is taken, not ours, or a certificate cannot be used
 */
export async function openListener(server: ServerContext, options: ListenerOptions): Promise<Listener> {
  const { handle, address, mounts } = options
  const http: HttpServer & { httpAllowHalfOpen?: boolean } = createNodeServer(server, handle)
  // Who has closed its side after the request gets its answer (RFC 9112 §9.6); the types of Node.js do not know the property.
  http.httpAllowHalfOpen = true
  const sockets = new Set<Socket>()
  http.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => { sockets.delete(socket) })
  })
  refuseBrokenRequests(http)
  handOverUpgrades(http, server, mounts)
  await listen(http, address)
  const { port } = http.address() as AddressInfo
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    origin: `${server.settings.tls === undefined ? 'http' : 'https'}://${host}:${String(port)}`,
    ...closing(http, sockets),
  }
}

function createNodeServer({ settings }: ServerContext, handle: RequestListener): HttpServer {
  const { tls } = settings
  const options: HttpOptions = {
    maxHeaderSize: settings.maxHeaderSize,
    headersTimeout: settings.headersTimeout,
    // Node wants the whole request to be allowed at least as long as its headers.
    requestTimeout: Math.max(settings.requestTimeout, settings.headersTimeout),
    keepAliveTimeout: settings.idleTimeout,
    connectionsCheckingInterval: Math.min(5000, Math.max(50, Math.floor(settings.headersTimeout / 4))),
    insecureHTTPParser: false,
    joinDuplicateHeaders: true,
  }
  if (tls === undefined) return createHttpServer(options, handle)
  try {
    return createHttpsServer({
      ...options,
      allowHalfOpen: true,
      cert: [...tls.certificates],
      key: [...tls.keys],
      ...(tls.authorities === undefined ? {} : { ca: tls.authorities }),
      requestCert: tls.clientAuth !== 'none',
      rejectUnauthorized: tls.clientAuth === 'required',
    }, handle)
  } catch (cause) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `The certificates of sonatina.http.ssl.certificate.files and key-files cannot be used: ${(cause as Error).message}`,
      cause,
    })
  }
}

function listen(http: HttpServer, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      reject(new ConfigurationError({
        code: 'CONFIGURATION_INVALID',
        message: `${host}:${String(port)} cannot be listened on: ${reasonOf(cause)}`,
        details: { key: cause.code === 'EADDRNOTAVAIL' ? 'sonatina.http.host' : 'sonatina.http.port' },
        cause,
      }))
    }
    http.once('error', onError)
    http.listen({ host, port }, () => {
      http.off('error', onError)
      resolve()
    })
  })
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another process listens there. Set sonatina.http.port or --port to another one; 0 takes a free one.'
    case 'EACCES':
      return 'this user may not. Set sonatina.http.port or --port to one above 1023.'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'this machine has no such address. Set sonatina.http.host or --host.'
    default:
      return message
  }
}

// Requests that are no HTTP never reach Koa; they get an answer of the same shape.
function refuseBrokenRequests(http: HttpServer): void {
  http.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegunToAnswer(socket)) {
      socket.destroy()
      return
    }
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    // Whole requests may have come before it in the same piece.
    afterArrivals(() => {
      if (socket.writable && !hasBegunToAnswer(socket)) socket.end(rawAnswer(status))
      else socket.destroy()
    })
  })
  http.on('checkExpectation', (_request, response) => {
    const { body } = toProblem(new RequestError({ code: 'REQUEST_INVALID', message: 'Header Expect asks for something that is not done here; 100-continue is.' }))
    response.writeHead(417, { 'Content-Type': JSON_TYPE, Connection: 'close' }).end(JSON.stringify(body))
  })
  // CONNECT asks for a tunnel; there is none.
  http.on('connect', (_request, socket) => {
    guard(socket)
    socket.end(rawAnswer(405, 'Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n'))
  })
}

// Node keeps the answer under way at the socket; a second one in its midst would only confuse.
function hasBegunToAnswer(socket: Duplex): boolean {
  return (socket as Duplex & { readonly _httpMessage?: { readonly headersSent: boolean } | null })._httpMessage?.headersSent === true
}

const BROKEN: Readonly<Record<number, readonly [reason: string, code: 'HEADERS_TOO_LARGE' | 'REQUEST_INVALID' | 'METHOD_NOT_ALLOWED', message: string]>> = {
  400: ['Bad Request', 'REQUEST_INVALID', 'The request is no HTTP/1.1 that can be read.'],
  405: ['Method Not Allowed', 'METHOD_NOT_ALLOWED', 'CONNECT is not offered.'],
  408: ['Request Timeout', 'REQUEST_INVALID', 'The request did not arrive in time. See sonatina.http.headers-timeout and request-timeout.'],
  431: ['Request Header Fields Too Large', 'HEADERS_TOO_LARGE', 'Request line and headers are larger than sonatina.http.limits.max-header-size allows.'],
}

function rawAnswer(status: 400 | 405 | 408 | 431, headers = ''): string {
  const [reason = '', code = 'REQUEST_INVALID', message = ''] = BROKEN[status] ?? []
  const body = JSON.stringify({ message, code })
  return `HTTP/1.1 ${String(status)} ${reason}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n${headers}Connection: close\r\n\r\n${body}`
}

// Node lets go of a connection that it hands over: without a listener its errors would end the process.
function guard(socket: Duplex): void {
  socket.on('error', () => { socket.destroy() })
}

function handOverUpgrades(http: HttpServer, { settings }: ServerContext, mounts: readonly Mount[]): void {
  const takers = mounts.filter((mount) => mount.upgrade !== undefined)
  // Without a listener Node answers such requests as if they asked for nothing special.
  if (takers.length === 0) return
  http.on('upgrade', (request, socket, head) => {
    guard(socket)
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const taker = takers.find((mount) => {
      const prefix = settings.rootPath + (mount.path === '/' ? '' : mount.path)
      return path === prefix || path.startsWith(`${prefix}/`)
    })
    if (taker?.upgrade === undefined) {
      socket.end(rawAnswer(400))
      return
    }
    taker.upgrade(request, socket, head)
  })
}

function closing(http: HttpServer, sockets: ReadonlySet<Socket>): Pick<Listener, 'refuse' | 'drain'> {
  const clock = createSystemClock()
  let ended: Promise<void> | undefined
  // The close of http.Server drops idle connections at once, and with them requests that are on their way; that of net.Server only
  // stops listening. Whoever still sends one on an open connection is answered and told to close it.
  const stopListening = (): Promise<void> => new Promise((resolve) => {
    NetServer.prototype.close.call(http, () => {
      // Ends Node's own watch over connections, which belongs to the close that was passed over.
      http.close()
      resolve()
    })
  })
  return {
    // Connections that wait to be accepted would be reset: the turn of the event loop that accepts them comes first.
    refuse: () => new Promise((resolve) => {
      setImmediate(() => {
        ended = stopListening()
        resolve()
      })
    }),
    async drain(grace) {
      const cancels: (() => void)[] = []
      const cutAll = (): void => { for (const socket of sockets) socket.destroy() }
      const dropIdle = (): void => {
        http.closeIdleConnections()
        if (sockets.size > 0) cancels.push(clock.at(clock.now() + 50, dropIdleSoon))
      }
      // What has arrived is read first: a connection with a request in it is not idle.
      const dropIdleSoon = (): void => { setImmediate(dropIdle) }
      if (grace > 0) {
        cancels.push(clock.at(clock.now() + Math.min(LAME_DUCK, grace), dropIdleSoon))
        cancels.push(clock.at(clock.now() + grace, cutAll))
      } else {
        cutAll()
      }
      await ended
      for (const cancel of cancels) cancel()
    },
  }
}
