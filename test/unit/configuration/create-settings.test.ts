import { expect } from 'chai'
import fc from 'fast-check'
import { canonicalName, environmentName, fileKey, settingKey, type SettingsOptions } from '../../../lib/configuration/index.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { inspect, read, type Files } from './support.ts'

const KEY = 'sonatina.rest-client.acme_yml.url'
const ALIAS = 'quarkus.rest-client.acme_yml.url'

const SPELLINGS: readonly (readonly [name: string, keys: readonly [string, string]])[] = [
  ['same', [KEY, KEY]],
  ['alias above', [ALIAS, KEY]],
  ['alias below', [KEY, ALIAS]],
]

type Place = (key: string, value: string) => { readonly files?: Files; readonly options?: SettingsOptions }

const file = (path: string): Place => (key, value) => ({ files: { [path]: path.endsWith('yml') ? `"${key}": ${JSON.stringify(value)}\n` : `${key}=${value}\n` } })

// Highest first (configuration.md §1).
const PLACES: readonly (readonly [name: string, place: Place])[] = [
  ['options', (key, value) => ({ options: { settings: { [key]: value } } })],
  ['command line', (key, value) => ({ options: { arguments: [`${key}=${value}`] } })],
  ['environment', (key, value) => ({ options: { environment: { [environmentName(key)]: value } } })],
  ['.env', (key, value) => ({ files: { '.env': `${environmentName(key)}=${value}` } })],
  ['config/application-dev.properties', file('config/application-dev.properties')],
  ['config/application-dev.yml', file('config/application-dev.yml')],
  ['config/application.properties', file('config/application.properties')],
  ['config/application.yml', file('config/application.yml')],
  ['application-dev.properties', file('application-dev.properties')],
  ['application-dev.yml', file('application-dev.yml')],
  ['application.properties', file('application.properties')],
  ['application.yml', file('application.yml')],
]

function combine(...parts: readonly ReturnType<Place>[]): { files: Files; options: SettingsOptions } {
  return {
    files: Object.assign({}, ...parts.map((part) => part.files)) as Files,
    options: Object.assign({ profile: 'dev' }, ...parts.map((part) => part.options)) as SettingsOptions,
  }
}

describe('createSettings', () => {
  describe('precedence', () => {
    for (const [upper, [higher, placeHigher]] of PLACES.entries()) {
      for (const [lower, placeLower] of PLACES.slice(upper + 1)) {
        for (const [spelling, [upperKey, lowerKey]] of SPELLINGS) {
          it(`${higher} beats ${lower} (${spelling})`, async () => {
            const { files, options } = combine(placeLower(lowerKey, 'http://low'), placeHigher(upperKey, 'http://high'))
            const settings = await read(files, options)
            expect(settings.text(KEY)).to.equal('http://high')
            // The names behind variables cannot be listed, so a key that only they set is not in the report.
            if (lower !== '.env') {
              expect(settings.describe().find(({ key }) => key === KEY)?.overridden.map(({ value }) => value)).to.deep.equal(['http://low'])
            }
          })
        }
      }
    }

    for (const [name, place] of PLACES) {
      it(`${name}: a profile entry beats the plain one, sonatina. beats its alias, a profile alias beats the plain key`, async () => {
        const write = (entries: readonly (readonly [string, string])[]) => {
          const parts = entries.map(([key, value]) => place(key, value))
          const files: Record<string, string> = {}
          for (const part of parts) for (const [path, text] of Object.entries(part.files ?? {})) files[path] = `${files[path] ?? ''}${files[path] === undefined ? '' : '\n'}${text}`
          const settings = Object.assign({}, ...parts.map((part) => part.options?.settings)) as Record<string, unknown>
          const environment = Object.assign({}, ...parts.map((part) => part.options?.environment)) as Record<string, string>
          const argumentList = parts.flatMap((part) => part.options?.arguments ?? [])
          return read(files, { profile: 'dev', settings, environment, arguments: argumentList })
        }
        expect((await write([[`%dev.${KEY}`, 'profile'], [KEY, 'plain']])).text(KEY)).to.equal('profile')
        expect((await write([[KEY, 'own'], [ALIAS, 'alias']])).text(KEY)).to.equal('own')
        expect((await write([[`%dev.${ALIAS}`, 'profile alias'], [KEY, 'plain']])).text(KEY)).to.equal('profile alias')
        expect((await write([[`%test.${KEY}`, 'other profile'], [KEY, 'plain']])).text(KEY)).to.equal('plain')
      })
    }

    it('reads src/main/resources only when the root has no settings file', async () => {
      const resources = { 'src/main/resources/application.properties': `${KEY}=http://resources` }
      expect((await read(resources)).text(KEY)).to.equal('http://resources')
      expect((await read({ ...resources, 'application.properties': 'a.b=c' })).has(KEY)).to.equal(false)
    })

    it('takes an empty value as not set', async () => {
      const settings = await read({ 'application.properties': `${KEY}=http://file` }, { environment: { [environmentName(KEY)]: '' } })
      expect(settings.text(KEY)).to.equal('http://file')
      expect((await read({ 'application.properties': `${KEY}=` })).has(KEY)).to.equal(false)
    })
  })

  describe('profiles', () => {
    const choices: readonly (readonly [string, SettingsOptions, Files, readonly string[]])[] = [
      ['prod by default', {}, {}, ['prod']],
      ['the given default', { defaultProfile: 'dev' }, {}, ['dev']],
      ['quarkus.profile of a file', { defaultProfile: 'dev' }, { 'application.properties': 'quarkus.profile=stage' }, ['stage']],
      ['sonatina.config-profile before its alias', {}, { 'application.properties': 'quarkus.profile=a\nsonatina.config-profile=b' }, ['b']],
      ['QUARKUS_PROFILE before files', { environment: { QUARKUS_PROFILE: 'env' } }, { 'application.properties': 'quarkus.profile=stage' }, ['env']],
      ['SONATINA_CONFIG_PROFILE before QUARKUS_PROFILE', { environment: { QUARKUS_PROFILE: 'a', SONATINA_CONFIG_PROFILE: 'b' } }, {}, ['b']],
      ['--profile before all', { profile: 'x,y', environment: { SONATINA_CONFIG_PROFILE: 'b' } }, {}, ['x', 'y']],
    ]
    for (const [name, options, files, profiles] of choices) {
      it(name, async () => { expect((await read(files, options)).profiles).to.deep.equal(profiles) })
    }

    it('lets the later of two profiles win', async () => {
      const text = `%b.${KEY}=b\n%a.${KEY}=a\n%{c,d}.x.y=both\n`
      expect((await read({ 'application.properties': text }, { profile: 'a,b' })).text(KEY)).to.equal('b')
      expect((await read({ 'application.properties': text }, { profile: 'b,a' })).text(KEY)).to.equal('a')
      expect((await read({ 'application.properties': text }, { profile: 'd' })).text('x.y')).to.equal('both')
    })

    it('neither resolves nor reports what stands under an inactive profile', async () => {
      const { settings, errors } = await inspect({ 'application.properties': '%container.quarkus.container-image.group=${USER_THAT_IS_NOT}\n%x.sonatina.http.port=abc\n%x.sonatina.tpyo=1' })
      expect(errors).to.deep.equal([])
      expect(settings.warnings).to.deep.equal([])
    })

    it('reads the language profile off the files of the project', async () => {
      expect((await read({})).languageProfile).to.equal('spec')
      expect((await read({}, { settings: { 'quarkus.http.port': 1 } })).languageProfile).to.equal('spec')
      expect((await read({ 'application.properties': 'kogito.service.url=http://x' })).languageProfile).to.equal('sonataflow')
      expect((await read({ 'application.properties': 'kogito.service.url=http://x\nsonatina.profile=spec' })).languageProfile).to.equal('spec')
      const settings = await read({ 'application.properties': 'quarkus.http.port=1' })
      expect(settings.boolean('sonatina.headers.kogito')).to.equal(true)
    })
  })

  describe('keys of documents and schemes', () => {
    const spellings = ['acme_financial_service_yml', 'acme-financial-service_yml', '"acme-financial-service.yml"', 'acme-financial-service.yml']
    for (const spelling of spellings) {
      it(`finds ${spelling} as a file key`, async () => {
        const settings = await read({ 'application.properties': `quarkus.rest-client.${spelling}.url=http://x\nquarkus.rest-client.${spelling}.headers.X-A=1` })
        expect(settings.text('sonatina.rest-client.acme_financial_service_yml.url')).to.equal('http://x')
        expect(settings.text('sonatina.rest-client.acme-financial-service.yml.uri')).to.equal('http://x')
        expect(settings.segments('sonatina.rest-client')).to.deep.equal(['acme_financial_service_yml'])
        expect(settings.segments('sonatina.rest-client.acme_financial_service_yml.headers')).to.deep.equal(['X-A'])
      })
    }

    for (const spelling of ['acme_financial_oauth', 'acme-financial-oauth', '"acme.financial.oauth"', 'acme.financial-oauth']) {
      it(`finds ${spelling} as a scheme key`, async () => {
        const settings = await read({ 'application.properties': `sonatina.oidc-client.${spelling}.credentials.client-secret.value=s\nsonatina.openapi-generator.a-b.yaml.auth.${spelling}.username=u` })
        expect(settings.secret('sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value')?.reveal()).to.equal('s')
        expect(settings.text('sonatina.openapi-generator.a_b_yaml.auth.acme_financial_oauth.username')).to.equal('u')
      })
    }

    it('stops at two spellings with different values, naming both', async () => {
      const text = 'sonatina.rest-client.a_b.url=http://1\nsonatina.rest-client.a-b.url=http://2'
      const { errors } = await inspect({ 'application.properties': text })
      expect(errors).to.have.length(1)
      expect(errors[0]).to.contain('sonatina.rest-client.a_b.url (application.properties:1)').and.to.contain('sonatina.rest-client.a-b.url (application.properties:2)')
      expect((await inspect({ 'application.properties': text.replace('//2', '//1') })).errors).to.deep.equal([])
    })

    it('finds every key in the environment, whatever the spelling it is asked for in', async () => {
      const settings = await read({}, { environment: { SONATINA_REST_CLIENT_ACME_FINANCIAL_SERVICE_YML_URL: 'http://env', QUARKUS_OIDC_CLIENT_A_CLIENT_ID: 'id', 'QUARKUS_LOG_CATEGORY__ORG_ACME__LEVEL': 'DEBUG' } })
      expect(settings.text('sonatina.rest-client.acme-financial-service.yml.url')).to.equal('http://env')
      expect(settings.text('sonatina.oidc-client.a.client-id')).to.equal('id')
      expect(settings.text(settingKey('sonatina.log.category', 'org.acme') + '.level')).to.equal('DEBUG')
    })

    it('derives the key of a document from the last path segment of its URI', () => {
      expect(fileKey('specs/acme-financial-service.yml')).to.equal('acme_financial_service_yml')
      expect(fileKey('https://h.example/a/b.json?x=1')).to.equal('b_json')
      expect(fileKey('petstore')).to.equal('petstore')
    })

    it('gives the same place for a canonical name and its source (property)', async () => {
      await fc.assert(fc.asyncProperty(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,12}(\.[A-Za-z0-9_-]{1,6})?$/), async (name) => {
        const settings = await read({ 'application.properties': `sonatina.rest-client."${name}".url=http://x` })
        expect(settings.text(`sonatina.rest-client.${canonicalName(name)}.url`)).to.equal('http://x')
        expect(settings.text(settingKey('sonatina.rest-client', name, 'url'))).to.equal('http://x')
      }))
    })
  })

  describe('values', () => {
    it('resolves references: settings, variables, defaults, nesting, literals', async () => {
      const settings = await read({
        'application.properties': 'a=1\nb=${a}2\nc=${nope:${b}3}\nd=\\${a}\ne=${WHO}\nf=${missing:}\ng=http://h:${quarkus.http.port}/${n${a}}\nn1=x\nh=${sonatina.http.port:9}',
      }, { environment: { WHO: 'me' } })
      expect(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((key) => settings.text(key))).to.deep.equal(['1', '12', '123', '${a}', 'me', undefined, 'http://h:8080/x', '8080'])
    })

    it('names the chain of a cycle and a missing name, with key and line', async () => {
      const { errors } = await inspect({ 'application.properties': 'A=${B}\nB=${A}\nsonatina.service.url=${A}\nsonatina.http.host=${X}' })
      expect(errors.join('\n')).to.contain('sonatina.service.url (application.properties:3): the references go round: sonatina.service.url → A → B → A')
      expect(errors.join('\n')).to.contain('sonatina.http.host (application.properties:4): ${X} is not set and has no default')
    })

    it('reads booleans, numbers, durations, sizes and lists', async () => {
      const settings = await read({ 'application.properties': [
        'sonatina.http.cors.enabled=YES', 'sonatina.http.port=0', 'sonatina.http.idle-timeout=PT2M', 'sonatina.rest-client.a.read-timeout=500',
        'sonatina.oidc-client.s.access-token-expiry-skew=7', 'sonatina.http.limits.max-body-size=10240K', 'sonatina.http.cors.origins= a , b\\,c,,d ',
      ].join('\n') })
      expect(settings.boolean('sonatina.http.cors.enabled')).to.equal(true)
      expect(settings.number('sonatina.http.port')).to.equal(0)
      expect(settings.duration('sonatina.http.idle-timeout')).to.equal(120_000)
      expect(settings.duration('sonatina.rest-client.a.read-timeout')).to.equal(500)
      expect(settings.duration('sonatina.oidc-client.s.access-token-expiry-skew')).to.equal(7000)
      expect(settings.size('sonatina.http.limits.max-body-size')).to.equal(10 * 1024 * 1024)
      expect(settings.list('sonatina.http.cors.origins')).to.deep.equal(['a', 'b,c', 'd'])
      expect(settings.boolean('my.own', true)).to.equal(true)
      expect(settings.duration('sonatina.rest-client.other.read-timeout', 1)).to.equal(30_000)
    })

    it('flattens options: nested objects, arrays, numbers', async () => {
      const settings = await read({}, { settings: { sonatina: { http: { port: 1, cors: { origins: ['a', 'b,c'] } } }, 'sonatina.rest-client': { 'x.yml': { url: 'http://x' } } } })
      expect(settings.number('sonatina.http.port')).to.equal(1)
      expect(settings.list('sonatina.http.cors.origins')).to.deep.equal(['a', 'b,c'])
      expect(settings.text('sonatina.rest-client.x_yml.url')).to.equal('http://x')
    })

    it('takes PORT and K_SINK', async () => {
      const settings = await read({}, { environment: { PORT: '9001', K_SINK: 'http://sink' } })
      expect(settings.number('sonatina.http.port')).to.equal(9001)
      expect(settings.text('sonatina.messaging.sink')).to.equal('http://sink')
      expect((await read({}, { environment: { PORT: '9001' }, settings: { 'quarkus.http.port': 1 } })).number('sonatina.http.port')).to.equal(1)
    })
  })

  describe('what stops the start', () => {
    const faults: readonly (readonly [line: string, expected: readonly string[]])[] = [
      ['sonatina.http.cors.enabled=maybe', ['sonatina.http.cors.enabled=maybe (application.properties:1)', 'true or false']],
      ['quarkus.http.port=70000', ['quarkus.http.port=70000 (application.properties:1)', '0 to 65535']],
      ['sonatina.http.idle-timeout=soon', ['application.properties:1', 'duration']],
      ['sonatina.http.limits.max-body-size=big', ['application.properties:1', 'size']],
      ['quarkus.oidc-client.a.grant.type=magic', ['quarkus.oidc-client.a.grant.type=magic (application.properties:1)', 'client, password']],
      ['quarkus.oidc-client.a.grant.type=code', ['quarkus.oidc-client.a.grant.type (application.properties:1)', 'browser']],
      ['quarkus.oidc-client.a.credentials.secret=x\nquarkus.oidc-client.a.credentials.client-secret.value=y', ['application.properties:1', 'application.properties:2', 'both set']],
      ['quarkus.rest-client.a.trust-store=store.jks', ['quarkus.rest-client.a.trust-store (application.properties:1)', 'PKCS12']],
      ['quarkus.rest-client.a.key-store-type=JKS', ['quarkus.rest-client.a.key-store-type (application.properties:1)', 'PKCS12']],
      ['quarkus.rest-client.a.hostname-verifier=io.quarkus.restclient.NoopHostnameVerifier', ['application.properties:1', 'verify-host=false']],
      ['quarkus.http.auth.permission.a.auth-mechanism=basic', ['quarkus.http.auth.permission.a.auth-mechanism (application.properties:1)', 'security setting']],
      ['quarkus.oidc.tenant1.auth-server-url=http://x', ['quarkus.oidc.tenant1.auth-server-url (application.properties:1)', 'security setting']],
      ['quarkus.http.insecure-requests=disabled', ['quarkus.http.insecure-requests (application.properties:1)']],
      ['sonatina.headers.forward=X-A,Authorization', ['sonatina.headers.forward (application.properties:1)', 'Authorization']],
    ]
    for (const [line, expected] of faults) {
      it(line.replace('\n', ' and '), async () => {
        const { errors } = await inspect({ 'application.properties': line })
        expect(errors).to.have.length(1)
        for (const part of expected) expect(errors[0]).to.contain(part)
      })
    }

    it('reports all faults together, without the value of a secret', async () => {
      const text = 'sonatina.http.port=x\nsonatina.http.idle-timeout=y\nsonatina.functions.f.password=hunter2-marked\nsonatina.functions.f.timeout=z'
      let caught: unknown
      try { await read({ 'application.properties': text }) } catch (error) { caught = error }
      expect(caught).to.be.instanceOf(ConfigurationError)
      const error = caught as ConfigurationError
      expect(error.code).to.equal('CONFIGURATION_INVALID')
      for (const line of [1, 2, 4]) expect(error.message).to.contain(`application.properties:${String(line)}`)
      expect(JSON.stringify(error)).not.to.contain('hunter2')
    })

    it('reports broken YAML with its line, and an argument that is not key=value', async () => {
      const { errors } = await inspect({ 'application.yml': 'a: 1\nb: [1\n' }, { arguments: ['nonsense'] })
      expect(errors.join('\n')).to.match(/application\.yml:\d+ is not YAML/).and.to.contain('"nonsense" on the command line')
    })
  })

  describe('warnings', () => {
    it('names the nearest known key', async () => {
      const { settings, errors } = await inspect({ 'application.properties': 'sonatina.http.prot=1\nquarkus.rest-client.acme_yml.ulr=http://x\nsonatina.zzz.yyy=1' })
      expect(errors).to.deep.equal([])
      const text = settings.warnings.map(({ message }) => message).join('\n')
      expect(text).to.contain('sonatina.http.prot (application.properties:1)').and.to.contain('did you mean sonatina.http.port?')
      expect(text).to.contain('did you mean quarkus.rest-client.acme_yml.url?')
      expect(text).to.match(/sonatina\.zzz\.yyy \(application\.properties:3\) is not a known setting and is ignored$/m)
    })

    it('makes them errors with strict', async () => {
      expect((await inspect({ 'application.properties': 'sonatina.http.prot=1' }, { strict: true })).errors).to.have.length(1)
    })

    it('is silent about what has no meaning here, and counts the rest of quarkus', async () => {
      const { settings, errors } = await inspect({ 'application.properties': 'quarkus.native.x=1\nquarkus.container-image.build=true\nquarkus.devservices.enabled=false\nquarkus.swagger-ui.path=/x\nquarkus.datasource.db-kind=pg\nquarkus.kafka.devservices.enabled=false\nkie.flyway.enabled=true\nmy.own=1' })
      expect(errors).to.deep.equal([])
      expect(settings.warnings).to.deep.equal([{ level: 'info', message: '1 quarkus.* settings have no meaning here and are ignored' }])
    })

    it('warns of a key set twice in one file', async () => {
      const { settings } = await inspect({ 'application.properties': 'sonatina.http.port=1\n\nsonatina.http.port=2' })
      expect(settings.number('sonatina.http.port')).to.equal(2)
      expect(settings.warnings[0]?.message).to.contain('lines 1 and 3')
    })
  })

  it('survives any text in its files (property)', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (properties, yml) => {
      const { settings } = await inspect({ 'application.properties': properties, 'application.yml': yml, '.env': properties })
      expect(settings.describe()).to.be.an('array')
    }))
  })
})
