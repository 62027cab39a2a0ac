import { expect } from 'chai'
import { createRandomIdSource, silentLogger } from '../../../lib/common/index.ts'
import { createTokenSource, type OAuthClient, type TokenSource } from '../../../lib/auth/index.ts'
import { OAUTH_CLIENT_DEFAULTS } from '../../../lib/auth/oauth-client.ts'
import { Secret } from '../../../lib/configuration/index.ts'
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../lib/http-client/index.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'
import { json, startRawStub, startStub, type Answer, type Stub } from '../http-client/stub.ts'
import { authFailure } from './support.ts'

interface Bench {
  readonly source: TokenSource
  readonly clock: VirtualClock
  readonly http: HttpClient
}

const START = Date.UTC(2026, 0, 1)

describe('auth/token-source', () => {
  const open: { close(): Promise<void> | void }[] = []
  afterEach(async () => { for (const each of open.splice(0).reverse()) await each.close() })

  async function stub(answer: Answer): Promise<Stub> {
    const server = await startStub(answer)
    open.push(server)
    return server
  }
  function bench(url: string, changes: Partial<OAuthClient> = {}, options: { readonly http?: Partial<HttpClientOptions>; readonly proactive?: { readonly before: number; readonly every: number } } = {}): Bench {
    const clock = createVirtualClock(START)
    const http = createHttpClient({ name: 'c', clock, ...options.http })
    const client: OAuthClient = {
      ...OAUTH_CLIENT_DEFAULTS, name: 'c', clientId: 'id', grant: 'client', secret: () => Promise.resolve(new Secret('marked-secret')), tokenUrl: () => Promise.resolve(`${url}/token`), ...changes,
    }
    const source = createTokenSource({ client, httpClient: http, clock, ids: createRandomIdSource(), log: silentLogger, ...(options.proactive ? { proactive: options.proactive } : {}) })
    open.push({ async close() { source.close(); await http.close(); expect(clock.pending).to.equal(0) } })
    return { source, clock, http }
  }
  /** Lets I/O go on until something holds. */
  async function until(holds: () => boolean): Promise<void> {
    for (let turn = 0; turn < 100_000 && !holds(); turn++) await new Promise(setImmediate)
    expect(holds()).to.equal(true)
  }
  /** Answers T1, T2, … */
  function counting(extra: Readonly<Record<string, unknown>> = { expires_in: 100 }): Answer {
    let count = 0
    return (_request, response) => { json(response, 200, { access_token: `T${String(++count)}`, token_type: 'bearer', ...extra }) }
  }

  describe('requests', () => {
    it('are exactly those of configuration.md §4', async () => {
      const server = await stub(counting())
      const rows: readonly (readonly [Partial<OAuthClient>, { authorization?: string; body: string; url?: string }])[] = [
        [{}, { authorization: 'id:marked-secret', body: 'grant_type=client_credentials' }],
        [{ scopes: ['a', 'b'] }, { authorization: 'id:marked-secret', body: 'grant_type=client_credentials&scope=a%20b' }],
        [{ clientId: 'i d', secret: () => Promise.resolve(new Secret('a b:c%+ü/')) }, { authorization: 'i+d:a+b%3Ac%25%2B%C3%BC%2F', body: 'grant_type=client_credentials' }],
        [{ encode: false, secret: () => Promise.resolve(new Secret('a b:c%+ü/')) }, { authorization: 'id:a b:c%+ü/', body: 'grant_type=client_credentials' }],
        [{ secret: () => Promise.resolve(new Secret('aZ09-._*')) }, { authorization: 'id:aZ09-._*', body: 'grant_type=client_credentials' }],
        [{ method: 'post' }, { body: 'grant_type=client_credentials&client_id=id&client_secret=marked-secret' }],
        [{ method: 'query' }, { body: 'grant_type=client_credentials', url: '/token?client_id=id&client_secret=marked-secret' }],
        [{ parameters: { audience: 'x' } }, { authorization: 'id:marked-secret', body: 'grant_type=client_credentials&audience=x' }],
      ]
      for (const [changes, expected] of rows) {
        server.seen.length = 0
        await bench(server.url, changes).source.token()
        const [seen] = server.seen
        expect(seen?.method).to.equal('POST')
        expect(seen?.url).to.equal(expected.url ?? '/token')
        expect(seen?.body).to.equal(expected.body)
        expect(seen?.headers).to.include({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' })
        expect(seen?.headers['authorization']).to.equal(expected.authorization === undefined ? undefined : `Basic ${Buffer.from(expected.authorization).toString('base64')}`)
      }
    })
  })

  describe('cache', () => {
    it('makes one request for 50 callers at a time, and one more after expiry minus skew', async () => {
      const server = await stub(counting())
      const { source, clock } = bench(server.url)
      expect(new Set(await Promise.all(Array.from({ length: 50 }, async () => source.token())))).to.deep.equal(new Set(['T1']))
      expect(server.seen).to.have.length(1)
      clock.advance(94_999)
      expect(source.token()).to.equal('T1')
      clock.advance(1)
      expect(new Set(await Promise.all(Array.from({ length: 50 }, async () => source.token())))).to.deep.equal(new Set(['T2']))
      expect(server.seen).to.have.length(2)
    })

    const lives: readonly (readonly [name: string, answer: Record<string, unknown>, changes: Partial<OAuthClient>, life: number])[] = [
      ['60 s without expires_in', {}, {}, 55_000],
      ['the configured life without expires_in', {}, { defaultLife: 30_000 }, 25_000],
      ['expires_in as text', { expires_in: '50' }, {}, 45_000],
      ['half the life when that is shorter than the skew', { expires_in: 4 }, {}, 2000],
      ['a Unix time', { expires_in: START / 1000 + 20 }, { absoluteExpiry: true }, 15_000],
      ['another property', { lasts: 11 }, { names: { ...OAUTH_CLIENT_DEFAULTS.names, expiresIn: 'lasts' } }, 6000],
      ['a bad number: the default', { expires_in: 'soon' }, {}, 55_000],
    ]
    for (const [name, answer, changes, life] of lives) {
      it(`keeps a token for ${name}`, async () => {
        const server = await stub(counting(answer))
        const { source, clock } = bench(server.url, changes)
        await source.token()
        clock.advance(life - 1)
        expect(source.token()).to.equal('T1')
        clock.advance(1)
        expect(await source.token()).to.equal('T2')
      })
    }

    it('drops a refused token only while it is the cached one', async () => {
      const server = await stub(counting())
      const { source } = bench(server.url)
      const first = await source.token()
      source.invalidate(first)
      expect(await source.token()).to.equal('T2')
      source.invalidate(first)
      expect(source.token()).to.equal('T2')
    })

    it('does not cancel the request of others when one caller goes away', async () => {
      let release: () => void = () => undefined
      const server = await stub((_request, response) => { release = () => { json(response, 200, { access_token: 'T' }) } })
      const { source } = bench(server.url)
      const controller = new AbortController()
      const leaving = authFailure(Promise.resolve(source.token({ signal: controller.signal })))
      const staying = Promise.resolve(source.token())
      controller.abort()
      expect((await leaving).message).to.match(/cancelled while it waited/)
      await until(() => server.seen.length > 0)
      release()
      expect(await staying).to.equal('T')
      expect(server.seen).to.have.length(1)
    })

    it('shares a failure with those who wait, and asks again afterwards', async () => {
      let count = 0
      const server = await stub((_request, response) => { json(response, ++count === 1 ? 500 : 200, count === 1 ? {} : { access_token: 'T' }) })
      const { source } = bench(server.url)
      const failures = await Promise.all(Array.from({ length: 20 }, () => authFailure(Promise.resolve(source.token()))))
      expect(new Set(failures)).to.have.property('size', 1)
      expect(failures[0]?.retryable).to.equal(true)
      expect(await source.token()).to.equal('T')
    })

    it('remembers a refused client for one second', async () => {
      for (const error of ['invalid_client', 'unauthorized_client']) {
        const server = await stub((_request, response) => { json(response, 401, { error }) })
        const { source, clock } = bench(server.url)
        await authFailure(Promise.resolve(source.token()))
        expect(() => source.token()).to.throw(error)
        expect(server.seen).to.have.length(1)
        clock.advance(1000)
        await authFailure(Promise.resolve(source.token()))
        expect(server.seen).to.have.length(2)
      }
    })

    it('uses a refresh token while it is valid, falling back within the call', async () => {
      const grants: string[] = []
      let refuse = false
      const server = await stub((request, response) => {
        const grant = new URLSearchParams(request.body).get('grant_type') ?? ''
        grants.push(grant)
        if (grant === 'refresh_token' && refuse) json(response, 400, { error: 'invalid_grant' })
        else json(response, 200, { access_token: `T${String(grants.length)}`, expires_in: 10, refresh_token: 'R', refresh_expires_in: 100 })
      })
      const { source, clock } = bench(server.url, { grant: 'password', parameters: { username: 'u', password: 'p' } })
      await source.token()
      clock.advance(6000)
      await source.token()
      expect(grants).to.deep.equal(['password', 'refresh_token'])
      refuse = true
      clock.advance(6000)
      expect(await source.token()).to.equal('T4')
      expect(grants).to.deep.equal(['password', 'refresh_token', 'refresh_token', 'password'])
      clock.advance(96_000)
      await source.token()
      expect(grants.at(-1)).to.equal('password')
    })

    it('keeps the tokens of callers apart (exchange)', async () => {
      const server = await stub((request, response) => { json(response, 200, { access_token: `for-${new URLSearchParams(request.body).get('subject_token') ?? ''}`, expires_in: 100 }) })
      const { source } = bench(server.url, { grant: 'exchange' })
      expect(await source.token({ subject: 'a' })).to.equal('for-a')
      expect(await source.token({ subject: 'b' })).to.equal('for-b')
      expect(source.token({ subject: 'a' })).to.equal('for-a')
      expect(server.seen.map(({ body }) => body)).to.deep.equal(['a', 'b'].map((subject) => `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&subject_token=${subject}`))
      source.invalidate('for-a', 'b')
      expect(source.token({ subject: 'a' })).to.equal('for-a')
    })

    it('renews exchanged tokens in the background while they are used', async () => {
      const server = await stub(counting({ expires_in: 300 }))
      const { source, clock } = bench(server.url, { grant: 'exchange' }, { proactive: { before: 296_000, every: 4000 } })
      expect(await source.token({ subject: 's' })).to.equal('T1')
      clock.advance(4000)
      await until(() => server.seen.length === 2)
      await until(() => source.token({ subject: 's' }) === 'T2')
      clock.advance(400_000)
      expect(clock.pending).to.equal(0)
      expect(await source.token({ subject: 's' })).to.match(/^T[34]$/)
    })
  })

  describe('token endpoints that are not as they should be', () => {
    const rows: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
      ['302', (_request, response) => { response.writeHead(302, { location: '/elsewhere' }).end() }, /answered status 302, not JSON/],
      ['302 with a token', (_request, response) => { json(response, 302, { access_token: 'T' }, { location: '/elsewhere' }) }, /answered status 302/],
      ['200 with HTML', (_request, response) => { response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>') }, /answered status 200, not JSON/],
      ['200 without token', (_request, response) => { json(response, 200, { token_type: 'bearer' }) }, /holds no "access_token"/],
      ['200 with an empty token', (_request, response) => { json(response, 200, { access_token: '' }) }, /holds no "access_token"/],
      ['200 with a token that is an object', (_request, response) => { json(response, 200, { access_token: { a: 1 } }) }, /holds no "access_token"/],
      ['200 with an array', (_request, response) => { json(response, 200, []) }, /not JSON/],
      ['a token with a line break', (_request, response) => { json(response, 200, { access_token: 'a\r\nX: y' }) }, /characters that RFC 6750 does not allow/],
      ['another token type', (_request, response) => { json(response, 200, { access_token: 'a', token_type: 'MAC\u0007' }) }, /token type is "MAC ", only Bearer/],
      ['500', (_request, response) => { response.writeHead(500).end('boom') }, /answered status 500, not JSON/],
      ['an error with a hostile description', (_request, response) => { json(response, 400, { error: 'invalid_scope', error_description: `a\r\n\u001b[31m${'x'.repeat(900)}` }) }, /answered invalid_scope: a \[31mx+$/],
      ['200 with an error', (_request, response) => { json(response, 200, { error: 'server_error', access_token: 'T' }) }, /answered server_error/],
      ['100 MB', (_request, response) => { response.writeHead(200); const pump = (): void => { if (!response.destroyed) response.write(Buffer.alloc(65_536), () => { setImmediate(pump) }) }; pump() }, /did not answer: the answer is larger than/],
    ]
    for (const [name, answer, message] of rows) {
      it(`end as AUTH_FAILED: ${name}`, async () => {
        const server = await stub(answer)
        const error = await authFailure(Promise.resolve(bench(server.url, {}, { http: { maxResponseSize: 1024 * 1024 } }).source.token()))
        expect(error.message).to.match(message)
        expect(error.message.length).to.be.lessThan(400)
        expect(JSON.stringify(error)).not.to.contain('marked').and.not.to.contain('127.0.0.1')
        expect(server.seen.filter(({ url }) => url === '/elsewhere')).to.have.length(0)
      })
    }

    it('end as AUTH_FAILED: closes early, refuses, never answers', async () => {
      const early = await startRawStub((socket) => { socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"acc') })
      open.push(early)
      expect((await authFailure(Promise.resolve(bench(early.url).source.token()))).retryable).to.equal(true)
      const gone = await startStub(() => undefined)
      await gone.close()
      expect((await authFailure(Promise.resolve(bench(gone.url).source.token()))).message).to.equal('No token for "c": the authorization server did not answer: the connection was refused (ECONNREFUSED)')
      const silent = await stub(() => undefined)
      const { source, clock } = bench(silent.url, {}, { http: { timeouts: { read: 10_000, total: 10_000 } } })
      const failed = authFailure(Promise.resolve(source.token()))
      await until(() => silent.seen.length > 0)
      clock.advance(10_000)
      expect((await failed).message).to.match(/did not answer: the answer was not complete in time/)
    })

    it('are asked once more when they say so: 429 and 503 with a short Retry-After', async () => {
      for (const [status, after, expected] of [[429, '2', 2], [503, '0', 2], [503, '6', 1], [503, 'soon', 1], [500, '1', 1]] as const) {
        const server = await stub((_request, response) => {
          if (server.seen.length === 1) json(response, status, { error: 'busy' }, { 'retry-after': after })
          else json(response, 200, { access_token: 'T' })
        })
        const { source, clock } = bench(server.url)
        const outcome = Promise.resolve(source.token()).then((token) => token, () => 'failed')
        let done = false
        void outcome.then(() => { done = true })
        await until(() => {
          if (server.seen.length === 1 && clock.next() !== undefined) clock.advance(100)
          return done
        })
        expect(await outcome, `${String(status)} ${after}`).to.equal(expected === 2 ? 'T' : 'failed')
        expect(server.seen).to.have.length(expected)
      }
    })
  })

  it('renews in the background when told to', async () => {
    const server = await stub(counting({ expires_in: 1000 }))
    const { source, clock } = bench(server.url, { refreshInterval: 100_000 })
    await source.token()
    clock.advance(100_000)
    await until(() => source.token() === 'T2')
    expect(server.seen).to.have.length(2)
  })
})
