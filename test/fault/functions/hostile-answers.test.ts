import { expect } from 'chai'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FunctionResult } from '../../../lib/functions/index.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'
import { callOf, createTestCompiler, startRecordingServer } from '../../unit/functions/support.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const MIB = 1024 * 1024

/** A server that answers bytes as a test gives them. */
interface RawServer {
  readonly url: string
  readonly sockets: Set<Socket>
  requests: number
  close(): Promise<void>
}

function startRawServer(answer: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    socket.on('data', () => {
      raw.requests += 1
      answer(socket)
    })
  })
  const raw: RawServer = {
    get url() { return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` },
    sockets,
    requests: 0,
    close: () => new Promise((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => { resolve() })
    }),
  }
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => { resolve(raw) }) })
}

const head = (status: string, headers: readonly string[]): string => `HTTP/1.1 ${status}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`
const answerOf = (status: string, type: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(head(status, [`Content-Type: ${type}`, `Content-Length: ${String(Buffer.byteLength(body))}`])), Buffer.from(body)])

describe('rest functions and hostile answers', function () {
  this.timeout(60_000)

  /** Calls exchangeRate against a raw server; `clock` is advanced until the call ends when `moves` says so. */
  async function call(answer: (socket: Socket) => void, { moves = false, config = {} }: { moves?: boolean; config?: Record<string, string> } = {}): Promise<FunctionResult | Error> {
    const server = await startRawServer(answer)
    const clock: VirtualClock = createVirtualClock()
    const before = process.memoryUsage().arrayBuffers
    try {
      await using compiler = await createTestCompiler({ root, clock, config: { 'sonatina.rest-client.acme_financial_service_yml.url': server.url, ...config } })
      const invoker = await compiler.compile({ type: 'rest', operation: 'specs/acme-financial-service.yml#exchangeRate' })
      const state = { ended: false }
      const outcome = Promise.resolve(invoker.invoke(callOf({}))).then((result) => result, (error: unknown) => error as Error).finally(() => { state.ended = true })
      while (moves && !state.ended) {
        if (server.requests > 0) clock.advance(1000)
        await new Promise((resolve) => { setImmediate(resolve) })
      }
      const result = await outcome
      expect(process.memoryUsage().arrayBuffers - before, 'memory kept').to.be.lessThan(32 * MIB)
      // What failed half-way is not used again.
      if (result instanceof Error && moves) for (const socket of server.sockets) await new Promise((resolve) => { if (socket.closed) resolve(undefined); else socket.once('close', resolve) })
      return result
    } finally {
      await server.close()
    }
  }

  const send = (bytes: string | Buffer) => (socket: Socket): void => { socket.write(bytes) }

  it('200 with broken JSON fails with the position and without the text', async () => {
    const error = await call(send(answerOf('200 OK', 'application/json', '{"rate": 1.05, "secret": oops}')))
    expect(error).to.include({ code: 'FUNCTION_FAILED', retryable: false })
    expect(String(error)).to.include('position').and.not.include('oops')
  })

  it('200 with HTML that says JSON fails', async () => {
    expect(await call(send(answerOf('200 OK', 'application/json', '<html>proxy</html>')))).to.include({ code: 'FUNCTION_FAILED' })
  })

  for (const [name, bytes] of [
    ['204', head('204 No Content', [])],
    ['an empty body', answerOf('200 OK', 'application/json', '')],
    ['205', head('205 Reset Content', ['Content-Length: 0'])],
  ] as const) {
    it(`${name} merges nothing`, async () => {
      expect(await call(send(bytes))).to.have.property('output', null)
    })
  }

  it('304 and 302 are remote failures with their status, and are not followed', async () => {
    expect(await call(send(head('304 Not Modified', [])))).to.include({ code: 'REST_STATUS', status: 304 })
    const other = await startRecordingServer()
    try {
      expect(await call(send(head('302 Found', [`Location: ${other.url}/steal`, 'Content-Length: 0'])))).to.include({ code: 'REST_STATUS', status: 302 })
      expect(other.requests).to.have.length(0)
    } finally {
      await other.close()
    }
  })

  it('a redirect to another origin that is followed carries no credentials and no wfproc headers', async () => {
    const other = await startRecordingServer()
    try {
      const result = await call(send(head('302 Found', [`Location: ${other.url}/else`, 'Content-Length: 0'])), {
        config: {
          'sonatina.rest-client.acme_financial_service_yml.follow-redirects': 'true',
          'sonatina.rest-client.acme_financial_service_yml.redirect-other-origins': 'true',
        },
      })
      expect(result).to.have.property('output').that.deep.equals({})
      const names = Object.keys(other.requests[0]!.headers)
      expect(names.filter((name) => name === 'authorization' || name === 'cookie' || name.startsWith('wfproc'))).to.deep.equal([])
    } finally {
      await other.close()
    }
  })

  it('100 MB are refused at the limit', async () => {
    const chunk = Buffer.alloc(MIB, 0x20)
    const error = await call((socket) => {
      socket.write(head('200 OK', ['Content-Type: text/plain', `Content-Length: ${String(100 * MIB)}`]))
      const more = (): void => { if (!socket.destroyed && socket.write(chunk)) setImmediate(more); else socket.once('drain', more) }
      more()
    })
    expect(error).to.include({ code: 'FUNCTION_FAILED', retryable: false })
  })

  it('a gzip bomb is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MIB))
    const bytes = Buffer.concat([Buffer.from(head('200 OK', ['Content-Type: text/plain', 'Content-Encoding: gzip', `Content-Length: ${String(bomb.length)}`])), bomb])
    expect(await call(send(bytes))).to.include({ code: 'FUNCTION_FAILED', retryable: false })
  })

  it('headers of 1 MB are refused', async () => {
    expect(await call(send(head('200 OK', [`X-Long: ${'x'.repeat(MIB)}`, 'Content-Length: 0'])))).to.include({ code: 'FUNCTION_FAILED' })
  })

  for (const [name, answer] of [
    ['no bytes', () => undefined],
    ['half a response', send(head('200 OK', ['Content-Type: application/json', 'Content-Length: 100']) + '{"rate":')],
    ['half a header', send('HTTP/1.1 200 OK\r\nContent-')],
  ] as const) {
    it(`${name} end in a timeout, and the socket is closed`, async () => {
      expect(await call(answer, { moves: true })).to.include({ code: 'FUNCTION_TIMEOUT', retryable: true })
    })
  }

  it('an endless chunk stream ends at the total timeout or the limit', async () => {
    const error = await call((socket) => {
      socket.write(head('200 OK', ['Content-Type: text/plain', 'Transfer-Encoding: chunked']))
      const timer = setInterval(() => { socket.write('1\r\nx\r\n') }, 1)
      socket.once('close', () => { clearInterval(timer) })
    }, { moves: true })
    expect(error).to.have.property('code').that.is.oneOf(['FUNCTION_TIMEOUT', 'FUNCTION_FAILED'])
  })

  it('a connection that ends in the middle fails', async () => {
    const error = await call((socket) => { socket.end(head('200 OK', ['Content-Type: application/json', 'Content-Length: 100']) + '{"rate"') })
    expect(error).to.include({ code: 'FUNCTION_FAILED' })
  })

  it('keys such as __proto__ in an answer stay data', async () => {
    const result = await call(send(answerOf('200 OK', 'application/json', '{"__proto__":{"polluted":1},"constructor":2}')))
    expect(JSON.stringify((result as FunctionResult).output)).to.equal('{"__proto__":{"polluted":1},"constructor":2}')
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  })

  it('the process serves the next call after each of them', async () => {
    expect(await call(send(answerOf('200 OK', 'application/json', '{"rate":1}')))).to.have.property('output').that.deep.equals({ rate: 1 })
  })
})
