import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import type { Cancel, Clock, Logger } from '../common/index.ts'
import { SonatinaError } from '../errors/index.ts'
import type { Guard } from './guard.ts'
import type { Relay } from './relay.ts'

/** The WebSocket of the inspector: the protocol of `@statelyai/inspect`, from here to its clients. */
export interface InspectionSocket {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  close(): void
}

/** Bytes waiting for a client beyond which its messages are dropped. */
const MOST_BUFFERED = 1_048_576
const MOST_CLIENTS = 50

/** Creates the {@link InspectionSocket} of `/inspect/ws`. Foreign origins get 403, too many clients 503. */
export function createInspectionSocket(relay: Relay, guard: Guard, { path, readers = MOST_CLIENTS }: { readonly path: string; readonly readers?: number }): InspectionSocket {
  const server = new WebSocketServer({ noServer: true, maxPayload: 4096 })
  return {
    upgrade(request, socket, head) {
      const status = refusal(request, { guard, path, full: server.clients.size >= readers })
      if (status !== undefined) {
        socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
        return
      }
      server.handleUpgrade(request, socket, head, (client) => {
        const instance = new URLSearchParams((request.url ?? '').split('?')[1] ?? '').get('instance')
        const leave = relay.add({ ...(instance === null ? {} : { instance }), send: sender(client) })
        // Nothing is taken from a client: it reads.
        client.on('message', () => undefined)
        client.on('error', () => { client.terminate() })
        client.on('close', leave)
      })
    },
    close() {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}

function refusal(request: IncomingMessage, { guard, path, full }: { readonly guard: Guard; readonly path: string; readonly full: boolean }): string | undefined {
  if ((request.url ?? '').split('?')[0] !== path) return '404 Not Found'
  try {
    guard.admit(request)
    guard.sameOrigin(request)
  } catch (error) {
    if (!SonatinaError.is(error)) throw error
    return error.code === 'UNAUTHENTICATED' ? '401 Unauthorized' : '403 Forbidden'
  }
  return full ? '503 Service Unavailable' : undefined
}

/** Sends to a socket that may not read: what does not fit is dropped, and counted in one message. */
function sender(socket: WebSocket): (text: string) => void {
  let dropped = 0
  return (text) => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (socket.bufferedAmount > MOST_BUFFERED) {
      dropped += 1
      return
    }
    if (dropped > 0) {
      socket.send(JSON.stringify({ type: '@sonatina.dropped', count: dropped }))
      dropped = 0
    }
    socket.send(text)
  }
}

/** Parts of {@link startPush}. */
export interface PushOptions {
  readonly url: string
  readonly relay: Relay
  readonly clock: Clock
  readonly log: Logger
}

const FIRST_WAIT = 1000
const LONGEST_WAIT = 30_000

/**
 * Sends the messages to an existing relay and connects again when it goes away.
 *
 * Neither its socket nor its timer keeps the process alive.
 */
export function startPush({ url, relay, clock, log }: PushOptions): Cancel {
  let wait = FIRST_WAIT
  let retry: Cancel | undefined
  let current: WebSocket | undefined
  let isOver = false
  const connect = (): void => {
    const socket = new WebSocket(url, {
      finishRequest(request) {
        request.on('socket', (raw) => { raw.unref() })
        request.end()
      },
    })
    current = socket
    let leave: Cancel | undefined
    socket.on('open', () => {
      wait = FIRST_WAIT
      leave = relay.add({ send: sender(socket) })
      log.debug({}, 'inspection messages are pushed')
    })
    socket.on('message', () => undefined)
    socket.on('error', (error: Error) => { log.debug({ err: error }, 'the relay of inspection messages cannot be reached') })
    socket.on('close', () => {
      leave?.()
      if (isOver) return
      retry = clock.at(clock.now() + wait, connect)
      wait = Math.min(wait * 2, LONGEST_WAIT)
    })
  }
  connect()
  return () => {
    isOver = true
    retry?.()
    current?.terminate()
  }
}
