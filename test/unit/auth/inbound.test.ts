import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import { createAccessControl, type AccessControl, type Identity, type InboundHeaders } from '../../../lib/auth/index.ts'
import { silentLogger } from '../../../lib/common/index.ts'
import { ConfigurationError, RequestError } from '../../../lib/errors/index.ts'
import { createHttpClient } from '../../../lib/http-client/index.ts'
import { canonicalPath } from '../../../lib/auth/permissions.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { read } from '../configuration/support.ts'
import { json, startStub, type Stub } from '../http-client/stub.ts'

const basic = (user: string, password: string): InboundHeaders => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` })

// The settings of SonataFlow's own tests.
const SOURCE_FILES = `quarkus.security.users.embedded.enabled=true
quarkus.security.users.embedded.plain-text=true
quarkus.security.users.embedded.users.scott=jb0ss
quarkus.security.users.embedded.roles.scott=source-files-client
quarkus.security.users.embedded.users.helber=k0g1t0
quarkus.security.users.embedded.roles.helber=any-role
quarkus.http.auth.policy.source-files-addon-policy.roles-allowed=source-files-client
quarkus.http.auth.permission.source-files-addon.paths=/sources/*,/management/processes/*
quarkus.http.auth.permission.source-files-addon.policy=source-files-addon-policy`

describe('auth/inbound', () => {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const http = createHttpClient({ name: 'keys', clock })
  after(() => http.close())

  async function control(properties: string): Promise<AccessControl> {
    return createAccessControl({ settings: await read({ 'application.properties': properties }), httpClient: http, clock, log: silentLogger })
  }
  async function outcome(access: AccessControl, path: string, headers: InboundHeaders = {}, method = 'GET'): Promise<Identity | string | undefined> {
    try {
      return await access.authorize({ method, path, headers })
    } catch (error) {
      expect(error).to.be.instanceOf(RequestError)
      return (error as RequestError).code
    }
  }

  it('checks nothing without settings', async () => {
    expect((await control('')).active).to.equal(false)
    expect(await outcome(await control(''), '/x')).to.equal(undefined)
  })

  it('lets users in by role, as the tests of SonataFlow do', async () => {
    const access = await control(SOURCE_FILES)
    expect(await outcome(access, '/management/processes/a/sources', basic('scott', 'jb0ss'))).to.deep.equal({ name: 'scott', roles: ['source-files-client'], scheme: 'basic' })
    expect(await outcome(access, '/management/processes', basic('helber', 'k0g1t0'))).to.equal('FORBIDDEN')
    expect(await outcome(access, '/sources/x', basic('scott', 'wrong'))).to.equal('UNAUTHENTICATED')
    expect(await outcome(access, '/sources/x', basic('nobody', 'jb0ss'))).to.equal('UNAUTHENTICATED')
    expect(await outcome(access, '/sources/x')).to.equal('UNAUTHENTICATED')
    expect(await outcome(access, '/other')).to.equal(undefined)
  })

  it('challenges with what it accepts', async () => {
    const access = await control(`${SOURCE_FILES}\nsonatina.oidc.auth-server-url=http://127.0.0.1:9`)
    try {
      await access.authorize({ method: 'GET', path: '/sources/x', headers: {} })
      expect.fail('it was let through')
    } catch (error) {
      expect((error as RequestError).details).to.deep.equal({ challenge: 'Bearer, Basic realm="sonatina", charset="UTF-8"' })
    }
  })

  it('checks digests of passwords, and refuses a header that is not Basic', async () => {
    const md5 = createHash('md5').update('joe:Quarkus:pw').digest('hex')
    const sha = createHash('sha256').update('ann:Quarkus:pw').digest('hex')
    const access = await control(`quarkus.security.users.embedded.enabled=true\nquarkus.security.users.embedded.users.joe=${md5}\nsonatina.security.users.embedded.users.ann=sha256:${sha.toUpperCase()}\nquarkus.http.auth.permission.p.paths=/*\nquarkus.http.auth.permission.p.policy=authenticated`)
    expect(await outcome(access, '/x', basic('joe', 'pw'))).to.include({ name: 'joe' })
    expect(await outcome(access, '/x', basic('ann', 'pw'))).to.include({ name: 'ann' })
    for (const headers of [basic('joe', md5), basic('ann', 'x'), { authorization: 'Basic !!!' }, { authorization: `Basic ${Buffer.from('nocolon').toString('base64')}` }, { authorization: ['a', 'b'] }]) {
      expect(await outcome(access, '/x', headers)).to.equal('UNAUTHENTICATED')
    }
  })

  it('checks API keys', async () => {
    const access = await control('sonatina.security.api-key.keys.robot=marked-key\nsonatina.security.api-key.roles.robot=r\nsonatina.http.auth.permission.p.paths=/*\nsonatina.http.auth.permission.p.policy=authenticated')
    expect(await outcome(access, '/x', { 'x-api-key': 'marked-key' })).to.deep.equal({ name: 'robot', roles: ['r'], scheme: 'api-key' })
    expect(await outcome(access, '/x', { 'x-api-key': 'other' })).to.equal('UNAUTHENTICATED')
  })

  describe('permissions', () => {
    const TABLE = [
      'all.paths=/*', 'all.policy=authenticated',
      'open.paths=/public/*,/health', 'open.policy=permit',
      'shut.paths=/public/secret', 'shut.policy=deny',
      'get.paths=/mixed', 'get.policy=permit', 'get.methods=GET,head',
      'post.paths=/mixed', 'post.policy=admin', 'post.methods=POST',
      'off.paths=/off', 'off.policy=deny', 'off.enabled=false',
      'relative.paths=things/*', 'relative.policy=permit',
    ].map((line) => `sonatina.http.auth.permission.${line}`).join('\n') + '\nsonatina.http.auth.policy.admin.roles-allowed=admin\nsonatina.http.root-path=/api\nsonatina.security.api-key.keys.joe=k'

    const rows: readonly (readonly [method: string, path: string, anonymous: string | undefined, known: string | undefined])[] = [
      ['GET', '/anything', 'UNAUTHENTICATED', undefined],
      ['GET', '/public/x', undefined, undefined],
      ['GET', '/public', undefined, undefined],
      ['GET', '/publicity', 'UNAUTHENTICATED', undefined],
      ['GET', '/public/secret', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/public//secret/', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/public/%73ecret', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/public/x/../secret', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/public/secret;a=b?c', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/x/../health', undefined, undefined],
      ['GET', '/mixed', undefined, undefined],
      ['HEAD', '/mixed', undefined, undefined],
      ['POST', '/mixed', 'UNAUTHENTICATED', 'FORBIDDEN'],
      ['DELETE', '/mixed', 'FORBIDDEN', 'FORBIDDEN'],
      ['GET', '/off', 'UNAUTHENTICATED', undefined],
      ['GET', '/api/things/1', undefined, undefined],
      ['GET', '/%zz', 'REQUEST_INVALID', 'REQUEST_INVALID'],
    ]
    for (const [method, path, anonymous, known] of rows) {
      it(`${method} ${path}: ${anonymous ?? 'passes'} without, ${known ?? 'passes'} with a caller`, async () => {
        const access = await control(TABLE)
        expect(await outcome(access, path, {}, method)).to.equal(anonymous)
        const found = await outcome(access, path, { 'x-api-key': 'k' }, method)
        expect(typeof found === 'string' ? found : undefined).to.equal(known)
      })
    }

    it('stop the start when they cannot be understood', async () => {
      const faults: readonly (readonly [string, RegExp])[] = [
        ['sonatina.http.auth.permission.a.policy=deny', /"a" is incomplete/],
        ['sonatina.http.auth.permission.a.paths=/x', /"a" is incomplete/],
        ['sonatina.http.auth.permission.a.paths=/x\nsonatina.http.auth.permission.a.policy=nosuch', /policy "nosuch"/],
        ['sonatina.http.auth.permission.a.paths=/x*\nsonatina.http.auth.permission.a.policy=deny', /"\/x\*" of a permission is not supported/],
        ['sonatina.http.auth.permission.a.paths=/x/*/y\nsonatina.http.auth.permission.a.policy=deny', /not supported/],
        ['quarkus.http.auth.basic=true', /no users are known/],
        ['sonatina.oidc.auth-server-url=http://x\nsonatina.oidc.token.signature-algorithms=none,RS256', /none cannot be accepted/],
        ['sonatina.oidc.auth-server-url=http://x\nsonatina.oidc.token.signature-algorithms=HS256', /HS256 cannot be accepted/],
        ['sonatina.oidc.auth-server-url=http://x\nsonatina.oidc.discovery-enabled=false', /jwks-path/],
      ]
      for (const [properties, message] of faults) {
        let caught: unknown
        try { await control(properties) } catch (error) { caught = error }
        expect(caught, properties).to.be.instanceOf(ConfigurationError)
        expect((caught as Error).message).to.match(message)
      }
    })

    it('never let a spelling of a shut path through (property)', async () => {
      const access = await control('sonatina.http.auth.permission.a.paths=/shut/*\nsonatina.http.auth.permission.a.policy=deny')
      const spelt = fc.tuple(fc.array(fc.constantFrom('/', '/./', '//', '/x/../'), { minLength: 1, maxLength: 4 }), fc.constantFrom('shut', '%73hut', 'sh%75t', 'shut;p=1'), fc.webPath())
      await fc.assert(fc.asyncProperty(spelt, async ([lead, name, rest]) => {
        const path = `${lead.join('')}${name}${rest === '' ? '' : `/${rest.replaceAll('..', '')}`}`
        expect(await outcome(access, path), `${path} is ${canonicalPath(path) ?? ''}`).to.be.oneOf(['FORBIDDEN', 'REQUEST_INVALID'])
      }))
    })
  })

  describe('bearer tokens', () => {
    let server: Stub
    let keys: { rsa: CryptoKey; ec: CryptoKey; stranger: CryptoKey }
    let published: unknown[]
    before(async () => {
      const [rsa, ec, stranger] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('ES256'), generateKeyPair('RS256')])
      keys = { rsa: rsa.privateKey, ec: ec.privateKey, stranger: stranger.privateKey }
      published = [{ ...(await exportJWK(rsa.publicKey)), kid: 'r', alg: 'RS256' }, { ...(await exportJWK(ec.publicKey)), kid: 'e', alg: 'ES256' }]
      server = await startStub((request, response) => {
        if (request.url === '/.well-known/openid-configuration') json(response, 200, { issuer: 'https://issuer.example', jwks_uri: `${server.url}/keys` })
        else json(response, 200, { keys: published })
      })
    })
    after(() => server.close())

    const PERMISSION = '\nsonatina.http.auth.permission.p.paths=/*\nsonatina.http.auth.permission.p.policy=authenticated'
    function sign(claims: Record<string, unknown> = {}, options: { readonly kid?: string; readonly alg?: string; readonly key?: CryptoKey | Uint8Array; readonly issuer?: string; readonly life?: number } = {}): Promise<string> {
      const now = Math.floor(clock.now() / 1000)
      return new SignJWT({ sub: 'joe', ...claims }).setProtectedHeader({ alg: options.alg ?? 'RS256', kid: options.kid ?? 'r' })
        .setIssuer(options.issuer ?? 'https://issuer.example').setIssuedAt(now).setExpirationTime(now + (options.life ?? 60)).sign(options.key ?? keys.rsa)
    }
    async function check(properties: string, token: string): Promise<Identity | string | undefined> {
      return outcome(await control(`sonatina.oidc.auth-server-url=${server.url}${PERMISSION}\n${properties}`), '/x', { authorization: `Bearer ${token}` })
    }

    it('are accepted with signature, issuer and expiry, and give name and roles', async () => {
      expect(await check('', await sign({ preferred_username: 'Joe', groups: ['a'], realm_access: { roles: ['b', 'a'] } }))).to.deep.equal({ name: 'Joe', roles: ['a', 'b'], scheme: 'bearer' })
      expect(await check('', await sign({}, { alg: 'ES256', kid: 'e', key: keys.ec }))).to.deep.equal({ name: 'joe', roles: [], scheme: 'bearer' })
      expect(await check('sonatina.oidc.roles.role-claim-path=x/y\nsonatina.oidc.token.principal-claim=mail', await sign({ mail: 'm', x: { y: 'r1 r2' } }))).to.deep.equal({ name: 'm', roles: ['r1', 'r2'], scheme: 'bearer' })
      expect(await check(`sonatina.oidc.discovery-enabled=false\nsonatina.oidc.jwks-path=/keys\nsonatina.oidc.token.issuer=any`, await sign({}, { issuer: 'x' }))).to.include({ name: 'joe' })
      expect(await check('sonatina.oidc.token.audience=me,you', await sign({ aud: ['you'] }))).to.include({ name: 'joe' })
      expect(await check('sonatina.oidc.token.lifespan-grace=10', await sign({}, { life: -5 }))).to.include({ name: 'joe' })
    })

    it('are refused otherwise', async () => {
      const good = await sign()
      const [head, payload, signature] = good.split('.') as [string, string, string]
      const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
      const refused: readonly (readonly [name: string, properties: string, token: string])[] = [
        ['expired', '', await sign({}, { life: -1 })],
        ['another issuer', '', await sign({}, { issuer: 'https://evil.example' })],
        ['another key', '', await sign({}, { key: keys.stranger })],
        ['an unknown key id', '', await sign({}, { kid: 'zzz' })],
        ['alg none', '', none],
        ['alg HS256 with the public key', '', await sign({}, { alg: 'HS256', key: new TextEncoder().encode(JSON.stringify(published[0])) })],
        ['an algorithm off the list', 'sonatina.oidc.token.signature-algorithms=ES256', good],
        ['a missing audience', 'sonatina.oidc.token.audience=me', good],
        ['another audience', 'sonatina.oidc.token.audience=me', await sign({ aud: 'you' })],
        ['no expiry', '', await new SignJWT({ sub: 'joe' }).setProtectedHeader({ alg: 'RS256', kid: 'r' }).setIssuer('https://issuer.example').sign(keys.rsa)],
        ['no name', '', await sign({ sub: undefined })],
        ['not yet valid', '', await sign({ nbf: Math.floor(clock.now() / 1000) + 100 })],
        ['changed payload', '', `${head}.${Buffer.from('{"sub":"root"}').toString('base64url')}.${signature}`],
        ['nonsense', '', 'a.b.c'],
        ['not a JWT', '', 'opaque'],
      ]
      for (const [name, properties, token] of refused) expect(await check(properties, token), name).to.equal('UNAUTHENTICATED')
    })

    it('cannot be checked while the issuer is away: 503, not 401', async () => {
      const access = await control(`sonatina.oidc.auth-server-url=http://127.0.0.1:9${PERMISSION}`)
      expect(await outcome(access, '/x', { authorization: `Bearer ${await sign()}` })).to.equal('NOT_AVAILABLE')
    })
  })
})
