import { inspect as show } from 'node:util'
import { expect } from 'chai'
import { CATALOGUE, Secret } from '../../../lib/configuration/index.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { checkValue } from '../../../lib/configuration/convert.ts'
import { normaliseKey } from '../../../lib/configuration/catalogue/match.ts'
import { read } from './support.ts'

describe('Settings', () => {
  it('words what is missing as configuration.md §5 does', async () => {
    const settings = await read({ 'application.properties': '\n\n\nsonatina.oidc-client.acme_finacial_oauth.client-id=x' })
    expect(settings.describeMissing(['sonatina.oidc-client.acme_financial_oauth.client-id', 'sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value'])).to.equal(
      `Missing: sonatina.oidc-client.acme_financial_oauth.client-id                           or SONATINA_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CLIENT_ID
         sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value     or SONATINA_OIDC_CLIENT_ACME_FINANCIAL_OAUTH_CREDENTIALS_CLIENT_SECRET_VALUE
Looked in: environment, .env, application.properties (profile prod). Similar key found: sonatina.oidc-client.acme_finacial_oauth.client-id (application.properties:4)`,
    )
    expect((await read({})).describeMissing(['sonatina.service.url'])).to.equal(
      'Missing: sonatina.service.url     or SONATINA_SERVICE_URL\nLooked in: environment, .env, application.properties (profile prod).',
    )
  })

  it('shows a secret to nobody but the one who asks', async () => {
    const settings = await read({ 'application.properties': 'sonatina.oidc-client.a.credentials.secret=marked-1\nsonatina.functions.f.api_key=marked-2\nquarkus.security.users.embedded.users.joe=marked-3\nsonatina.security.api-key.keys.k=marked-4' }, { environment: { SONATINA_OIDC_CLIENT_A_CREDENTIALS_SECRET: 'marked-5' } })
    const secret = settings.secret('sonatina.oidc-client.a.credentials.secret')
    expect(secret?.reveal()).to.equal('marked-5')
    const texts = [String(secret), JSON.stringify({ secret }), show({ secret }), ''.concat(String(secret)), JSON.stringify(settings.describe()), show(settings, { depth: 2 })]
    for (const key of ['sonatina.oidc-client.a.credentials.secret', 'sonatina.functions.f.api_key', 'sonatina.security.users.embedded.users.joe', 'sonatina.security.api-key.keys.k']) {
      texts.push(...settings.explain(key))
      expect(() => settings.text(key)).to.throw(ConfigurationError)
      try { settings.number(key) } catch (error) { texts.push((error as Error).message) }
    }
    expect(texts.slice(0, 5).join('\n') + texts.slice(6).join('\n')).not.to.contain('marked')
    expect(new Secret('x').toJSON()).to.equal('***')
  })

  it('tells origin and overridden values', async () => {
    const settings = await read({ 'application.properties': 'quarkus.http.port=1\n', 'config/application.yml': 'sonatina:\n  http:\n    port: 2\n' }, { environment: { SONATINA_HTTP_PORT: '3' } })
    expect(settings.origin('quarkus.http.port')).to.deep.equal({ source: 'environment', spelling: 'SONATINA_HTTP_PORT' })
    expect(settings.describe().find(({ key }) => key === 'sonatina.http.port')).to.deep.equal({
      key: 'sonatina.http.port', value: '3', source: 'environment', spelling: 'SONATINA_HTTP_PORT',
      overridden: [
        { source: 'config/application.yml', line: 3, spelling: 'sonatina.http.port', value: '2' },
        { source: 'application.properties', line: 1, spelling: 'quarkus.http.port', value: '1' },
      ],
    })
    expect(settings.origin('sonatina.http.host')).to.deep.equal({ source: 'default', spelling: 'sonatina.http.host' })
    expect(settings.origin('no.such')).to.equal(undefined)
  })

  it('explains where a key was looked for', async () => {
    const settings = await read({ 'application.properties': 'quarkus.http.port=1\n' })
    expect(settings.explain('sonatina.http.port')).to.deep.equal([
      'environment: not set (SONATINA_HTTP_PORT, QUARKUS_HTTP_PORT)',
      '.env: not set (SONATINA_HTTP_PORT, QUARKUS_HTTP_PORT)',
      'application.properties:1: quarkus.http.port = 1',
      'default: 8080',
    ])
    expect(settings.explain('no.such').at(-1)).to.contain('not one of Sonatina')
  })

  describe('$SECRET', () => {
    const text = 'my.password=a\nother=b\nsonatina.oidc-client.x.client-id=c\nquarkus.oidc-client.x.credentials.secret=d\nquarkus.security.users.embedded.users.joe=e\nsonatina.service.url=http://f'
    it('reads nothing in profile spec unless allowed', async () => {
      const closed = await read({ 'application.properties': `sonatina.profile=spec\n${text}` })
      expect(closed.expressionSecret('my.password')).to.equal(undefined)
      const open = await read({ 'application.properties': `sonatina.profile=spec\nsonatina.secrets.allow=my.*,other\n${text}` })
      expect(open.expressionSecret('my.password')).to.equal('a')
      expect(open.expressionSecret('other')).to.equal('b')
      expect(open.expressionSecret('sonatina.service.url')).to.equal(undefined)
    })
    it('reads all but clients, schemes and access in profile sonataflow', async () => {
      const settings = await read({ 'application.properties': text })
      expect(settings.expressionSecret('my.password')).to.equal('a')
      expect(settings.expressionSecret('sonatina.service.url')).to.equal('http://f')
      for (const key of ['sonatina.oidc-client.x.client-id', 'quarkus.oidc-client.x.credentials.secret', 'quarkus.security.users.embedded.users.joe', 'no.such']) expect(settings.expressionSecret(key)).to.equal(undefined)
    })
  })

  describe('catalogue', () => {
    const settings = CATALOGUE.flatMap((section) => section.settings)
    it('has each key and alias once, ends descriptions with a full stop, and has defaults of the stated type', () => {
      const keys = settings.flatMap(({ key, aliases }) => [key, ...aliases])
      expect(keys.filter((key, index) => keys.indexOf(key) !== index)).to.deep.equal([])
      for (const each of settings) {
        expect(each.description, each.key).to.match(/[.]$/)
        if (typeof each.default === 'string') expect(checkValue(each, each.default), each.key).to.equal(undefined)
        if (typeof each.default === 'function') expect(each.defaultText, each.key).to.be.a('string')
      }
    })
    it('finds every key and alias again, with names in place of the angle brackets', () => {
      for (const each of settings) {
        for (const pattern of [each.key, ...each.aliases]) {
          const key = pattern.replaceAll('<direction>', 'incoming').replace(/<[\w-]+>/g, 'zz')
          expect(normaliseKey(key).definition?.key, key).to.equal(each.key)
        }
      }
    })
  })
})
