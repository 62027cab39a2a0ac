import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Authorization } from '../../../lib/auth/index.ts'
import { AWKWARD_SECRET, EXCHANGE, JWT_BEARER, startOAuthServer, type OAuthServer } from '../../support/oauth-server.ts'
import { acmeSecurity, apply, authFailure, createBench, tokenOf, type Bench } from './support.ts'

const CLIENT = 'sonatina.oidc-client.acme_financial_oauth'

// Against a real authorization server (oidc-provider).
describe('auth against a real authorization server', () => {
  let server: OAuthServer
  let directory: string
  const benches: Bench[] = []
  before(async () => {
    server = await startOAuthServer()
    directory = await mkdtemp(join(tmpdir(), 'sonatina-auth-'))
    await mkdir(join(directory, 'ring'))
    await writeFile(join(directory, 'client'), 'marked-client-secret\n')
    await writeFile(join(directory, 'ring', 'k'), AWKWARD_SECRET)
    await writeFile(join(directory, 'key.pem'), server.privateKey)
  })
  after(async () => {
    await server.close()
    await rm(directory, { recursive: true })
  })
  afterEach(async () => {
    await Promise.all(benches.splice(0).map((bench) => bench.close()))
    server.requests.length = 0
  })

  async function authorize(lines: readonly string[], options: Parameters<typeof createBench>[1] = {}): Promise<Authorization> {
    const bench = await createBench(lines.map((line) => `${CLIENT}.${line}`).join('\n'), options)
    benches.push(bench)
    const authorization = bench.authorizer.compile(acmeSecurity(server.tokenUrl))
    if (!authorization) throw new Error('nothing to authorize')
    return authorization
  }

  const authentications: readonly (readonly [name: string, lines: () => readonly string[], clientId: string])[] = [
    ['basic', () => ['client-id=app', 'credentials.client-secret.value=marked-client-secret'], 'app'],
    ['basic, short form', () => ['client-id=app', 'credentials.secret=marked-client-secret'], 'app'],
    ['post', () => ['client-id=app-post', 'credentials.client-secret.value=marked-client-secret', 'credentials.client-secret.method=post'], 'app-post'],
    ['basic with a secret that needs encoding', () => ['client-id=awkward', 'credentials.secret=a b:c%+/'], 'awkward'],
    ['post_jwt', () => ['client-id=by-secret', `credentials.client-secret.value=${'x'.repeat(40)}`, 'credentials.client-secret.method=post_jwt'], 'by-secret'],
    ['jwt with a secret of its own', () => ['client-id=by-secret', `credentials.jwt.secret=${'x'.repeat(40)}`], 'by-secret'],
    ['jwt with a key file', () => ['client-id=by-key', `credentials.jwt.key-file=${join(directory, 'key.pem')}`], 'by-key'],
    ['jwt with a key in the settings', () => ['client-id=by-key', `credentials.jwt.key=${server.privateKey.replace(/-----[^-]+-----|\n/g, '')}`, 'credentials.jwt.signature-algorithm=ES256', 'credentials.jwt.claims.extra=1'], 'by-key'],
    ['a reference', () => ['client-id=app', 'credentials.secret=${MY_SECRET}'], 'app'],
    ['a file provider', () => ['client-id=app', 'credentials.client-secret.provider.name=files', 'credentials.client-secret.provider.key=client'], 'app'],
    ['a file provider with a keyring', () => ['client-id=awkward', 'credentials.client-secret.provider.name=files', 'credentials.client-secret.provider.keyring-name=ring', 'credentials.client-secret.provider.key=k'], 'awkward'],
    ['a provider of the host', () => ['client-id=app', 'credentials.client-secret.provider.name=vault', 'credentials.client-secret.provider.key=k'], 'app'],
  ]
  for (const [name, lines, clientId] of authentications) {
    it(`gets a token by ${name}`, async () => {
      const authorization = await authorize(lines(), {
        settings: { environment: { MY_SECRET: 'marked-client-secret', SONATINA_CREDENTIALS_PROVIDER_FILES_DIRECTORY: directory } },
        credentialsProviders: { vault: (_keyring, key) => (key === 'k' ? 'marked-client-secret' : undefined) },
      })
      expect(await server.describe(await tokenOf(authorization))).to.deep.equal({ clientId, grant: 'client_credentials' })
      expect(server.requests).to.deep.equal(['client_credentials'])
    })
  }

  it('gets a token with environment variables alone', async () => {
    const bench = await createBench('', { settings: { environment: { QUARKUS_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CLIENT_ID: 'app', SONATINA_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CREDENTIALS_CLIENT_SECRET_VALUE: 'marked-client-secret' } } })
    benches.push(bench)
    expect((await server.describe(await tokenOf(bench.authorizer.compile(acmeSecurity(server.tokenUrl)))))?.clientId).to.equal('app')
  })

  const ALL = ['client-id=all', 'credentials.secret=marked-client-secret']
  it('gets a token with scopes', async () => {
    expect((await server.describe(await tokenOf(await authorize([...ALL, 'scopes=read,write']))))?.scope).to.equal('read write')
  })

  it('gets a token by password, and renews it with the refresh token', async () => {
    const authorization = await authorize([...ALL, 'grant.type=password', 'grant-options.password.username=joe', 'grant-options.password.password=marked-user-password'])
    const first = await apply(authorization)
    expect(await server.describe(await tokenOf(authorization))).to.include({ user: 'joe', grant: 'password' })
    const repeated = await apply(authorization)
    expect(authorization.renew(first)).to.equal(false)
    expect(authorization.renew(repeated)).to.equal(true)
    await authorization.apply(repeated, { headers: {} })
    expect(repeated.headers['Authorization']).not.to.equal(first.headers['Authorization'])
    expect(await server.describe(await tokenOf(authorization))).to.include({ user: 'joe' })
    expect(server.requests).to.deep.equal(['password', 'refresh_token'])
  })

  it('trades a configured refresh token', async () => {
    const issued = await fetch(server.tokenUrl, { method: 'POST', headers: { Authorization: `Basic ${Buffer.from('all:marked-client-secret').toString('base64')}` }, body: new URLSearchParams({ grant_type: 'password', username: 'joe', password: 'marked-user-password' }) })
    const { refresh_token: refresh } = (await issued.json()) as { refresh_token: string }
    const authorization = await authorize([...ALL, 'grant.type=refresh', `grant-options.refresh.refresh_token=${refresh}`])
    expect(await server.describe(await tokenOf(authorization))).to.include({ user: 'joe' })
  })

  it('exchanges the token of each caller, once for each', async () => {
    const authorization = await authorize([...ALL, 'grant.type=exchange'])
    const [ann, bob] = [await server.issueUserToken('ann'), await server.issueUserToken('bob')]
    const tokens = [await tokenOf(authorization, { authorization: `Bearer ${ann}` }), await tokenOf(authorization, { authorization: bob }), await tokenOf(authorization, { authorization: `Bearer ${ann}` })]
    expect((await Promise.all(tokens.map((token) => server.describe(token)))).map((found) => found?.user)).to.deep.equal(['ann', 'bob', 'ann'])
    expect(tokens[0]).to.equal(tokens[2])
    expect(server.requests).to.deep.equal([EXCHANGE, EXCHANGE])
    expect((await authFailure(apply(authorization))).message).to.contain('"Authorization"').and.to.contain('sonatina.persistence.headers.enabled=true')
    expect((await authFailure(apply(authorization, { authorization: 'Bearer stale' }))).details).to.include({ error: 'invalid_grant' })
  })

  it('trades an assertion (grant jwt)', async () => {
    const authorization = await authorize([...ALL, 'grant.type=jwt', 'grant-options.jwt.assertion=marked-assertion'])
    expect(await server.describe(await tokenOf(authorization))).to.include({ user: 'asserted' })
    expect(server.requests).to.deep.equal([JWT_BEARER])
  })

  it('finds the token address by discovery', async () => {
    const bench = await createBench([...ALL, `auth-server-url=${server.url}/`].map((line) => `${CLIENT}.${line}`).join('\n'))
    benches.push(bench)
    const authorization = bench.authorizer.compile(acmeSecurity('http://127.0.0.1:9/wrong'))
    expect((await server.describe(await tokenOf(authorization)))?.clientId).to.equal('all')
    const byDocument = bench.authorizer.compile(acmeSecurity('', { security: [{ other: [] }], schemes: { other: { type: 'openIdConnect', openIdConnectUrl: `${server.url}/.well-known/openid-configuration` } } }))
    expect((await authFailure(apply(byDocument))).message).to.contain('has no OAuth 2.0 client')
    const second = await createBench(ALL.map((line) => `sonatina.oidc-client.other.${line}`).join('\n'))
    benches.push(second)
    expect((await server.describe(await tokenOf(second.authorizer.compile(acmeSecurity('', { security: [{ other: [] }], schemes: { other: { type: 'openIdConnect', openIdConnectUrl: `${server.url}/.well-known/openid-configuration` } } })))))?.clientId).to.equal('all')
  })

  it('words what the server refuses, and remembers a refused client for a second', async () => {
    const authorization = await authorize(['client-id=app', 'credentials.secret=wrong'])
    const failures = [await authFailure(apply(authorization)), await authFailure(apply(authorization))]
    expect(failures[0]?.message).to.equal('No token for "acme_financial_oauth": the authorization server answered invalid_client: client authentication failed')
    expect(failures[1]).to.equal(failures[0])
    expect(failures[0]?.retryable).to.equal(false)
  })

  it('uses the same for auth definitions of a workflow', async () => {
    const bench = await createBench('')
    benches.push(bench)
    const secrets: Record<string, unknown> = { '${ $SECRETS.ID }': 'all', '${ $SECRETS.PW }': 'marked-client-secret', '${ $SECRETS.ALL }': { username: 'u', password: 'p' } }
    const evaluate = (text: string): unknown => secrets[text] ?? text
    const oauth = (properties: object): Authorization => bench.authorizer.compileDefinition({ name: 'a', scheme: 'oauth2', properties: { clientId: '${ $SECRETS.ID }', clientSecret: '${ $SECRETS.PW }', ...properties } }, evaluate)
    expect(await server.describe(await tokenOf(oauth({ authority: server.url, grantType: 'clientCredentials', scopes: ['read'] })))).to.deep.equal({ clientId: 'all', grant: 'client_credentials', scope: 'read' })
    expect(await server.describe(await tokenOf(oauth({ grantType: 'password', username: 'joe', password: 'marked-user-password', metadata: { tokenURL: server.tokenUrl } })))).to.include({ user: 'joe' })
    expect(await server.describe(await tokenOf(oauth({ grantType: 'tokenExchange', subjectToken: await server.issueUserToken('ann'), authority: server.url })))).to.include({ user: 'ann' })
    const cached = oauth({ authority: server.url, grantType: 'clientCredentials' })
    expect(await tokenOf(cached)).to.equal(await tokenOf(cached))
    expect((await apply(bench.authorizer.compileDefinition({ name: 'b', scheme: 'basic', properties: '${ $SECRETS.ALL }' }, evaluate))).headers['Authorization']).to.equal(`Basic ${Buffer.from('u:p').toString('base64')}`)
    expect((await apply(bench.authorizer.compileDefinition({ name: 'b', scheme: 'bearer', properties: { token: 't' } }, evaluate))).headers['Authorization']).to.equal('Bearer t')
    expect((await authFailure(apply(bench.authorizer.compileDefinition({ name: 'b', scheme: 'bearer', properties: {} }, evaluate)))).message).to.contain('has no "token"')
    expect((await authFailure(apply(bench.authorizer.compileDefinition({ name: 'b', scheme: 'basic', properties: '${ $SECRETS.NONE }' }, evaluate)))).message).to.contain('names a secret')
  })

  it('leaves no secret in any log line, at TRACE', async () => {
    const bench = await createBench([...ALL, 'grant.type=password', 'grant-options.password.username=joe', 'grant-options.password.password=marked-user-password', 'headers.X-Vault-Token=marked-header'].map((line) => `${CLIENT}.${line}`).join('\n'))
    benches.push(bench)
    const authorization = bench.authorizer.compile(acmeSecurity(server.tokenUrl))
    const token = await tokenOf(authorization)
    await bench.clients.forDocument('acme').request({ method: 'GET', url: `${server.url}/me`, headers: (await apply(authorization)).headers })
    expect(bench.lines.length).to.be.greaterThan(1)
    for (const secret of ['marked', token, Buffer.from('all:marked-client-secret').toString('base64')]) expect(bench.lines.join('')).not.to.contain(secret)
  })
})
