import { expect } from 'chai'
import { createLogger } from '../../../lib/common/index.ts'
import { createHttpClients, safeHeaders, safeUrl, type HttpClients } from '../../../lib/http-client/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { read } from '../configuration/support.ts'
import { json, startStub, type Stub } from './stub.ts'

describe('http-client/clients', () => {
  const lines: string[] = []
  let clients: HttpClients | undefined
  let stub: Stub | undefined
  afterEach(async () => {
    await clients?.close()
    await stub?.close()
    clients = stub = undefined
    lines.length = 0
  })
  async function create(properties: string): Promise<HttpClients> {
    const log = createLogger({ level: 'trace', write: (line) => { lines.push(line) } })
    clients = createHttpClients({ settings: await read({ 'application.properties': properties }), clock: createVirtualClock(), log, version: '1.2.3' })
    return clients
  }

  it('give each document its own settings, with the defaults of the documentation', async () => {
    const made = await create([
      'quarkus.rest-client."acme.yml".connect-timeout=1', 'quarkus.rest-client.acme_yml.read-timeout=2s', 'sonatina.rest-client.acme_yml.total-timeout=PT3S',
      'sonatina.rest-client.acme_yml.follow-redirects=true', 'sonatina.rest-client.acme_yml.max-redirects=2', 'sonatina.rest-client.acme_yml.headers.X-A=b',
      'sonatina.rest-client.acme_yml.connection-pool-size=3', 'sonatina.rest-client.acme_yml.connection-ttl=60000', 'sonatina.rest-client.acme_yml.keep-alive-enabled=false',
      'sonatina.rest-client.acme_yml.max-response-size=1K', 'sonatina.rest-client.acme_yml.user-agent=me', 'sonatina.rest-client.acme_yml.retry.max-attempts=2',
      'sonatina.rest-client.acme_yml.url=http://169.254.1.1/x', 'sonatina.http-client.allow-targets=a,b:1',
    ].join('\n'))
    const { options } = made.forDocument('acme_yml')
    expect(options).to.deep.include({
      name: 'acme_yml', timeouts: { connect: 1, read: 2000, total: 3000 }, redirects: { follow: true, max: 2, otherOrigins: false }, headers: { 'X-A': 'b' },
      connections: 3, connectionTtl: 60_000, keepAlive: false, maxResponseSize: 1024, userAgent: 'me', allowAddress: '169.254.1.1', allowTargets: ['a', 'b:1'],
    })
    expect(options.resilience).to.include({ retries: 2 })
    expect(made.forDocument('acme_yml')).to.equal(made.forDocument('acme_yml'))
    expect(made.forDocument('other').options).to.deep.include({
      timeouts: { connect: 15_000, read: 30_000, total: 120_000 }, redirects: { follow: false, max: 5, otherOrigins: false }, connections: 64, keepAlive: true,
      maxResponseSize: 10_485_760, retryOnConnect: 1, userAgent: 'sonatina/1.2.3', denyAddresses: ['169.254.0.0/16', 'fe80::/10'],
    })
    expect(made.forDocument('other').options.resilience).to.deep.equal({ retries: 0, retryDelay: 200, maxRetryDelay: 10_000, breakerFailures: 0, breakerDelay: 5000, maxConcurrent: 0, maxWaiting: 10 })
  })

  it('warn of a client that does not check the name of the server', async () => {
    const made = await create('sonatina.rest-client.a.verify-host=false\nsonatina.oidc-client.s.tls.verification=none')
    made.forDocument('a')
    made.forScheme('s')
    expect(made.forScheme('s').options.tls).to.include({ verifyHost: false, verifyCertificate: false })
    expect(lines.filter((line) => line.includes('does not check who the server is'))).to.have.length(2)
  })

  it('trace calls at DEBUG of the category only, redacted, bodies cut, none of token requests', async () => {
    stub = await startStub((_request, response) => { json(response, 200, { text: 'y'.repeat(5000) }, { 'set-cookie': 'marked-cookie' }) })
    const request = {
      method: 'POST', url: `${stub.url}/p?key=marked-query`, body: 'z'.repeat(3000), purpose: 'op', credentialHeaders: ['X-Mine'],
      headers: { Authorization: 'Bearer marked-token', 'X-Mine': 'marked-mine', 'X-Api-Key': 'marked-key', 'X-Plain': 'plain' },
    }
    await (await create('')).forDocument('a').request(request)
    expect(lines).to.deep.equal([])
    await clients?.close()
    const traced = await create('sonatina.log.category."org.apache.http".level=DEBUG')
    await traced.forDocument('a').request(request)
    expect(lines).to.have.length(1)
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
    expect(line).to.include({ module: 'http-client', client: 'a', purpose: 'op', method: 'POST', url: `${stub.url}/p`, status: 200 })
    expect(line['requestHeaders']).to.include({ Authorization: '***', 'X-Mine': '***', 'X-Api-Key': '***', 'X-Plain': 'plain' })
    expect(line['requestBody']).to.equal(`${'z'.repeat(2048)}… (3000 in all)`)
    expect(lines.join('')).not.to.contain('marked')
    await traced.forScheme('s').request({ ...request, body: 'client_secret=marked-secret' })
    expect(lines).to.have.length(2)
    expect(lines.join('')).not.to.contain('marked')
  })

  it('log a failed call with its address, without query and user', async () => {
    stub = await startStub(() => undefined)
    await stub.close()
    const made = await create('sonatina.rest-client.a.retry-on-connect=0')
    await made.forDocument('a').request({ method: 'GET', url: `${stub.url}/x?token=marked` }).then(() => { expect.fail('succeeded') }, () => undefined)
    expect(JSON.parse(lines[0] ?? '')).to.include({ level: 40, url: `${stub.url}/x`, code: 'ECONNREFUSED' })
    expect(lines.join('')).not.to.contain('marked')
    stub = undefined
  })

  it('hide user info and query of addresses, and what looks like a credential in headers', () => {
    expect(safeUrl('https://u:p@h.example:1/a/b?c=d#e')).to.equal('https://h.example:1/a/b')
    expect(safeUrl('https://h.example/a@b')).to.equal('https://h.example/a@b')
    expect(safeHeaders({ Cookie: 'a', 'x-auth-token': 'b', accept: 'c' })).to.deep.equal({ Cookie: '***', 'x-auth-token': '***', accept: 'c' })
  })
})
