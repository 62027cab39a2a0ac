import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { FunctionError } from '../../../lib/errors/index.ts'
import { createHttpClient, type HttpClient, type HttpClientOptions, type HttpRequest } from '../../../lib/http-client/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { json, startRawStub, startStub, textOf, type Answer, type Stub } from './stub.ts'

const MEBIBYTE = 1024 * 1024

describe('http-client', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).reverse().map((each) => each.close()))
  })

  async function stub(answer: Answer): Promise<Stub> {
    const server = await startStub(answer)
    open.push(server)
    return server
  }
  function client(options: Partial<HttpClientOptions> = {}): HttpClient {
    const made = createHttpClient({ name: 'acme', ...options })
    open.push(made)
    return made
  }
  async function failure(promise: Promise<unknown>): Promise<FunctionError> {
    try {
      await promise
    } catch (error) {
      expect(error).to.be.instanceOf(FunctionError)
      return error as FunctionError
    }
    expect.fail('the call succeeded')
  }

  it('sends method, path, headers and body, and gives status, reason, headers and bytes', async () => {
    const server = await stub((_request, response) => {
      response.writeHead(418, 'Short and stout', { 'x-a': ['1', '2'], 'content-type': 'text/plain' })
      response.end('tea')
    })
    const response = await client({ headers: { 'X-Fixed': 'f', 'X-Both': 'fixed' }, userAgent: 'ua' }).request({
      method: 'POST', url: `${server.url}/a/b?c=d%20e#fragment`, headers: { 'x-both': 'request', 'Content-Type': 'text/plain' }, body: 'ü',
    })
    expect(response.status).to.equal(418)
    expect(response.statusMessage).to.equal('Short and stout')
    expect(response.headers['x-a']).to.equal('1, 2')
    expect(textOf(response.body)).to.equal('tea')
    const [seen] = server.seen
    expect(seen).to.include({ method: 'POST', url: '/a/b?c=d%20e', body: 'ü' })
    expect(seen?.headers).to.include({ 'x-fixed': 'f', 'x-both': 'request', 'user-agent': 'ua', 'content-type': 'text/plain' })
  })

  it('takes headers as pairs, addresses without a path, and bytes', async () => {
    const server = await stub((_request, response) => { response.end() })
    const http = client()
    await http.request({ method: 'PUT', url: server.url, headers: [['X-A', '1'], ['X-A', '2']], body: new Uint8Array([65, 66]) })
    await http.request({ method: 'GET', url: `${server.url}?q=1` })
    expect(server.seen.map(({ url }) => url)).to.deep.equal(['/', '/?q=1'])
    expect(server.seen[0]?.headers['x-a']).to.equal('1, 2')
    expect(server.seen[0]?.body).to.equal('AB')
  })

  describe('limits', () => {
    const refused: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
      ['a body that says it is too large', (_request, response) => { response.writeHead(200, { 'content-length': 200 * MEBIBYTE }); response.flushHeaders() }, /larger than/],
      ['a body that grows too large', (_request, response) => { response.end(Buffer.alloc(MEBIBYTE + 1)) }, /larger than/],
      ['an endless stream', (_request, response) => { const pump = (): void => { if (!response.destroyed) response.write(Buffer.alloc(65_536), () => { setImmediate(pump) }) }; pump() }, /larger than/],
      ['more than 100 headers', (_request, response) => { for (let index = 0; index < 101; index++) response.setHeader(`x-${String(index)}`, 'v'); response.end() }, /100 headers/],
      ['a megabyte of headers', (_request, response) => { response.setHeader('x-big', 'v'.repeat(MEBIBYTE)); response.end() }, /headers of the answer are too large/],
      ['a gzip bomb', (_request, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }); response.end(gzipSync(Buffer.alloc(50 * MEBIBYTE))) }, /too large when it is decompressed/],
      ['broken gzip', (_request, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }); response.end('not gzip') }, /cannot be decompressed/],
      ['an unknown encoding', (_request, response) => { response.writeHead(200, { 'content-encoding': 'zstd' }); response.end('x') }, /unknown content encoding/],
    ]
    for (const [name, answer, message] of refused) {
      it(`refuses ${name}`, async () => {
        const server = await stub(answer)
        const error = await failure(client({ maxResponseSize: MEBIBYTE }).request({ method: 'GET', url: `${server.url}/` }))
        expect(error.code).to.equal('FUNCTION_FAILED')
        expect(error.retryable).to.equal(false)
        expect(error.message).to.match(message)
      })
    }

    it('refuses a bomb by its ratio, below the size limit', async () => {
      const server = await stub((_request, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }); response.end(gzipSync(Buffer.alloc(8 * MEBIBYTE))) })
      expect((await failure(client().request({ method: 'GET', url: `${server.url}/` }))).message).to.match(/too large when it is decompressed/)
    })

    it('reads gzip, deflate in both forms, br, and two of them', async () => {
      const text = 'x'.repeat(5000)
      const encoded: Record<string, Buffer> = {
        gzip: gzipSync(text), 'deflate': deflateSync(text), br: brotliCompressSync(text), 'deflate, gzip': gzipSync(deflateSync(text)), 'identity': Buffer.from(text),
      }
      const server = await stub((request, response) => {
        const name = decodeURIComponent(request.url.slice(1))
        const body = name === 'raw' ? deflateRawSync(text) : encoded[name]
        response.writeHead(200, { 'content-encoding': name === 'raw' ? 'deflate' : name })
        response.end(body)
      })
      for (const name of [...Object.keys(encoded), 'raw']) {
        expect(textOf((await client().request({ method: 'GET', url: `${server.url}/${encodeURIComponent(name)}` })).body), name).to.equal(text)
      }
    })

    it('lets 64 + 1024 wait, then says that it is busy', async () => {
      const server = await stub(() => undefined)
      const http = client({ connections: 1, maxWaiting: 2 })
      const controller = new AbortController()
      const waiting = [1, 2, 3].map(() => failure(http.request({ method: 'GET', url: `${server.url}/`, signal: controller.signal })))
      const error = await failure(http.request({ method: 'GET', url: `${server.url}/` }))
      expect(error.message).to.match(/too many calls wait/)
      expect(error.retryable).to.equal(true)
      controller.abort()
      expect((await Promise.all(waiting)).every(({ message }) => message.includes('cancelled'))).to.equal(true)
    })

    it('opens no more sockets than allowed, whatever the number of calls', async () => {
      const server = await stub((_request, response) => { json(response, 200, {}) })
      const http = client({ connections: 4 })
      await Promise.all(Array.from({ length: 500 }, () => http.request({ method: 'GET', url: `${server.url}/` })))
      expect(server.connections()).to.be.at.most(4)
      expect(server.seen).to.have.length(500)
    })
  })

  describe('time', () => {
    async function hanging(request: Partial<HttpRequest>, advance: number): Promise<FunctionError> {
      const clock = createVirtualClock()
      let arrived: () => void
      const there = new Promise<void>((resolve) => { arrived = resolve })
      const server = await stub((_request, response) => { response.flushHeaders(); arrived() })
      const failed = failure(client({ clock }).request({ method: 'GET', url: `${server.url}/`, ...request }))
      await there
      clock.advance(advance)
      const error = await failed
      expect(clock.pending).to.equal(0)
      return error
    }

    it('ends a silent answer after the read timeout', async () => {
      const error = await hanging({}, 30_000)
      expect(error.code).to.equal('FUNCTION_TIMEOUT')
      expect(error.retryable).to.equal(true)
      expect(error.message).to.equal('The call to "acme" failed: the server was silent for 30000 ms')
    })

    it('takes the timeouts of a request before those of the client', async () => {
      expect((await hanging({ timeouts: { read: 50 }, purpose: 'op' }, 60)).message).to.equal('The call to "acme" (op) failed: the server was silent for 50 ms')
      expect((await hanging({ timeouts: { total: 40 } }, 60)).message).to.match(/not complete in time/)
    })

    it('does not count time between chunks as silence, and ends a slow drip by the total time', async () => {
      const clock = createVirtualClock()
      let drip: () => Promise<void> = () => Promise.resolve()
      let arrived: () => void
      const there = new Promise<void>((resolve) => { arrived = resolve })
      const server = await stub((_request, response) => {
        drip = () => new Promise((resolve) => { response.write('x', () => { setTimeout(resolve, 5) }) })
        response.flushHeaders()
        arrived()
      })
      const failed = failure(client({ clock }).request({ method: 'GET', url: `${server.url}/`, timeouts: { total: 100_000 } }))
      await there
      for (let index = 0; index < 4; index++) { await drip(); clock.advance(25_000) }
      expect((await failed).message).to.match(/not complete in time/)
    })

    it('stops at an abort, before and during the call', async () => {
      const server = await stub(() => undefined)
      const gone = await failure(client().request({ method: 'GET', url: `${server.url}/`, signal: AbortSignal.abort() }))
      expect(gone.message).to.match(/cancelled/)
      expect(server.seen).to.have.length(0)
      const controller = new AbortController()
      const failed = failure(client().request({ method: 'GET', url: `${server.url}/`, signal: controller.signal }))
      controller.abort('enough')
      expect((await failed).code).to.equal('FUNCTION_FAILED')
    })
  })

  describe('broken connections', () => {
    it('names refusal without the address', async () => {
      const server = await startStub(() => undefined)
      await server.close()
      const error = await failure(client().request({ method: 'GET', url: `${server.url}/secret?token=1`, purpose: 'op' }))
      expect(error.message).to.equal('The call to "acme" (op) failed: the connection was refused (ECONNREFUSED)')
      expect(error.retryable).to.equal(true)
      expect(JSON.stringify(error)).not.to.contain('127.0.0.1')
    })

    it('repeats a connect once by default, and as often as told', async () => {
      for (const [retryOnConnect, expected] of [[1, 2], [0, 1], [3, 4]] as const) {
        const log: string[] = []
        const server = await startStub(() => undefined)
        await server.close()
        const collect = (_fields: object, message: string): void => { log.push(message) }
        const logger = { trace: collect, debug: collect, info: collect, warn: collect, error: collect, child: () => logger }
        await failure(client({ retryOnConnect, log: logger }).request({ method: 'POST', url: `${server.url}/`, body: 'x' }))
        expect(log.filter((line) => line.includes('repeated'))).to.have.length(expected - 1)
      }
    })

    it('repeats an idempotent call once when the connection closes without a byte, and no other', async () => {
      for (const [method, expected] of [['GET', 2], ['PUT', 2], ['POST', 1], ['PATCH', 1]] as const) {
        let requests = 0
        const server = await startRawStub((socket) => { requests++; socket.destroy() })
        open.push(server)
        const error = await failure(client().request({ method, url: `${server.url}/`, ...(method === 'GET' ? {} : { body: 'x' }) }))
        expect(error.message).to.match(/closed before|was reset/)
        expect(error.retryable).to.equal(true)
        expect(requests, method).to.equal(expected)
      }
    })

    const halves: readonly (readonly [name: string, text: string, message: RegExp])[] = [
      ['half a response', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', /closed before|was reset/],
      ['half a chunked response', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', /closed before|was reset/],
      ['something that is not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', /not HTTP/],
    ]
    for (const [name, text, message] of halves) {
      it(`tells of ${name}`, async () => {
        const server = await startRawStub((socket) => { socket.end(text) })
        open.push(server)
        const error = await failure(client().request({ method: 'GET', url: `${server.url}/` }))
        expect(error.message).to.match(message)
      })
    }

    it('refuses addresses that are not http, or hold user and password', async () => {
      for (const url of ['ftp://127.0.0.1/', 'nonsense', 'http://user:marked@127.0.0.1:1/x', 'file:///etc/passwd']) {
        const error = await failure(client().request({ method: 'GET', url }))
        expect(error.message).to.match(/not an http or https address/)
        expect(error.message).not.to.contain('marked')
      }
    })

    it('says that a header is malformed instead of sending it', async () => {
      const server = await stub((_request, response) => { response.end() })
      const error = await failure(client().request({ method: 'GET', url: `${server.url}/`, headers: { 'x-a': 'b\r\nc: d' } }))
      expect(error.message).to.match(/request is malformed/)
      expect(server.seen).to.have.length(0)
    })
  })

  describe('redirects', () => {
    async function pair(): Promise<{ first: Stub; second: Stub }> {
      const second = await stub((_request, response) => { json(response, 200, { at: 'second' }) })
      const first = await stub((request, response) => {
        const [, status, where] = /^\/(\d+)\/(.*)$/.exec(request.url) ?? []
        if (status === undefined) json(response, 200, { at: 'first' })
        else response.writeHead(Number(status), { location: where === 'other' ? `${second.url}/x` : where === 'loop' ? request.url : `/${where ?? ''}` }).end()
      })
      return { first, second }
    }

    it('are not followed unless asked for', async () => {
      const { first } = await pair()
      expect((await client().request({ method: 'GET', url: `${first.url}/302/x` })).status).to.equal(302)
    })

    it('are followed on the same origin, by method', async () => {
      const { first } = await pair()
      const http = client({ redirects: { follow: true } })
      for (const [status, method, expected] of [[301, 'POST', 'GET'], [302, 'POST', 'GET'], [303, 'PUT', 'GET'], [307, 'POST', 'POST'], [308, 'PUT', 'PUT'], [302, 'PUT', 'PUT'], [303, 'HEAD', 'HEAD']] as const) {
        first.seen.length = 0
        await http.request({ method, url: `${first.url}/${String(status)}/x`, headers: { 'Content-Type': 'text/plain', Authorization: 'Bearer a' }, ...(method === 'HEAD' ? {} : { body: 'b' }) })
        expect(first.seen.map((request) => request.method), String(status)).to.deep.equal([method, expected])
        expect(first.seen[1]?.headers['authorization']).to.equal('Bearer a')
        expect(first.seen[1]?.body).to.equal(expected === method && method !== 'HEAD' ? 'b' : '')
        expect(first.seen[1]?.headers['content-type'] === undefined).to.equal(expected !== method)
      }
    })

    it('to another origin need permission, and lose credentials', async () => {
      const { first, second } = await pair()
      const headers = { Authorization: 'Bearer a', Cookie: 'c=1', wfprocid: 'w', 'X-Key': 'k', 'X-Plain': 'p', 'Idempotency-Key': 'i' }
      expect((await client({ redirects: { follow: true } }).request({ method: 'GET', url: `${first.url}/302/other`, headers })).status).to.equal(302)
      expect(second.seen).to.have.length(0)
      await client({ redirects: { follow: true, otherOrigins: true } }).request({ method: 'GET', url: `${first.url}/302/other`, headers, credentialHeaders: ['x-key'] })
      expect(second.seen[0]?.headers).to.include({ 'x-plain': 'p' })
      for (const name of ['authorization', 'cookie', 'wfprocid', 'x-key', 'idempotency-key']) expect(second.seen[0]?.headers).not.to.have.property(name)
    })

    it('end after the allowed number', async () => {
      const { first } = await pair()
      const error = await failure(client({ redirects: { follow: true, max: 3 } }).request({ method: 'GET', url: `${first.url}/302/loop` }))
      expect(error.message).to.match(/more than 3 redirects/)
      expect(first.seen).to.have.length(4)
    })

    it('never lead to a denied address or off http', async () => {
      for (const [location, status] of [['http://169.254.169.254/latest', undefined], ['ftp://127.0.0.1/', 302], ['http://[::ffff:169.254.169.254]/', undefined]] as const) {
        const server = await stub((_request, response) => { response.writeHead(302, { location }).end() })
        const http = client({ redirects: { follow: true, otherOrigins: true } })
        if (status === undefined) expect((await failure(http.request({ method: 'GET', url: `${server.url}/` }))).message).to.match(/denied by sonatina.http-client.deny-addresses/)
        else expect((await http.request({ method: 'GET', url: `${server.url}/` })).status).to.equal(status)
      }
    })
  })

  describe('targets', () => {
    it('denies link-local literals in every spelling, unless one is the configured root', async () => {
      for (const url of ['http://169.254.169.254/', 'http://0xA9FEA9FE/', 'http://2852039166/', 'http://[fe80::1]/', 'http://[::ffff:a9fe:a9fe]/']) {
        expect((await failure(client().request({ method: 'GET', url }))).message, url).to.match(/denied/)
      }
      const allowed = await failure(client({ denyAddresses: ['127.0.0.0/8'], allowAddress: '127.0.0.1', retryOnConnect: 0 }).request({ method: 'GET', url: 'http://127.0.0.1:9/' }))
      expect(allowed.message).to.match(/refused/)
    })

    it('denies names that resolve to a denied address', async () => {
      const server = await stub((_request, response) => { response.end() })
      const error = await failure(client({ denyAddresses: ['127.0.0.0/8', '::1/128'] }).request({ method: 'GET', url: `http://localhost:${String(server.port)}/` }))
      expect(error.message).to.match(/denied/)
      expect(server.connections()).to.equal(0)
    })

    it('keeps to the allow list of hosts', async () => {
      const server = await stub((_request, response) => { response.end() })
      expect((await client({ allowTargets: [`127.0.0.1:${String(server.port)}`] }).request({ method: 'GET', url: `${server.url}/` })).status).to.equal(200)
      for (const list of [['example.org'], ['127.0.0.1:1'], ['*.example.org'], []]) {
        expect((await failure(client({ allowTargets: list }).request({ method: 'GET', url: `${server.url}/` }))).message).to.match(/allow-targets/)
      }
    })

    it('refuses a deny list that is not CIDR', () => {
      for (const network of ['10.0.0.0/33', 'example.org', '::/129']) expect(() => createHttpClient({ name: 'x', denyAddresses: [network] })).to.throw(/is not a network/)
    })
  })

  describe('resilience, off by default', () => {
    function failing(times: number, status = 503, headers: Readonly<Record<string, string>> = {}): Promise<Stub> {
      let left = times
      return stub((_request, response) => { json(response, left-- > 0 ? status : 200, {}, headers) })
    }

    it('repeats idempotent calls only, or those with an Idempotency-Key', async () => {
      const resilience = { retries: 2, retryDelay: 1, maxRetryDelay: 2 }
      const get = await failing(2)
      expect((await client({ resilience }).request({ method: 'GET', url: `${get.url}/` })).status).to.equal(200)
      const post = await failing(2)
      expect((await client({ resilience }).request({ method: 'POST', url: `${post.url}/` })).status).to.equal(503)
      const keyed = await failing(2, 429, { 'retry-after': '0' })
      expect((await client({ resilience }).request({ method: 'POST', url: `${keyed.url}/`, headers: { 'Idempotency-Key': 'k' } })).status).to.equal(200)
      const hopeless = await failing(9)
      expect((await client({ resilience }).request({ method: 'GET', url: `${hopeless.url}/` })).status).to.equal(503)
      expect(hopeless.seen).to.have.length(3)
      const none = await failing(9)
      await client().request({ method: 'GET', url: `${none.url}/` })
      expect(none.seen).to.have.length(1)
      const wrong = await failing(9, 404)
      await client({ resilience }).request({ method: 'GET', url: `${wrong.url}/` })
      expect(wrong.seen).to.have.length(1)
    })

    it('opens the circuit after failures in a row', async () => {
      const server = await failing(99, 500)
      const http = client({ resilience: { breakerFailures: 2, breakerDelay: 60_000 } })
      for (let index = 0; index < 2; index++) expect((await http.request({ method: 'GET', url: `${server.url}/` })).status).to.equal(500)
      const error = await failure(http.request({ method: 'GET', url: `${server.url}/` }))
      expect(error.message).to.match(/circuit is open/)
      expect(error.retryable).to.equal(true)
      expect(server.seen).to.have.length(2)
    })

    it('lets so many calls run and wait, and refuses further ones', async () => {
      const answers: (() => void)[] = []
      const server = await stub((_request, response) => { answers.push(() => { response.end() }) })
      const http = client({ resilience: { maxConcurrent: 1, maxWaiting: 1 } })
      const calls = [http.request({ method: 'GET', url: `${server.url}/` }), http.request({ method: 'GET', url: `${server.url}/` })]
      expect((await failure(http.request({ method: 'GET', url: `${server.url}/` }))).message).to.match(/bulkhead/)
      const release = setInterval(() => { answers.shift()?.() }, 1)
      await Promise.all(calls)
      clearInterval(release)
      expect(server.seen).to.have.length(2)
    })
  })
})
