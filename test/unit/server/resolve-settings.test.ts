import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createSettings, type Settings } from '../../../lib/configuration/index.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { DEFAULT_SERVER_SETTINGS, resolveLogOptions, resolveServerSettings, type ServerSettings } from '../../../lib/server/index.ts'

describe('server/resolve-settings', () => {
  let root = ''
  before(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-')) })
  after(() => rm(root, { recursive: true }))
  const read = (settings: Record<string, string | number | boolean>, profile = 'prod'): Promise<Settings> => createSettings({ root, environment: {}, profile, settings })
  const resolve = async (settings: Record<string, string | number | boolean> = {}, profile = 'prod'): Promise<ServerSettings> => resolveServerSettings(await read(settings, profile))
  const refusal = async (settings: Record<string, string>): Promise<string> => {
    const error: unknown = await resolve(settings).then(() => undefined, (thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ConfigurationError)
    return (error as Error).message
  }

  it('gives the defaults of the contract', async () => {
    expect(await resolve()).to.deep.equal(DEFAULT_SERVER_SETTINGS)
    expect(DEFAULT_SERVER_SETTINGS).to.include({ maxBodySize: 10_485_760, maxDepth: 1000, maxHeaderSize: 20_480, headersTimeout: 30_000, requestTimeout: 60_000, idleTimeout: 60_000, instancesLimit: 1000, host: '127.0.0.1' })
  })

  it('shows Swagger UI in dev, and takes the test port in test', async () => {
    expect((await resolve({}, 'dev')).swaggerUi).to.equal(true)
    expect((await resolve({}, 'test')).port).to.equal(8081)
    expect((await resolve({ 'sonatina.http.port': 0 }, 'test')).port).to.equal(0)
  })

  it('reads every setting, aliases too', async () => {
    expect(await resolve({
      'quarkus.http.port': 9000, 'quarkus.http.root-path': 'api/v1/', 'kogito.service.url': 'https://flows.example/', 'quarkus.http.limits.max-body-size': '1M', 'sonatina.http.limits.max-depth': 5,
      'sonatina.http.answer-timeout': '2s', 'kogito.process.instances.limit': 7, 'sonatina.management.port': 9001, 'sonatina.http.limits.requests-per-second': 2.5, 'sonatina.http.limits.max-concurrent': 3,
      'sonatina.http.proxy.proxy-address-forwarding': true, 'mp.messaging.incoming.wait.path': '/wait', 'sonatina.shutdown.delay': '1s', 'sonatina.definitions.upload': true, 'sonatina.metrics.enabled': false,
      'quarkus.http.cors': true, 'quarkus.http.cors.origins': 'https://a.example,http://localhost:3000', 'quarkus.http.cors.access-control-max-age': '1m',
    })).to.deep.include({
      port: 9000, rootPath: '/api/v1', serviceUrl: 'https://flows.example', maxBodySize: 1_048_576, maxDepth: 5, answerTimeout: 2000, instancesLimit: 7, managementPort: 9001,
      rate: { perSecond: 2.5, burst: 3 }, maxConcurrent: 3, forwarding: true, eventPaths: { wait: '/wait' }, shutdownDelay: 1000, upload: true, metrics: false,
      cors: { origins: ['https://a.example', 'http://localhost:3000'], patterns: [], methods: [], headers: [], exposedHeaders: [], maxAge: 60, credentials: false },
    })
  })

  it('takes patterns of origins between slashes, and any origin without credentials', async () => {
    const cors = async (origins: string): Promise<unknown> => (await resolve({ 'quarkus.http.cors': true, 'quarkus.http.cors.origins': origins })).cors?.patterns
    expect(await cors('/.*/')).to.deep.equal([/^(?:.*)$/])
    expect(await cors('https://a.example,/https://.*\\.example/')).to.deep.equal([/^(?:https:\/\/.*\.example)$/])
    expect(await cors('*')).to.deep.equal([/^/])
  })

  it('leaves references to Knative services to that platform', async () => {
    expect(await resolve({ 'kogito.service.url': '${knative:services.v1.serving.knative.dev/example/flow}' })).to.not.have.property('serviceUrl')
  })

  it('reads certificates', async () => {
    await writeFile(join(root, 'c.pem'), 'CERT')
    const file = join(root, 'c.pem')
    expect((await resolve({ 'sonatina.http.ssl.certificate.files': file, 'sonatina.http.ssl.certificate.key-files': file, 'sonatina.http.ssl.client-auth': 'required', 'sonatina.http.ssl.certificate.trust-store-file': file })).tls)
      .to.deep.equal({ certificates: ['CERT'], keys: ['CERT'], authorities: 'CERT', clientAuth: 'required' })
  })

  const wrong: [settings: Record<string, string>, message: RegExp][] = [
    [{ 'sonatina.http.root-path': '/a b' }, /root-path/],
    [{ 'sonatina.service.url': 'flows.example' }, /service\.url/],
    [{ 'sonatina.http.cors.enabled': 'true' }, /cors\.origins/],
    [{ 'sonatina.http.cors.enabled': 'true', 'sonatina.http.cors.origins': 'https://a.example/path' }, /without a path/],
    [{ 'sonatina.http.cors.enabled': 'true', 'sonatina.http.cors.origins': '*', 'sonatina.http.cors.access-control-allow-credentials': 'true' }, /named origins/],
    [{ 'sonatina.http.cors.enabled': 'true', 'sonatina.http.cors.origins': '/(/' }, /no regular expression/],
    [{ 'sonatina.http.ssl.client-auth': 'required' }, /client-auth/],
    [{ 'sonatina.http.ssl.certificate.files': '/nothing.pem', 'sonatina.http.ssl.certificate.key-files': '/nothing.pem' }, /cannot be read \(ENOENT\)/],
    [{ 'sonatina.http.ssl.certificate.files': 'a,b', 'sonatina.http.ssl.certificate.key-files': 'a' }, /one key for each/],
    [{ 'sonatina.messaging.incoming.wait.path': 'wait' }, /incoming\.wait\.path/],
  ]
  for (const [settings, message] of wrong) it(`refuses ${JSON.stringify(settings)}`, async () => { expect(await refusal(settings)).to.match(message) })

  it('reads levels of the log by category', async () => {
    expect(resolveLogOptions(await read({ 'quarkus.log.level': 'WARN', 'quarkus.log.category."org.apache.http".level': 'DEBUG', 'sonatina.log.category.auth.level': 'OFF' }))).to.deep.equal({ level: 'warn', categories: { 'http-client': 'debug', auth: 'silent' }, json: true })
    expect(resolveLogOptions(await read({}, 'dev')).json).to.equal(false)
  })
})
