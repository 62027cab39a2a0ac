import { connect, type Socket } from 'node:net'
import { Agent, request as httpRequest } from 'node:http'
import { connect as connectSecurely } from 'node:tls'
import { expect } from 'chai'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { createCertificate } from '../http-client/certificates.ts'
import { openBench, send, sendRaw, type Bench } from './setup.ts'

const opened = (port: number): Promise<Socket> => new Promise((resolve) => { const socket = connect({ host: '127.0.0.1', port }, () => { resolve(socket) }) })
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => { socket.on('error', () => undefined); socket.once('close', () => { resolve() }); socket.resume() })
const until = (condition: () => boolean): Promise<void> => new Promise((resolve) => { setImmediate(function look() { if (condition()) resolve(); else setImmediate(look) }) })

describe('server/listener', () => {
  let bench: Bench
  afterEach(() => bench.close())

  const raw: [title: string, bytes: string | Uint8Array, answer: RegExp][] = [
    ['what is no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 Bad Request/],
    ['TLS on a plain port', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01]), /^HTTP\/1\.1 400 /],
    ['a header without colon', 'GET / HTTP/1.1\r\nHost a\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['two lengths', 'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', /^HTTP\/1\.1 400 /],
    ['length and chunks', 'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a broken chunk', 'POST /hello HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /^HTTP\/1\.1 400 /],
    ['headers over the limit', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(30_000)}\r\n\r\n`, /^HTTP\/1\.1 431 [\s\S]*"HEADERS_TOO_LARGE"/],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 405 [\s\S]*"METHOD_NOT_ALLOWED"/],
    ['an expectation nobody knows', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 417 [\s\S]*"REQUEST_INVALID"/],
    ['no Host', 'GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a whole address as target', 'GET http://other/hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['a target that is no address', 'GET http://[/hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 40[04] /],
    ['a star', 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 404 /],
    ['an upgrade that nobody takes', 'GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['a client that asks before it sends', 'POST /hello HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}', /^HTTP\/1\.1 100 Continue[\s\S]*HTTP\/1\.1 201 /],
  ]
  for (const [title, bytes, answer] of raw) {
    it(`answers ${title}, and the next request`, async () => {
      bench = await openBench()
      expect(await sendRaw(bench.port, bytes)).to.match(answer)
      expect((await bench.send('POST', '/hello', { body: {} })).status).to.equal(201)
    })
  }

  it('answers 408 to headers that do not come, and to bodies that do not come', async () => {
    bench = await openBench({ headersTimeout: 200, requestTimeout: 200 })
    const [headers, body] = await Promise.all([
      sendRaw(bench.port, 'POST /hello HTTP/1.1\r\nHost: a\r\n'),
      sendRaw(bench.port, 'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{'),
    ])
    expect(headers).to.match(/^HTTP\/1\.1 408 /)
    expect(body).to.match(/^HTTP\/1\.1 408 /)
    expect(bench.host.starts).to.have.length(0)
  }).timeout(10_000)

  it('starts nothing when the connection is cut within the body', async () => {
    bench = await openBench()
    const socket = await opened(bench.port)
    socket.write('POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"a"')
    await new Promise<void>((resolve) => { setImmediate(resolve) })
    socket.destroy()
    await closed(socket)
    expect((await bench.send('POST', '/hello', { body: {} })).status).to.equal(201)
    expect(bench.host.starts).to.have.length(1)
  })

  describe('answers a caller that has closed its side after the request', () => {
    const request = 'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
    const answerTo = (socket: Socket): Promise<string> => new Promise((resolve) => {
      let text = ''
      socket.on('data', (data: Buffer) => { text += data.toString() })
      socket.once('end', () => { socket.destroy() })
      socket.once('close', () => { resolve(text) })
      socket.end(request)
    })
    const { pem } = createCertificate('127.0.0.1', { addresses: ['127.0.0.1'] })
    const secured = { certificates: [pem.certificate], keys: [pem.key], clientAuth: 'none' } as const

    for (const [title, settings] of [['a plain port', {}], ['a TLS port', { tls: secured }]] as const) {
      for (const [pace, turns] of [['at once', 0], ['some turns later', 20]] as const) {
        it(`at ${title}, when the work is done ${pace}`, async () => {
          bench = await openBench(settings)
          bench.host.behaviours.set('hello', async (_request, record) => {
            for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => { setImmediate(resolve) })
            return { ...record, status: 'completed' }
          })
          const where = { host: '127.0.0.1', port: bench.port, allowHalfOpen: true }
          const answers = await Promise.all(Array.from({ length: 20 }, () => answerTo('tls' in settings ? connectSecurely({ ...where, ca: pem.certificate }) : connect(where))))
          expect(answers.map((text) => text.slice(0, 12))).to.deep.equal(new Array(20).fill('HTTP/1.1 201'))
        })
      }
    }
  })

  it('answers whole requests before what is no HTTP behind them', async () => {
    bench = await openBench()
    const request = 'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
    expect(await sendRaw(bench.port, `${request}${request}GARBAGE\r\n\r\n`)).to.match(/^HTTP\/1\.1 201 [\s\S]*HTTP\/1\.1 400 /)
  })

  it('lets a body that arrives byte by byte in', async () => {
    bench = await openBench()
    const socket = await opened(bench.port)
    for (const part of ['POST /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n', 'Content-Length: 7\r\n\r\n', '{', '"a"', ':', '1', '}']) {
      socket.write(part)
      await new Promise<void>((resolve) => { setImmediate(resolve) })
    }
    await closed(socket)
    expect(bench.host.starts[0]?.input).to.deep.equal({ a: 1 })
  })

  it('says what to do when the port is taken or the address is not ours', async () => {
    bench = await openBench()
    const refusal = async (address: { host?: string; port: number }): Promise<Error> => bench.server.listen(address).then(() => expect.fail(), (error: unknown) => error as Error)
    const taken = await refusal({ port: bench.port })
    expect(taken).to.be.instanceOf(ConfigurationError)
    expect(taken.message).to.match(/another process listens there.*sonatina\.http\.port/)
    expect((await refusal({ host: '192.0.2.1', port: 0 })).message).to.include('no such address')
  })

  it('hands upgrades below a mount over, and refuses others', async () => {
    bench = await openBench({}, { mounts: [{ path: '/inspect', upgrade: (_request, socket) => { socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n') } }] })
    const ask = (path: string): Promise<string> => sendRaw(bench.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`)
    expect(await ask('/inspect/socket')).to.match(/^HTTP\/1\.1 101 /)
    expect(await ask('/hello')).to.match(/^HTTP\/1\.1 400 /)
  })

  describe('a graceful stop', () => {
    it('turns readiness down, finishes what was accepted, closes the connections, and refuses new ones', async () => {
      bench = await openBench()
      let finish = (): void => undefined
      bench.host.behaviours.set('hello', (_request, record) => new Promise((resolve) => { finish = () => { resolve(record) } }))
      const agent = new Agent({ keepAlive: true, maxSockets: 2 })
      const call = (method: string, path: string): Promise<{ status: number | undefined; connection: string | undefined }> => new Promise((resolve, reject) => {
        const request = httpRequest({ host: '127.0.0.1', port: bench.port, method, path, agent }, (response) => { response.resume(); response.on('end', () => { resolve({ status: response.statusCode, connection: response.headers.connection }) }) })
        request.on('error', reject)
        request.end()
      })
      await Promise.all([call('GET', '/q/health/live'), call('GET', '/q/health/live')])
      const running = call('POST', '/hello')
      await until(() => bench.host.starts.length === 1)
      const stopped = bench.server.close(5000)
      await new Promise<void>((resolve) => { setImmediate(resolve) })
      // A kept connection that was idle may still bring a request: it is answered and told to close.
      expect(await call('GET', '/q/health/ready')).to.deep.equal({ status: 503, connection: 'close' })
      finish()
      expect(await running).to.deep.equal({ status: 201, connection: 'close' })
      await stopped
      agent.destroy()
      expect(await send(bench.port, 'GET', '/hello').catch((error: unknown) => (error as NodeJS.ErrnoException).code)).to.equal('ECONNREFUSED')
    })

    it('cuts what does not end within the grace', async () => {
      bench = await openBench()
      bench.host.behaviours.set('hello', () => new Promise(() => undefined))
      const hanging = send(bench.port, 'POST', '/hello', { body: {} }).catch((error: unknown) => (error as NodeJS.ErrnoException).code)
      await until(() => bench.host.starts.length === 1)
      await bench.server.close(100)
      expect(await hanging).to.equal('ECONNRESET')
    })

    it('still listens for the delay after readiness went down', async () => {
      bench = await openBench({ shutdownDelay: 300 })
      const stopped = bench.server.close(1000)
      expect((await bench.send('GET', '/q/health/ready')).status).to.equal(503)
      expect((await bench.send('POST', '/hello', { body: {} })).status).to.equal(201)
      await stopped
    })

    it('loses no request of a load that goes on', async () => {
      bench = await openBench({ shutdownDelay: 100 })
      const agent = new Agent({ keepAlive: true, maxSockets: 8 })
      let isStopping = false
      const outcome = { answered: 0, refused: 0, lost: [] as string[] }
      const worker = async (): Promise<void> => {
        for (;;) {
          const result = await new Promise<string>((resolve) => {
            const request = httpRequest({ host: '127.0.0.1', port: bench.port, method: 'POST', path: '/hello', agent }, (response) => { response.resume(); response.on('end', () => { resolve(String(response.statusCode)) }) })
            request.on('error', (error: NodeJS.ErrnoException) => { resolve(error.code ?? 'unknown') })
            request.end('{}')
          })
          if (result === '201') outcome.answered++
          else if (result === 'ECONNREFUSED' && isStopping) { outcome.refused++; return }
          else { outcome.lost.push(result); return }
        }
      }
      const workers = Array.from({ length: 8 }, worker)
      await until(() => outcome.answered > 50)
      isStopping = true
      await bench.server.close(5000)
      await Promise.all(workers)
      agent.destroy()
      expect(outcome.lost).to.deep.equal([])
      expect(outcome.refused).to.equal(8)
    })
  })
})
