import { expect } from 'chai'
import type { OperationSecurity, SecurityScheme } from '../../../lib/auth/index.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { json, startStub, type Stub } from '../http-client/stub.ts'
import { acmeSecurity, apply, authFailure, createBench, emptyRequest, type Bench } from './support.ts'

const AUTH = 'sonatina.openapi-generator.acme_yml.auth'

describe('auth/schemes', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => { for (const each of open.splice(0).reverse()) await each.close() })

  async function bench(properties: string): Promise<Bench> {
    const made = await createBench(properties)
    open.push(made)
    return made
  }
  async function tokens(): Promise<Stub> {
    let count = 0
    const server = await startStub((_request, response) => { json(response, 200, { access_token: `T${String(++count)}`, expires_in: 100 }) })
    open.push(server)
    return server
  }
  function security(schemes: Readonly<Record<string, SecurityScheme>>, requirements?: OperationSecurity['security']): OperationSecurity {
    return { fileKey: 'acme_yml', document: 'specs/acme.yml', operation: 'op', schemes, security: requirements ?? Object.keys(schemes).map((name) => ({ [name]: [] })) }
  }

  const BASIC: SecurityScheme = { type: 'http', scheme: 'Basic' }
  const rows: readonly (readonly [name: string, scheme: SecurityScheme, lines: readonly string[], expected: Partial<ReturnType<typeof emptyRequest>>])[] = [
    ['http basic, in UTF-8', BASIC, ['username=jo', 'password=p\\u00fc:x'], { headers: { Authorization: `Basic ${Buffer.from('jo:pü:x').toString('base64')}` } }],
    ['basic of 2.0', { type: 'basic' }, ['username=jo', 'password=p'], { headers: { Authorization: `Basic ${Buffer.from('jo:p').toString('base64')}` } }],
    ['http bearer', { type: 'http', scheme: 'bearer' }, ['bearer-token=t'], { headers: { Authorization: 'Bearer t' } }],
    ['an API key in a header', { type: 'apiKey', in: 'header', name: 'X-Key' }, ['api-key=Key k'], { headers: { 'X-Key': 'Key k' } }],
    ['an API key in the query', { type: 'apiKey', in: 'query', name: 'key' }, ['api-key=k&='], { query: { key: 'k&=' } }],
    ['an API key in a cookie', { type: 'apiKey', in: 'cookie', name: 'sid' }, ['api-key=k'], { cookies: { sid: 'k' } }],
  ]
  for (const [name, scheme, lines, expected] of rows) {
    it(`sends ${name}`, async () => {
      const { authorizer } = await bench(lines.map((line) => `quarkus.openapi-generator."acme.yml".auth.my-scheme.${line}`).join('\n'))
      const authorization = authorizer.compile(security({ 'my-scheme': scheme }))
      expect(await apply(authorization)).to.deep.equal({ ...emptyRequest(), ...expected })
      expect(authorization?.renew(emptyRequest())).to.equal(false)
    })
  }

  it('needs nothing without security, with security: [], and with enable-security-generation=false', async () => {
    const { authorizer } = await bench('sonatina.openapi-generator.codegen.spec.off_yml.enable-security-generation=false')
    expect(authorizer.compile({ ...security({ a: BASIC }), security: undefined })).to.equal(undefined)
    expect(authorizer.compile(security({ a: BASIC }, []))).to.equal(undefined)
    expect(authorizer.compile(security({ a: BASIC }, [{}]))).to.equal(undefined)
    expect(authorizer.compile({ ...security({ a: BASIC }), fileKey: 'off_yml' })).to.equal(undefined)
    expect(authorizer.compile(security({ a: BASIC }, [{ a: [] }, {}]))).to.equal(undefined)
  })

  describe('several schemes', () => {
    const schemes = { one: { type: 'apiKey', in: 'query', name: 'k1' }, two: { type: 'apiKey', in: 'header', name: 'K2' }, three: { type: 'apiKey', in: 'header', name: 'k2' } }

    it('applies every configured one of all alternatives', async () => {
      const { authorizer } = await bench(`${AUTH}.one.api-key=1\n${AUTH}.two.api-key=2`)
      expect(await apply(authorizer.compile(security(schemes, [{ one: [] }, { two: [] }, { three: [] }])))).to.deep.include({ query: { k1: '1' }, headers: { K2: '2' } })
    })

    it('fails when no alternative is complete', async () => {
      const { authorizer } = await bench(`${AUTH}.one.api-key=1`)
      const authorization = authorizer.compile(security(schemes, [{ one: [], two: [] }]))
      expect((await authFailure(apply(authorization))).message).to.equal(`Security scheme "two" (specs/acme.yml, operation op) has no API key.
Missing: sonatina.openapi-generator.acme_yml.auth.two.api-key     or SONATINA_OPENAPI_GENERATOR_ACME_YML_AUTH_TWO_API_KEY
Looked in: environment, .env, application.properties (profile prod).`)
      expect((await apply(authorizer.compile(security(schemes, [{ one: [], two: [] }, { one: [] }])))).query).to.deep.equal({ k1: '1' })
    })

    it('lets the first of two that set the same header count, with a warning', async () => {
      const { authorizer, lines } = await bench(`${AUTH}.two.api-key=2\n${AUTH}.three.api-key=3`)
      expect((await apply(authorizer.compile(security(schemes, [{ two: [], three: [] }])))).headers).to.deep.equal({ K2: '2' })
      expect(lines.join('')).to.contain('would set the same header')
    })
  })

  describe('propagation', () => {
    const scheme = { b: { type: 'http', scheme: 'bearer' } }
    it("passes the caller's header on, and adds Bearer when no scheme is named", async () => {
      const { authorizer } = await bench(`${AUTH}.b.token-propagation=true\n${AUTH}.b.bearer-token=static`)
      const authorization = authorizer.compile(security(scheme))
      for (const [value, expected] of [['X', 'Bearer X'], ['Bearer X', 'Bearer X'], ['Basic abc', 'Basic abc'], ['bearer x', 'bearer x']] as const) {
        expect((await apply(authorization, { authorization: value })).headers).to.deep.equal({ Authorization: expected })
      }
    })

    it('takes another header, and never another identity', async () => {
      const { authorizer } = await bench(`${AUTH}.b.token-propagation=true\n${AUTH}.b.header-name=X-Caller\n${AUTH}.b.bearer-token=marked-static`)
      const authorization = authorizer.compile(security(scheme))
      expect((await apply(authorization, { 'x-caller': 'C', authorization: 'A' })).headers['Authorization']).to.equal('Bearer C')
      for (const headers of [{}, { authorization: 'A' }, { 'x-caller': ' ' }, { 'x-caller': 'a\r\nX: y' }]) {
        const request = emptyRequest()
        const error = await authFailure(Promise.resolve().then(() => authorization?.apply(request, { headers })))
        expect(error.message).to.contain('"X-Caller"')
        expect(request).to.deep.equal(emptyRequest())
      }
      expect((await authFailure(apply(authorization))).message).to.contain('sonatina.persistence.headers.enabled=true')
    })

    it('comes before the OAuth client', async () => {
      const { authorizer } = await bench(`${AUTH}.o.token-propagation=true\nsonatina.oidc-client.o.client-id=i\nsonatina.oidc-client.o.credentials.secret=s\nsonatina.oidc-client.o.grant.type=exchange`)
      expect((await apply(authorizer.compile(security({ o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'http://127.0.0.1:9' } } } })), { authorization: 'P' })).headers['Authorization']).to.equal('Bearer P')
    })
  })

  describe('the OAuth client', () => {
    const MISSING = `Security scheme "acme-financial-oauth" (specs/acme-financial-service.yml, operation exchangeRate) has no OAuth 2.0 client.
Missing: sonatina.oidc-client.acme_financial_oauth.client-id                           or SONATINA_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CLIENT_ID
         sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value     or SONATINA_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CREDENTIALS_CLIENT_SECRET_VALUE
Looked in: environment, .env, application.properties (profile prod). Similar key found: sonatina.oidc-client.acme_finacial_oauth.client-id (application.properties:4)`

    it('that is missing is told at load, once, and at the call, with nothing left to guess', async () => {
      const { authorizer, lines } = await bench('\n\n\nsonatina.oidc-client.acme_finacial_oauth.client-id=x')
      const first = authorizer.compile(acmeSecurity('http://127.0.0.1:9'))
      authorizer.compile(acmeSecurity('http://127.0.0.1:9'))
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal([MISSING])
      const error = await authFailure(apply(first))
      expect(error.message).to.equal(MISSING)
      expect(error.retryable).to.equal(false)
    })

    it('lists only what is missing, and says when it is turned off', async () => {
      const half = await bench('sonatina.oidc-client.acme_financial_oauth.client-id=x')
      const message = (await authFailure(apply(half.authorizer.compile(acmeSecurity('http://127.0.0.1:9'))))).message
      expect(message).to.contain('Missing: sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value     or').and.not.to.contain('client-id ')
      const off = await bench('sonatina.oidc-client.acme_financial_oauth.client-id=x\nsonatina.oidc-client.acme_financial_oauth.credentials.secret=y\nsonatina.oidc-client.acme_financial_oauth.client-enabled=false')
      expect((await authFailure(apply(off.authorizer.compile(acmeSecurity('http://127.0.0.1:9'))))).message).to.contain('turned off by sonatina.oidc-client.acme_financial_oauth.client-enabled=false')
    })

    it('that is missing stops the load with sonatina.auth.fail-fast', async () => {
      const { authorizer } = await bench('sonatina.auth.fail-fast=true')
      expect(() => authorizer.compile(acmeSecurity('http://127.0.0.1:9'))).to.throw(ConfigurationError, 'has no OAuth 2.0 client')
    })

    const CLIENT = 'sonatina.oidc-client.acme_financial_oauth'
    const FULL = `${CLIENT}.client-id=i\n${CLIENT}.credentials.secret=marked-s\n`

    it('finds the token address: token-path, server and path, discovery, document', async () => {
      const server = await tokens()
      const rowsOfAddress: readonly (readonly [lines: string, documentUrl: string, base: string | undefined, path: string])[] = [
        [`${CLIENT}.token-path=${server.url}/absolute\n${CLIENT}.auth-server-url=http://127.0.0.1:9`, 'http://127.0.0.1:9', undefined, '/absolute'],
        [`${CLIENT}.auth-server-url=${server.url}/realms/a/\n${CLIENT}.token-path=/protocol/token`, 'http://127.0.0.1:9', undefined, '/realms/a/protocol/token'],
        [`${CLIENT}.discovery-enabled=false`, `${server.url}/document`, undefined, '/document'],
        ['', `${server.url}/document`, undefined, '/document'],
        [`${CLIENT}.auth-server-url=http://127.0.0.1:9\n${CLIENT}.discovery-enabled=false`, '/relative/token', `${server.url}/root/`, '/relative/token'],
      ]
      for (const [lines, documentUrl, base, path] of rowsOfAddress) {
        server.seen.length = 0
        const { authorizer } = await bench(FULL + lines)
        await apply(authorizer.compile(acmeSecurity(documentUrl, base === undefined ? {} : { base })))
        expect(server.seen.map(({ url }) => url)).to.deep.equal([path])
      }
      const none = await bench(FULL)
      expect((await authFailure(apply(none.authorizer.compile(acmeSecurity(''))))).message).to.contain('has no token address').and.to.contain('token-path')
    })

    it('renews once after a 401, not a token fetched within the call, not twice', async () => {
      const { authorizer } = await bench(FULL)
      const server = await tokens()
      const authorization = authorizer.compile(acmeSecurity(`${server.url}/t`))
      const fresh = await apply(authorization)
      expect(authorization?.renew(fresh)).to.equal(false)
      const cached = await apply(authorization)
      const other = await apply(authorization)
      expect(authorization?.renew(cached)).to.equal(true)
      await authorization?.apply(cached, { headers: {} })
      expect(cached.headers['Authorization']).to.equal('Bearer T2')
      expect(authorization?.renew(cached)).to.equal(false)
      // Another call that was refused with the old token takes the new one and asks for none.
      expect(authorization?.renew(other)).to.equal(true)
      await authorization?.apply(other, { headers: {} })
      expect(other.headers['Authorization']).to.equal('Bearer T2')
      expect(server.seen).to.have.length(2)
    })

    it('is shared by the operations of all documents with the same scheme and server', async () => {
      const server = await tokens()
      const { authorizer } = await bench(FULL)
      await Promise.all([acmeSecurity(`${server.url}/t`), acmeSecurity(`${server.url}/t`, { operation: 'b' }), acmeSecurity(`${server.url}/t`, { fileKey: 'x', document: 'x' })].map((each) => apply(authorizer.compile(each))))
      expect(server.seen).to.have.length(1)
    })

    it('applies at once while the token is in memory', async () => {
      const server = await tokens()
      const { authorizer } = await bench(FULL)
      const authorization = authorizer.compile(acmeSecurity(`${server.url}/t`))
      await apply(authorization)
      expect(authorization?.apply(emptyRequest(), { headers: {} })).to.equal(undefined)
    })

    it('fetches early when told to, and only warns when that fails', async () => {
      const server = await tokens()
      const { authorizer } = await bench(`${FULL}${CLIENT}.early-tokens-acquisition=true`)
      authorizer.compile(acmeSecurity(`${server.url}/t`))
      for (let turn = 0; turn < 10_000 && server.seen.length === 0; turn++) await new Promise(setImmediate)
      expect(server.seen).to.have.length(1)
      const { authorizer: failing, lines } = await bench(`${FULL}${CLIENT}.early-tokens-acquisition=true`)
      failing.compile(acmeSecurity('http://127.0.0.1:9/t'))
      for (let turn = 0; turn < 10_000 && !lines.join('').includes('at start'); turn++) await new Promise(setImmediate)
      expect(lines.join('')).to.contain('No token could be fetched at start')
    })

    it('warns of method query', async () => {
      const { authorizer, lines } = await bench(`${CLIENT}.client-id=i\n${CLIENT}.credentials.client-secret.value=marked-s\n${CLIENT}.credentials.client-secret.method=query`)
      authorizer.compile(acmeSecurity('http://127.0.0.1:9/t'))
      expect(lines.join('')).to.contain('sends its secret in the query').and.not.to.contain('marked')
    })
  })

  it('refuses what cannot work: a colon in the user name, digest, an undeclared scheme, mutual TLS without a key store', async () => {
    const { authorizer } = await bench(`${AUTH}.b.username=a:b\n${AUTH}.b.password=p\nsonatina.rest-client.acme_yml.key-store=some.p12`)
    expect(() => authorizer.compile(security({ b: BASIC }))).to.throw(ConfigurationError, /cannot hold ":"/)
    expect((await authFailure(apply(authorizer.compile(security({ d: { type: 'http', scheme: 'digest' } }))))).message).to.contain('of type http digest, which is not supported')
    expect((await authFailure(apply(authorizer.compile(security({}, [{ gone: [] }]))))).message).to.contain('"gone"').and.to.contain('not declared')
    expect(authorizer.compile(security({ m: { type: 'mutualTLS' } }))).to.equal(undefined)
    expect((await authFailure(apply(authorizer.compile({ ...security({ m: { type: 'mutualTLS' } }), fileKey: 'other' })))).message).to.contain('needs a client certificate')
  })
})
