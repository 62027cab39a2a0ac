import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { silentLogger, type IdSource } from '../../../lib/common/index.ts'
import { createServer, DEFAULT_SERVER_SETTINGS, type Server, type ServerOptions, type ServerSettings } from '../../../lib/server/index.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'
import { createFakeCatalogue, createFakeHost, fakeDefinition, type FakeCatalogue, type FakeHost } from '../../support/fake-host.ts'

/** A server over a fake host, listening on a free port of the loopback. */
export interface Bench {
  readonly server: Server
  readonly host: FakeHost
  readonly catalogue: FakeCatalogue
  readonly clock: VirtualClock
  readonly port: number
  readonly url: string
  readonly managementPort: number | undefined
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  close(): Promise<void>
}

/** What a request carries besides method and path. */
export interface SendOptions {
  readonly headers?: Record<string, string | string[]>
  /** An object goes as JSON, text and bytes as they are. */
  readonly body?: unknown
  readonly port?: number
}

/** An answer, read whole. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Parsed body; `undefined` when it is no JSON. */
  readonly json: unknown
}

/** Ids that count, so that tests can name them. */
function countingIds(): IdSource {
  let count = 0
  return { next: () => `id-${String(++count)}`, random: () => 0.5 }
}

/** Opens a server; close it in the end. */
export async function openBench(settings: Partial<ServerSettings> = {}, options: Partial<ServerOptions> = {}): Promise<Bench> {
  const clock = createVirtualClock()
  const ids = countingIds()
  const host = createFakeHost({ clock, ids })
  const catalogue = createFakeCatalogue([fakeDefinition('hello')])
  const server = createServer({ host, catalogue, clock, ids, log: silentLogger, settings: { ...DEFAULT_SERVER_SETTINGS, port: 0, ...settings }, ...options })
  const { url, managementUrl } = await server.listen()
  const port = Number(new URL(url).port)
  return {
    server, host, catalogue, clock, port, url,
    managementPort: managementUrl === undefined ? undefined : Number(new URL(managementUrl).port),
    send: (method, path, given = {}) => send(given.port ?? port, method, path, given),
    close: () => server.close(0),
  }
}

/** Sends one request on a connection of its own. */
export function send(port: number, method: string, path: string, options: SendOptions = {}): Promise<Answer> {
  const { body } = options
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined
  const payload = isRaw ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, agent: false, headers: { ...(payload === undefined || options.headers?.['transfer-encoding'] !== undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }), ...(isRaw ? {} : { 'content-type': 'application/json' }), ...options.headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) })
      })
    })
    request.on('error', reject)
    request.end(payload)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends bytes and reads until the server closes, or `milliseconds` of silence have passed. */
export function sendRaw(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', (error: NodeJS.ErrnoException) => { if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error) })
    socket.on('close', () => { resolve(Buffer.concat(chunks).toString('utf8')) })
    socket.write(bytes)
  })
}
