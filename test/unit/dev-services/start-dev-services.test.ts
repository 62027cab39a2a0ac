import { expect } from 'chai'
import { createHttpClients, type HttpClients } from '../../../lib/http-client/index.ts'
import { createAuthorizer, type Authorizer } from '../../../lib/auth/index.ts'
import { createRandomIdSource, createSystemClock, silentLogger } from '../../../lib/common/index.ts'
import { HostError } from '../../../lib/errors/index.ts'
import { exchangeRate, startDevServices, type DevServices } from '../../../lib/dev-services/index.ts'
import { acmeSecurity, tokenOf } from '../auth/support.ts'
import { read } from '../configuration/support.ts'

const PATH = '/financial-service/exchange-rate'

describe('dev-services', () => {
  let services: DevServices
  const written: string[] = []
  let restore: () => void

  before(async () => {
    // oidc-provider warns on the console of what a production server should not do; ours gives it no reason to.
    const methods = ['info', 'warn', 'error', 'log'] as const
    const originals = methods.map((name) => Object.getOwnPropertyDescriptor(console, name))
    for (const name of methods) Object.defineProperty(console, name, { configurable: true, writable: true, value: (...texts: unknown[]) => { written.push(texts.join(' ')) } })
    restore = () => { methods.forEach((name, index) => { const original = originals[index]; if (original) Object.defineProperty(console, name, original) }) }
    services = await startDevServices({ clientSecret: 'marked-dev' })
  })
  after(async () => {
    restore()
    await services.close()
    expect(written).to.deep.equal([])
  })

  async function token(method: 'basic' | 'post' = 'basic'): Promise<string> {
    const { tokenUrl, clientId, clientSecret } = services.authorizationServer
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: method === 'basic' ? { Authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` } : {},
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(method === 'post' ? { client_id: `${clientId}-post`, client_secret: clientSecret } : {}) }),
    })
    expect(response.status).to.equal(200)
    const answer = (await response.json()) as { access_token: string; token_type: string; expires_in: number }
    expect(answer).to.deep.include({ token_type: 'Bearer', expires_in: 600 })
    return answer.access_token
  }
  async function rate(query: string, bearer: string | undefined): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${services.acme.url}${PATH}${query}`, { headers: bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` } })
    return { status: response.status, body: await response.json() }
  }

  it('gives tokens to a client that proves itself, by basic and post, and to no other', async () => {
    expect(await token('basic')).to.be.a('string')
    expect((await rate('', await token('post'))).status).to.equal(200)
    const refused = await fetch(services.authorizationServer.tokenUrl, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'kogito-app-post', client_secret: 'wrong' }) })
    expect(refused.status).to.equal(401)
    expect(await refused.json()).to.include({ error: 'invalid_client' })
  })

  it('tells exactly the documented rates', async () => {
    const bearer = await token()
    const rows: readonly (readonly [query: string, rate: number])[] = [
      ['?currencyFrom=EUR&currencyTo=USD&exchangeDate=2022-06-10', 1.0578], ['?currencyFrom=USD&currencyTo=CAD', 1.2747211193042163], ['?currencyFrom=CAD&currencyTo=USD', 0.7844853159299912],
      ['?currencyFrom=EUR&currencyTo=MXN', 1], ['?currencyFrom=MXN&currencyTo=EUR', 1], ['', 1], ['?currencyFrom=toString&currencyTo=EUR', 1],
    ]
    for (const [query, expected] of rows) expect(await rate(query, bearer), query).to.deep.equal({ status: 200, body: { rate: expected } })
    expect(exchangeRate('EUR', 'JPY')).to.equal(141.69)
    expect(exchangeRate('__proto__', 'EUR')).to.equal(1)
  })

  it('refuses calls without a valid token, other addresses and methods, with code and message', async () => {
    for (const bearer of [undefined, 'made-up', 'a b']) {
      const { status, body } = await rate('', bearer)
      expect(status).to.equal(401)
      expect(body).to.deep.equal({ code: 401, message: 'A valid token is needed' })
    }
    expect((await fetch(`${services.acme.url}/other`)).status).to.equal(404)
    expect((await fetch(`${services.acme.url}${PATH}`, { method: 'POST' })).status).to.equal(405)
  })

  it('answers its own failures with 500 and code and message', async () => {
    const alone = await startDevServices()
    const { tokenUrl } = alone.authorizationServer
    const response = await fetch(tokenUrl, { method: 'POST', headers: { Authorization: `Basic ${Buffer.from('kogito-app:secret').toString('base64')}` }, body: new URLSearchParams({ grant_type: 'client_credentials' }) })
    const { access_token: bearer } = (await response.json()) as { access_token: string }
    const { startAcme } = await import('../../../lib/dev-services/acme.ts')
    const acme = await startAcme({ clock: createSystemClock(), log: silentLogger, introspection: { url: 'http://127.0.0.1:9/', clientId: 'a', clientSecret: 'b' } })
    const failed = await fetch(`${acme.url}${PATH}`, { headers: { Authorization: `Bearer ${bearer}` } })
    expect(failed.status).to.equal(500)
    expect(await failed.json()).to.deep.equal({ code: 1, message: 'The exchange rate cannot be told now' })
    await Promise.all([acme.close(), alone.close()])
  })

  it('says which port is taken', async () => {
    const port = Number(new URL(services.acme.url).port)
    let caught: unknown
    try { await startDevServices({ acmePort: port }) } catch (error) { caught = error }
    expect(caught).to.be.instanceOf(HostError)
    expect((caught as Error).message).to.contain(`port ${String(port)} (EADDRINUSE)`).and.to.contain('sonatina.dev-services.enabled=false')
  })

  describe('with our own client', () => {
    let clients: HttpClients
    let authorizer: Authorizer
    afterEach(async () => { authorizer.close(); await clients.close() })

    // The settings of SonataFlow's example with the ports of this test.
    const PROPERTIES = `quarkus.rest-client.acme_financial_service_yml.url=ACME
quarkus.oidc-client.acme_financial_oauth.discovery-enabled=false
quarkus.oidc-client.acme_financial_oauth.auth-server-url=SERVER/auth/realms/kogito/protocol/openid-connect/auth
quarkus.oidc-client.acme_financial_oauth.token-path=SERVER/auth/realms/kogito/protocol/openid-connect/token
quarkus.oidc-client.acme_financial_oauth.client-id=kogito-app
quarkus.oidc-client.acme_financial_oauth.grant.type=client
quarkus.oidc-client.acme_financial_oauth.credentials.client-secret.method=basic
quarkus.oidc-client.acme_financial_oauth.credentials.client-secret.value=marked-dev`

    for (const spelling of ['quarkus', 'sonatina']) {
      it(`serves a thousand calls on one token, with ${spelling}.* settings`, async () => {
        const text = PROPERTIES.replaceAll('quarkus', spelling).replaceAll('SERVER', services.authorizationServer.url).replace('ACME', services.acme.url)
        const settings = await read({ 'application.properties': text })
        clients = createHttpClients({ settings, clock: createSystemClock(), log: silentLogger })
        authorizer = createAuthorizer({ settings, clients, clock: createSystemClock(), ids: createRandomIdSource(), log: silentLogger })
        const authorization = authorizer.compile(acmeSecurity(''))
        const tokens = new Set(await Promise.all(Array.from({ length: 1000 }, () => tokenOf(authorization))))
        expect(tokens).to.have.property('size', 1)
        const [bearer] = tokens
        const { body, status } = await clients.forDocument('acme_financial_service_yml').request({
          method: 'GET', url: `${settings.text('sonatina.rest-client.acme_financial_service_yml.url') ?? ''}${PATH}?currencyFrom=EUR&currencyTo=USD`, headers: { Authorization: `Bearer ${bearer ?? ''}` },
        })
        expect(status).to.equal(200)
        expect(JSON.parse(Buffer.from(body).toString())).to.deep.equal({ rate: 1.0578 })
      })
    }
  })
})
