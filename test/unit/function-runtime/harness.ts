import { request as httpRequest } from 'node:http'
import { createLogger, type Logger } from '../../../lib/common/index.ts'
import { listenFunctions, serve, type FunctionRuntimeOptions, type FunctionServer, type FunctionSources } from '../../../lib/function-runtime/index.ts'

/** An answer with its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  readonly text: string
  /** Body as JSON; fails when it is none. */
  json(): unknown
}

/** What to send; the method is POST where there is a body or a media type, else GET. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Functions being served, and the lines they logged. */
export interface Served extends FunctionServer {
  readonly log: readonly Record<string, unknown>[]
  readonly send: (path: string, sent?: Sent) => Promise<Answer>
}

/** Attributes of an event that is complete. */
export const EVENT = { specversion: '1.0', id: '1', source: '/test', type: 'test-type' } as const

/** A log that keeps its lines as objects. */
export function keptLog(): { readonly lines: Record<string, unknown>[]; readonly log: Logger } {
  const lines: Record<string, unknown>[] = []
  return { lines, log: createLogger({ level: 'debug', write: (line) => { lines.push(JSON.parse(line) as Record<string, unknown>) } }) }
}

/** Serves functions on a free port of the loopback address, in profile `test`. */
export async function served(sources: FunctionSources, options: FunctionRuntimeOptions = {}): Promise<Served> {
  const { lines, log } = keptLog()
  const server = await listenFunctions(serve(sources, { profile: 'test', log, ...options }), { port: 0, log, maxHeaderSize: 128 * 1024 })
  return { ...server, log: lines, send: (path, sent) => send(server.url + path, sent) }
}

/** Sends one request on a connection of its own. */
export function send(url: string, sent: Sent = {}): Promise<Answer> {
  const method = sent.method ?? (sent.body === undefined ? 'GET' : 'POST')
  // node:http frames the body of a DELETE only when told how.
  const length = sent.body === undefined || sent.headers?.['transfer-encoding'] !== undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers: { ...length, ...sent.headers }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => { chunks.push(chunk) })
      response.on('end', () => {
        const body = Buffer.concat(chunks)
        const text = body.toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text, json: () => JSON.parse(text) as unknown })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(sent.body)
  })
}

/** A plain POST of a JSON value. */
export function jsonBody(value: unknown): Sent {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

/** An event in binary mode; without a body it has no data. */
export function binary(attributes: Readonly<Record<string, string>>, body?: string | Uint8Array, contentType = 'application/json'): Sent {
  const headers = Object.fromEntries(Object.entries({ ...EVENT, ...attributes }).map(([name, value]) => [`ce-${name}`, value]))
  return body === undefined ? { method: 'POST', headers } : { method: 'POST', headers: { ...headers, 'content-type': contentType }, body }
}

/** An event in structured mode. */
export function structured(members: Readonly<Record<string, unknown>>): Sent {
  return { method: 'POST', headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify({ ...EVENT, ...members }) }
}
