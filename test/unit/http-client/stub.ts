import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'

/** A request as a stub saw it. */
interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** A server of a test. */
export interface Stub {
  readonly url: string
  readonly port: number
  readonly seen: SeenRequest[]
  /** Connections made so far. */
  readonly connections: () => number
  close(): Promise<void>
}

/** Answers a request whose body is read. */
export type Answer = (request: SeenRequest, response: ServerResponse) => void

/** Starts an HTTP server on loopback that notes requests. */
export async function startStub(answer: Answer, host = '127.0.0.1'): Promise<Stub> {
  const seen: SeenRequest[] = []
  let connections = 0
  const server = createHttpServer({ maxHeaderSize: 1 << 20 }, (request, response) => {
    void readBody(request).then((body) => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      seen.push(one)
      answer(one, response)
    })
  })
  server.on('connection', () => { connections++ })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`, port, seen, connections: () => connections,
    close: () => new Promise((resolve) => {
      server.close(() => { resolve() })
      server.closeAllConnections()
    }),
  }
}

/** Starts a TCP server for answers that are not proper HTTP. */
export async function startRawStub(handle: (socket: Socket, request: string) => void): Promise<Omit<Stub, 'seen'>> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createTcpServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => { sockets.delete(socket) })
    socket.on('data', (data) => { handle(socket, data.toString('latin1')) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${String(port)}`, port, connections: () => connections,
    close: () => new Promise((resolve) => {
      server.close(() => { resolve() })
      for (const socket of sockets) socket.destroy()
    }),
  }
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers })
  response.end(text)
}

/** Gives the text of a body. */
export function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += (chunk as Buffer).toString('utf8')
  return text
}
