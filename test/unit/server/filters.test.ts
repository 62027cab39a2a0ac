import { expect } from 'chai'
import { createLogging } from '../../../lib/common/index.ts'
import { RequestError } from '../../../lib/errors/index.ts'
import type { InboundRequest } from '../../../lib/server/index.ts'
import { eventDefinition } from '../../support/fake-host.ts'
import { openBench, send, type Bench } from './setup.ts'

const CORS = { origins: ['https://app.example'], patterns: [], methods: [], headers: [], exposedHeaders: ['Location'], maxAge: 60, credentials: true }

describe('server/filters', () => {
  let bench: Bench
  afterEach(() => bench.close())

  describe('CORS', () => {
    it('is off by default', async () => {
      bench = await openBench()
      const { headers } = await bench.send('OPTIONS', '/hello', { headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' } })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).to.deep.equal([])
    })

    it('answers a preflight of a listed origin', async () => {
      bench = await openBench({ cors: CORS })
      const { status, headers } = await bench.send('OPTIONS', '/hello', { headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' } })
      expect(status).to.equal(204)
      expect(headers).to.include({
        'access-control-allow-origin': 'https://app.example', 'access-control-allow-credentials': 'true', 'access-control-max-age': '60',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE', 'access-control-allow-headers': 'content-type',
      })
    })

    it('marks answers for a listed origin, errors too, and nothing for others', async () => {
      bench = await openBench({ cors: CORS })
      const headersFor = async (origin: string, body: unknown): Promise<object> => (await bench.send('POST', '/hello', { body, headers: { origin } })).headers
      expect(await headersFor('https://app.example', {})).to.include({ 'access-control-allow-origin': 'https://app.example', 'access-control-expose-headers': 'Location', vary: 'Origin' })
      expect(await headersFor('https://app.example', '[]')).to.include({ 'access-control-allow-origin': 'https://app.example' })
      expect(await headersFor('https://evil.example', {})).to.not.have.property('access-control-allow-origin')
      expect(await headersFor('null', {})).to.not.have.property('access-control-allow-origin')
    })
  })

  it('lets origins in that a pattern matches as a whole, and pages without origin never', async () => {
    bench = await openBench({ cors: { ...CORS, patterns: [/^(?:https:\/\/.*\.example)$/, /^/] } })
    const allowed = async (origin: string): Promise<unknown> => (await bench.send('GET', '/hello', { headers: { origin } })).headers['access-control-allow-origin']
    expect(await allowed('https://b.example')).to.equal('https://b.example')
    expect(await allowed('null')).to.equal(undefined)
  })

  describe('limits of rate and number', () => {
    it('answers 429 beyond the rate of a client, and serves again later', async () => {
      bench = await openBench({ rate: { perSecond: 2, burst: 3 } })
      const statuses = async (count: number): Promise<number[]> => {
        const found: number[] = []
        for (let n = 0; n < count; n++) found.push((await bench.send('POST', '/hello', { body: {} })).status)
        return found
      }
      expect(await statuses(4)).to.deep.equal([201, 201, 201, 429])
      expect((await bench.send('GET', '/hello')).headers['retry-after']).to.equal('1')
      bench.clock.advance(1000)
      expect(await statuses(3)).to.deep.equal([201, 201, 429])
    })

    it('counts clients behind a proxy one by one', async () => {
      bench = await openBench({ rate: { perSecond: 1, burst: 1 }, forwarding: true })
      const from = async (client: string): Promise<number> => (await bench.send('GET', '/hello', { headers: { 'x-forwarded-for': client } })).status
      expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')]).to.deep.equal([200, 429, 200])
    })

    it('answers 503 beyond so many requests at a time', async () => {
      bench = await openBench({ maxConcurrent: 1 })
      let finish = (): void => undefined
      bench.host.behaviours.set('hello', (_request, record) => new Promise((resolve) => { finish = () => { resolve(record) } }))
      const first = send(bench.port, 'POST', '/hello', { body: {} })
      await new Promise<void>((resolve) => { setImmediate(function look() { if (bench.host.starts.length > 0) resolve(); else setImmediate(look) }) })
      const second = await bench.send('GET', '/hello')
      expect([second.status, (second.json as { code: string }).code, second.headers['retry-after']]).to.deep.equal([503, 'NOT_AVAILABLE', '1'])
      finish()
      expect((await first).status).to.equal(201)
      expect((await bench.send('GET', '/hello')).status).to.equal(200)
    })
  })

  describe('authentication', () => {
    const authenticate = ({ headers }: InboundRequest): { name: string; roles: string[] } => {
      if (headers['authorization'] === 'Bearer good') return { name: 'alice', roles: [] }
      throw new RequestError({ code: 'UNAUTHENTICATED', message: 'This address needs a caller who proves who they are', details: { challenge: 'Bearer realm="sonatina"' } })
    }
    const open = async (settings: Parameters<typeof openBench>[0] = {}): Promise<void> => {
      bench = await openBench({ swaggerUi: true, upload: true, ...settings }, { authenticate, deploy: () => Promise.resolve(), mounts: [{ path: '/inspect', middleware: (ctx) => { ctx.body = 'secret' } }, { path: '/functions', middleware: (ctx) => { ctx.body = 'secret' } }] })
      bench.catalogue.add(eventDefinition('ev', 't'))
    }
    const I = '/management/processes/hello/instances'
    const routes = [
      '/', '/hello', '/hello/', '/hello/i', '/hello/schema', '/hello/i/tasks', '/hello/definition', '/nothing', '/nothing/at/all', '/%68ello', '/%2e%2e/q', '//hello',
      '/q', '/q/openapi', '/q/openapi?format=json', '/q/swagger-ui', '/q/swagger-ui/swagger-ui.css', '/q/health', '/q/health/live', '/q/health/ready', '/q/health/started', '/q/metrics', '/q/nothing',
      '/messaging/topics', '/management', '/management/processes', '/management/processes/sources?uri=x', '/management/processes/hello', '/management/processes/hello/nodes',
      '/management/processes/hello/source', '/management/processes/hello/sources', I, `${I}/i`, `${I}/i/history`, `${I}/i/error`, `${I}/i/retrigger`, `${I}/i/skip`, `${I}/i/nodes/n`, `${I}/i/nodeInstances`,
      `${I}/i/nodeInstances/n`, `${I}/i/nodeInstances/n/timers`, `${I}/i/nodeInstances/n/sla`, `${I}/i/timers`, `${I}/i/sla`, '/management/jobs/hello/instances/i/timers/t', '/management/log-levels',
      '/inspect', '/inspect/x', '/functions', '/functions/f',
    ]
    it('answers 401 on every route and method without credentials, and tells nothing', async () => {
      await open()
      const bodies = new Set<string>()
      for (const route of routes) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
          const answer = await bench.send(method, route, { body: method === 'POST' ? '{"broken' : undefined, headers: { 'content-type': 'text/plain' } })
          expect(answer.status, `${method} ${route}`).to.equal(401)
          expect(answer.headers['www-authenticate']).to.equal('Bearer realm="sonatina"')
          expect(answer.headers).to.not.have.any.keys('allow', 'etag', 'location', 'accept-post', 'content-security-policy')
          bodies.add(answer.text)
        }
        expect((await bench.send('HEAD', route)).status, `HEAD ${route}`).to.equal(401)
      }
      expect([...bodies]).to.have.length(1)
      expect(bench.host.starts).to.have.length(0)
      expect(bench.host.events).to.have.length(0)
    })

    it('knows all routes there are', async () => {
      // A route that is added without a row above would be found here: the table must match every registered path.
      await open()
      const document = (await bench.send('GET', '/q/openapi?format=json', { headers: { authorization: 'Bearer good' } })).json as { paths: Record<string, object> }
      const patterns = Object.keys(document.paths).map((path) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}/?$`))
      const uncovered = patterns.filter((pattern) => !routes.some((route) => pattern.test(route.split('?')[0] ?? '')) && !pattern.source.startsWith('^\\/ev') && !pattern.source.startsWith('^/ev'))
      expect(uncovered.map(String)).to.deep.equal([])
    })

    it('comes before the body is read', async () => {
      await open({ maxBodySize: 10 })
      expect((await bench.send('POST', '/hello', { body: 'x'.repeat(100) })).status).to.equal(401)
    })

    it('hands the caller on', async () => {
      await open()
      expect((await bench.send('POST', '/hello', { body: {}, headers: { authorization: 'Bearer good' } })).status).to.equal(201)
      expect(bench.host.starts[0]?.identity).to.equal('alice')
    })

    it('guards the management listener as well', async () => {
      await open({ managementPort: 0 })
      expect((await bench.send('GET', '/management/processes', { port: bench.managementPort ?? 0 })).status).to.equal(401)
    })
  })

  describe('mounts', () => {
    it('stand first, or at their address; the others go on', async () => {
      const order: string[] = []
      bench = await openBench({ rootPath: '/api' }, { mounts: [
        { path: '/inspect', middleware: (ctx) => { order.push('inspect'); ctx.body = 'page' } },
        { path: '/', stage: 'first', middleware: async (_ctx, next) => { order.push('first'); await next() } },
        { path: '/', middleware: async (_ctx, next) => { order.push('any'); await next() } },
      ] })
      expect((await bench.send('GET', '/api/inspect/x')).text).to.equal('page')
      expect((await bench.send('GET', '/api/inspected')).status).to.equal(404)
      expect((await bench.send('POST', '/api/hello', { body: {} })).status).to.equal(201)
      expect(order).to.deep.equal(['first', 'inspect', 'first', 'any', 'first'])
    })
  })

  it('logs requests with their ids when told to', async () => {
    const lines: string[] = []
    const { log } = createLogging({ write: (line) => { lines.push(line) } })
    bench = await openBench({ accessLog: true }, { log })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    await bench.send('POST', '/hello?x=secret', { body: {}, headers: { 'x-request-id': 'r1', traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
    await bench.close()
    expect(JSON.parse(lines[0] ?? '')).to.deep.include({ msg: 'request', requestId: 'r1', traceId: trace, spanId: '00f067aa0ba902b7', method: 'POST', path: '/hello', status: 201 })
    expect(lines[0]).to.not.include('secret')
  })
})
