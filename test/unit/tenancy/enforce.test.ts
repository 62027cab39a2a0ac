import { once } from 'node:events'
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer, type Server } from 'node:https'
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import Koa from 'koa'
import type { Logger } from '../../../lib/common/index.ts'
import { createEnforcer, DENIED_BODY, enforce, type EnforceOptions, type Enforcer } from '../../../lib/tenancy/enforce.ts'
import { generateTenant } from '../../../lib/tenancy/generate.ts'
import { resolveInputs } from '../../../lib/tenancy/inputs.ts'
import { generateSystem } from '../../../lib/tenancy/system.ts'
import { toServerOptions } from '../../../lib/tenancy/tls.ts'
import { createCertificateShop, hasOpenssl, type CertificateShop, type KeyPair } from './support/certificates.ts'

const inputs = resolveInputs({
  tenants: [
    { name: 'team-alpha', namespaces: ['team-alpha-1', 'team-alpha-2'] },
    { name: 'team-bravo', namespaces: ['team-bravo-1', 'team-bravo-2'] },
  ],
}, 'test')
const documents = [...generateSystem(inputs.values), ...inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values))]
const WEBAPP = { namespace: 'team-alpha-1', labels: { 'serving.knative.dev/service': 'test-webapp' }, port: 8012 }
const BROKER = { namespace: 'knative-eventing', labels: { 'app.kubernetes.io/component': 'broker-ingress' }, port: 8080 }

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends raw bytes, so that nothing between test and server tidies the request up. */
async function exchange(socket: Socket | TLSSocket, text: string): Promise<Answer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(socket, 'close')
  socket.write(text)
  await ended
  const [head = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]))
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}

function request(target: string, headers: readonly string[] = ['Host: test-webapp.team-alpha-1'], method = 'GET'): string {
  return [`${method} ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n')
}

/** Koa's own type says that its listener gives a promise; servers want none. */
function listener(app: Koa): RequestListener {
  const handle = app.callback()
  return (request, response) => { void handle(request, response) }
}

interface LogLine {
  readonly level: string
  readonly fields: object
  readonly message: string
}

function recordingLogger(lines: LogLine[]): Logger {
  const at = (level: string) => (fields: object, message: string): void => { lines.push({ level, fields, message }) }
  const logger: Logger = { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => logger }
  return logger
}

describe('enforce', function () {
  let shop: CertificateShop
  let authority: KeyPair
  let server: KeyPair
  const open: (Server | HttpServer)[] = []
  const leaves = new Map<string, KeyPair>()
  const identity = (namespace: string, account = 'default', domain = 'cluster.local'): string => `URI:spiffe://${domain}/ns/${namespace}/sa/${account}`

  function leaf(...names: readonly string[]): KeyPair {
    const key = names.join()
    const made = leaves.get(key) ?? shop.leaf(authority, names)
    leaves.set(key, made)
    return made
  }

  before(function () {
    if (!hasOpenssl()) {
      process.stdout.write('SKIPPED: enforcement with real certificates needs the program openssl\n')
      this.skip()
    }
    shop = createCertificateShop()
    authority = shop.authority('test authority')
    server = shop.leaf(authority, ['DNS:localhost'])
  })
  after(() => shop.close())
  afterEach(async () => {
    await Promise.all(open.splice(0).map(async (each) => {
      each.closeAllConnections()
      each.close()
      await once(each, 'close')
    }))
  })

  function application(enforcer: Enforcer): Koa {
    const app = new Koa()
    app.silent = true
    app.use(enforcer.middleware)
    app.use((context) => { context.body = `served ${context.path}${context.search}` })
    return app
  }

  async function listen(each: Server | HttpServer): Promise<number> {
    open.push(each)
    each.listen(0, '127.0.0.1')
    await once(each, 'listening')
    return (each.address() as AddressInfo).port
  }

  async function serve(options: Partial<EnforceOptions> = {}, enforcer = createEnforcer({ documents, workload: WEBAPP, ...options })): Promise<number> {
    const tls = toServerOptions({ certificate: server.certificate, key: server.key, authorities: authority.certificate }, options.mode)
    const each = createHttpsServer({ ...tls }, listener(application(enforcer)))
    each.on('upgrade', (upgrade, socket) => { if (enforcer.guardUpgrade(upgrade, socket)) socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n') })
    return listen(each)
  }

  async function call(port: number, client: KeyPair | undefined, text: string): Promise<Answer> {
    const socket = connect({
      port, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate,
      ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
    })
    await once(socket, 'secureConnect')
    return exchange(socket, text)
  }

  /** Gives the status, or the reason for which there is no answer. */
  async function outcome(port: number, client: KeyPair | undefined, text: string): Promise<string> {
    try {
      const { status } = await call(port, client, text)
      return Number.isNaN(status) ? 'refused' : String(status)
    } catch {
      return 'refused'
    }
  }

  it('serves a workload of the same tenant', async () => {
    const answer = await call(await serve(), leaf(identity('team-alpha-2')), request('/orders?page=2'))
    expect(answer.status).to.equal(200)
    expect(answer.body).to.equal('served /orders?page=2')
  })

  it('denies another tenant with exactly the answer of Envoy', async () => {
    const { status, headers, body } = await call(await serve(), leaf(identity('team-bravo-1')), request('/'))
    expect(status).to.equal(403)
    expect(body).to.equal('RBAC: access denied')
    expect(Buffer.byteLength(body)).to.equal(19)
    expect(headers['content-type']).to.equal('text/plain')
    expect(headers['content-length']).to.equal('19')
    expect(Object.keys(headers).sort()).to.deep.equal(['connection', 'content-length', 'content-type', 'date'])
  })

  it('refuses the handshake without a certificate, and with one of another authority or one that is over', async () => {
    const port = await serve()
    const other = shop.leaf(shop.authority('another'), [identity('team-alpha-2')])
    const over = shop.leaf(authority, [identity('team-alpha-2')], -1)
    expect(await outcome(port, undefined, request('/'))).to.equal('refused')
    expect(await outcome(port, other, request('/'))).to.equal('refused')
    expect(await outcome(port, over, request('/'))).to.equal('refused')
    expect(await outcome(port, leaf(identity('team-alpha-2')), request('/'))).to.equal('200')
  })

  it('refuses TLS below 1.2', async () => {
    const port = await serve()
    const client = leaf(identity('team-alpha-2'))
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate, cert: client.certificate, key: client.key, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })
    const [error] = await once(socket, 'error') as [Error]
    expect(error.message).to.match(/protocol|version|alert/i)
  })

  it('takes no identity from several URIs, none, another trust domain or another form', async () => {
    const port = await serve()
    const clients = [
      leaf(identity('team-alpha-2'), identity('team-alpha-1')),
      leaf('DNS:team-alpha-2.example'),
      leaf(identity('team-alpha-2', 'default', 'other.domain')),
      leaf('URI:spiffe://cluster.local/ns/team-alpha-2/sa/default/extra'),
      leaf('URI:https://cluster.local/ns/team-alpha-2/sa/default'),
      leaf('URI:spiffe://cluster.local/ns/TEAM-ALPHA-2/sa/default'),
    ]
    for (const client of clients) expect(await outcome(port, client, request('/'))).to.equal('403')
  })

  it('takes an alias for the trust domain', async () => {
    const port = await serve({ trustDomainAliases: ['other.domain'] })
    expect(await outcome(port, leaf(identity('team-alpha-2', 'default', 'other.domain')), request('/'))).to.equal('200')
  })

  it('lets through what the gateway brings, as the documents say', async () => {
    const port = await serve()
    const gateway = leaf(identity('istio-system', 'istio-ingressgateway-service-account'))
    expect(await outcome(port, gateway, request('/', ['Host: test-webapp-team-alpha-1.apps.example.com', 'X-Forwarded-For: 10.128.0.7']))).to.equal('200')
  })

  it('denies the gateway local names, and not public ones, with strict documents', async () => {
    const strict = inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values, { strict: true }))
    const port = await serve({ documents: strict })
    const gateway = leaf(identity('istio-system', 'istio-ingressgateway-service-account'))
    expect(await outcome(port, gateway, request('/', ['Host: test-webapp-team-alpha-1.apps.example.com']))).to.equal('200')
    expect(await outcome(port, gateway, request('/', ['Host: test-webapp.team-alpha-1.svc.cluster.local']))).to.equal('403')
  })

  it('reads the path once and normalised: dots lead to no other tenant, and routing sees the same path', async () => {
    const port = await serve({ workload: BROKER })
    const alpha = leaf(identity('team-alpha-1'))
    const host = ['Host: broker-ingress.knative-eventing.svc.cluster.local']
    expect((await call(port, alpha, request('/team-alpha-1/./default', host, 'POST'))).body).to.equal('served /team-alpha-1/default')
    for (const path of ['/team-alpha-1/../team-bravo-1/default', '/team-alpha-1/%2e%2e/team-bravo-1/default', '/team-alpha-1/.%2E/team-bravo-1/x', '/team-alpha-1/..\\team-bravo-1/x', '/team-alpha-1/..']) {
      expect(await outcome(port, alpha, request(path, host, 'POST')), path).to.equal('403')
    }
    expect((await call(port, alpha, request('/team-%61lpha-1/default?x=/../y', host, 'POST'))).body).to.equal('served /team-alpha-1/default?x=/../y')
  })

  it('answers 400 to requests that servers read in different ways', async () => {
    const port = await serve()
    const alpha = leaf(identity('team-alpha-2'))
    for (const text of [
      request('/', ['Host: test-webapp.team-alpha-1', 'Host: test-webapp.team-alpha-1']),
      request('/', ['Host: test-webapp.team-alpha-1', 'Host: other.example']),
      request('http://other.example/', ['Host: test-webapp.team-alpha-1']),
      request('/%00'),
      request('/a%0d%0ab'),
      request('/%zz'),
      request('/a%2'),
      request('/a#b'),
      request('/', ['Host: a b']),
      request('/', ['Host: user@test-webapp.team-alpha-1']),
    ]) expect(await outcome(port, alpha, text), text).to.equal('400')
    expect(await outcome(port, alpha, request('http://test-webapp.team-alpha-1/x'))).to.equal('200')
  })

  it('joins repeated headers by a comma, so that the second one does not count alone', async () => {
    const port = await serve()
    const eventing = leaf(identity('knative-eventing', 'mt-broker-filter'))
    expect(await outcome(port, eventing, request('/', ['Host: a.b', 'Kn-Namespace: team-alpha-1'], 'POST'))).to.equal('200')
    expect(await outcome(port, eventing, request('/', ['Host: a.b', 'Kn-Namespace: team-bravo-1', 'Kn-Namespace: team-alpha-1'], 'POST'))).to.equal('403')
    expect(await outcome(port, eventing, request('/', ['Host: a.b', 'kn-namespace: Team-Alpha-1'], 'POST'))).to.equal('403')
  })

  it('checks upgrade requests too', async () => {
    const port = await serve()
    const upgrade = ['Host: test-webapp.team-alpha-1', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==', 'Sec-WebSocket-Version: 13']
    const text = ['GET /inspect/ws HTTP/1.1', ...upgrade, '', ''].join('\r\n')
    const denied = await call(port, leaf(identity('team-bravo-1')), text)
    expect([denied.status, denied.body, denied.headers['content-length']]).to.deep.equal([403, DENIED_BODY, '19'])
    expect(await outcome(port, leaf(identity('team-alpha-2')), text)).to.equal('101')
    expect(await outcome(port, leaf(identity('team-alpha-2')), text.replace('/inspect/ws', '/%00'))).to.equal('400')
  })

  it('drops a forwarded certificate header, and reads it only from this machine when asked to', async () => {
    const seen: (string | undefined)[] = []
    const forwarded = ['Host: a.b', 'X-Forwarded-Client-Cert: By=x;URI=spiffe://cluster.local/ns/team-bravo-1/sa/default,By=y;Subject="CN=a,b;c";URI=spiffe://cluster.local/ns/team-alpha-2/sa/default']
    const plain = async (options: Partial<EnforceOptions>): Promise<string> => {
      const enforcer = createEnforcer({ documents, workload: WEBAPP, ...options })
      const app = new Koa()
      app.use(enforcer.middleware)
      app.use((context) => {
        seen.push(context.get('x-forwarded-client-cert'))
        context.body = 'served'
      })
      const port = await listen(createServer(listener(app)))
      const socket = connectPlain(port, '127.0.0.1')
      return String((await exchange(socket, request('/', forwarded))).status)
    }
    expect(await plain({})).to.equal('403')
    expect(await plain({ trustForwardedClientCert: 'loopback' })).to.equal('200')
    expect(seen).to.deep.equal([''])
    const port = await serve()
    expect(await outcome(port, leaf(identity('team-bravo-1')), request('/', forwarded))).to.equal('403')
  })

  it('denies every request of a plain connection in strict mode, whatever the documents say', async () => {
    const open = [{ apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'all', namespace: 'team-alpha-1' }, spec: { rules: [{}] } }]
    for (const [mode, status] of [['strict', 403], ['permissive', 200]] as const) {
      const port = await listen(createServer(listener(application(createEnforcer({ documents: open, workload: WEBAPP, mode })))))
      expect((await exchange(connectPlain(port, '127.0.0.1'), request('/'))).status).to.equal(status)
    }
  })

  it('lets connections without a certificate in when permissive, without identity and with a warning at the start', async () => {
    const lines: LogLine[] = []
    const port = await serve({ mode: 'permissive', logger: recordingLogger(lines) })
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn'])
    expect(await outcome(port, undefined, request('/'))).to.equal('403')
    expect(await outcome(port, leaf(identity('team-alpha-2')), request('/'))).to.equal('200')
    const foreign = shop.leaf(shop.authority('another'), [identity('team-alpha-2')])
    expect(await outcome(port, foreign, request('/'))).to.equal('403')
  })

  it('tells the reasons of a denial to the log and the counter only', async () => {
    const lines: LogLine[] = []
    const denied: string[] = []
    const deny = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'no-admin', namespace: 'team-alpha-1' }, spec: { action: 'DENY', rules: [{ to: [{ operation: { paths: ['/admin'] } }] }] } }
    const port = await serve({ documents: [...documents, deny], logger: recordingLogger(lines), onDenied: (document) => denied.push(document) })
    await call(port, leaf(identity('team-alpha-2')), request('/admin'))
    await call(port, leaf(identity('team-bravo-1')), request('/'))
    expect(denied).to.deep.equal(['team-alpha-1/no-admin', 'none'])
    expect(lines.map(({ level }) => level)).to.deep.equal(['debug', 'debug'])
    expect(lines[0]?.fields).to.include({ document: 'team-alpha-1/no-admin', rule: 0, peer: 'spiffe://cluster.local/ns/team-alpha-2/sa/default', path: '/admin' })
  })

  it('denies when the evaluator throws, and when only an external authorizer could decide', async () => {
    const lines: LogLine[] = []
    const custom = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'ask', namespace: 'team-alpha-1' }, spec: { action: 'CUSTOM', provider: { name: 'opa' }, rules: [{}] } }
    const asking = await serve({ documents: [...documents, custom] })
    expect(await outcome(asking, leaf(identity('team-alpha-2')), request('/'))).to.equal('403')
    const workload = { ...WEBAPP, get port(): number { throw new RangeError('broken') } }
    const broken = await serve({ workload, logger: recordingLogger(lines) })
    expect(await outcome(broken, leaf(identity('team-alpha-2')), request('/'))).to.equal('403')
    expect(lines.map(({ level }) => level)).to.deep.equal(['error'])
  })

  it('takes a new set of documents at once, and keeps the old one when the new is invalid', async () => {
    const enforcer = createEnforcer({ documents, workload: WEBAPP })
    const port = await serve({}, enforcer)
    const bravo = leaf(identity('team-bravo-1'))
    expect(await outcome(port, bravo, request('/'))).to.equal('403')
    const misspelt = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'x', namespace: 'team-alpha-1' }, spec: { rules: [{ frm: [] }] } }
    expect(enforcer.reload([misspelt])).to.equal(false)
    expect(enforcer.reload([])).to.equal(false)
    expect(enforcer.status().state).to.equal('stale')
    expect(await outcome(port, bravo, request('/'))).to.equal('403')
    const open = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'all', namespace: 'team-alpha-1' }, spec: { rules: [{}] } }
    expect(enforcer.reload([open])).to.equal(true)
    expect(enforcer.status()).to.deep.equal({ state: 'current', policies: 1 })
    expect(await outcome(port, bravo, request('/'))).to.equal('200')
  })

  it('refuses to start without a policy or with an invalid one, and warns when none selects the workload', () => {
    expect(() => enforce({ documents: [], workload: WEBAPP })).to.throw(/no AuthorizationPolicy/).with.property('code', 'TENANCY_INVALID')
    const misspelt = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'x' }, spec: { rules: [{ frm: [] }] } }
    expect(() => enforce({ documents: [misspelt], workload: WEBAPP })).to.throw(/default\/x at \/spec\/rules\/0\/frm.*did you mean "from"/)
    const lines: LogLine[] = []
    enforce({ documents, workload: { ...WEBAPP, namespace: 'elsewhere' }, logger: recordingLogger(lines) })
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn'])
  })
})
