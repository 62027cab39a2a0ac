import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that a server of the runner got, read completely. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON, or as text when it is none; `undefined` without a body. */
  readonly body: unknown
}

/** A server on a free port of loopback. */
export interface RunningServer {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** Starts a server that reads each request completely before it hands it over. */
export async function startServer(
  handle: (request: ReceivedRequest, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>,
): Promise<RunningServer> {
  const server = createServer((raw, response) => {
    readRequest(raw).then((request) => handle(request, response, raw)).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`the stub server failed: ${String(error)}`)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://localhost:${port}`, close: () => closeServer(server) }
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => { server.close(() => { resolve() }) })
  server.closeAllConnections()
  await closed
}

async function readRequest(raw: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of raw) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(raw.url ?? '/', 'http://localhost')
  const query: Record<string, string[]> = {}
  for (const [name, value] of url.searchParams) (query[name] ??= []).push(value)
  const headers = Object.fromEntries(Object.entries(raw.headers).map(([name, value]) => [name, String(value)]))
  return { method: raw.method ?? 'GET', path: decodeURIComponent(url.pathname), query, headers, text, body: parseBody(text) }
}

/** Reads a text as JSON where it is some, else gives the text; `undefined` for no text at all. */
export function parseBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
