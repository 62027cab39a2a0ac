import { createServer as createHttpServer, request as forward, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { silentLogger } from '../../../lib/common/index.ts'
import { createHttpClients } from '../../../lib/http-client/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { read } from '../configuration/support.ts'
import { createCertificate, writePem } from './certificates.ts'
import { startStub, textOf, type Stub } from './stub.ts'

interface Proxy {
  readonly address: string
  readonly log: { readonly line: string; readonly authorization: string | undefined }[]
}

describe('http-client/proxies', () => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => { for (const close of closing.splice(0).reverse()) await close() })

  function listen(server: Server | ReturnType<typeof createHttpsServer>): Promise<number> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => { sockets.add(socket) })
    closing.push(() => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); for (const socket of sockets) socket.destroy() }))
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => { resolve((server.address() as AddressInfo).port) }))
  }
  async function startProxy(): Promise<Proxy> {
    const log: Proxy['log'] = []
    const server = createHttpServer((request, response) => {
      log.push({ line: `${request.method ?? ''} ${request.url ?? ''}`, authorization: request.headers['proxy-authorization'] })
      const { 'proxy-authorization': _secret, ...headers } = request.headers
      request.pipe(forward(request.url ?? '', { method: request.method, headers }, (answer) => { response.writeHead(answer.statusCode ?? 500, answer.headers); answer.pipe(response) }))
    })
    server.on('connect', (request, socket: Socket) => {
      log.push({ line: `CONNECT ${request.url ?? ''}`, authorization: request.headers['proxy-authorization'] })
      const [host, port] = (request.url ?? '').split(':')
      const target = connect(Number(port), host, () => { socket.write('HTTP/1.1 200 OK\r\n\r\n'); target.pipe(socket); socket.pipe(target) })
      target.on('error', () => { socket.destroy() })
      socket.on('error', () => { target.destroy() })
    })
    return { address: `127.0.0.1:${String(await listen(server))}`, log }
  }
  async function startTarget(): Promise<Stub> {
    const server = await startStub((_request, response) => { response.end('target') })
    closing.push(() => server.close())
    return server
  }
  async function get(properties: string, url: string, environment: Record<string, string> = {}): Promise<string> {
    const clients = createHttpClients({ settings: await read({ 'application.properties': properties }, { environment }), clock: createVirtualClock(), log: silentLogger })
    closing.push(() => clients.close())
    return textOf((await clients.forDocument('acme').request({ method: 'GET', url })).body)
  }

  it('forward http, with user and password', async () => {
    const [proxy, target] = [await startProxy(), await startTarget()]
    const properties = `sonatina.rest-client.acme.proxy-address=${proxy.address}\nsonatina.rest-client.acme.proxy-user=u\nsonatina.rest-client.acme.proxy-password=p:ü`
    expect(await get(properties, `${target.url}/x?y=1`)).to.equal('target')
    expect(proxy.log).to.deep.equal([{ line: `GET ${target.url}/x?y=1`, authorization: `Basic ${Buffer.from('u:p:ü').toString('base64')}` }])
    expect(target.seen[0]?.headers).not.to.have.property('proxy-authorization')
  })

  it('tunnel https by CONNECT', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sonatina-proxy-'))
    closing.push(() => rm(directory, { recursive: true }))
    const authority = createCertificate('root')
    const certificate = createCertificate('server', { issuer: authority, addresses: ['127.0.0.1'] })
    const port = await listen(createHttpsServer({ cert: certificate.pem.certificate, key: certificate.pem.key }, (_request, response) => { response.end('secure') }))
    const proxy = await startProxy()
    const trust = await writePem(directory, 'trust.pem', authority.pem.certificate)
    expect(await get(`sonatina.rest-client.acme.proxy-address=http://${proxy.address}\nsonatina.rest-client.acme.trust-store=${trust}`, `https://127.0.0.1:${String(port)}/x`)).to.equal('secure')
    expect(proxy.log).to.deep.equal([{ line: `CONNECT 127.0.0.1:${String(port)}`, authorization: undefined }])
  })

  it('are passed by for non-proxy-hosts, and turned off by none', async () => {
    const [proxy, target] = [await startProxy(), await startTarget()]
    for (const hosts of ['127.0.0.1', '127.*', 'example.org|127.0.0.1', 'localhost,*']) {
      await get(`sonatina.rest-client.acme.proxy-address=${proxy.address}\nsonatina.rest-client.acme.non-proxy-hosts=${hosts}`, `${target.url}/`)
    }
    await get('sonatina.rest-client.acme.proxy-address=none\nsonatina.http-client.environment-proxy=true', `${target.url}/`, { HTTP_PROXY: `http://${proxy.address}` })
    expect(proxy.log).to.deep.equal([])
    expect(target.seen).to.have.length(5)
  })

  it('come from the environment only when that is asked for', async () => {
    const [proxy, target] = [await startProxy(), await startTarget()]
    const environment = { http_proxy: `http://u:p@${proxy.address}`, HTTPS_PROXY: 'http://127.0.0.1:9' }
    await get('', `${target.url}/`, environment)
    expect(proxy.log).to.deep.equal([])
    await get('sonatina.http-client.environment-proxy=true', `${target.url}/`, environment)
    expect(proxy.log[0]?.authorization).to.equal(`Basic ${Buffer.from('u:p').toString('base64')}`)
    await get('sonatina.http-client.environment-proxy=true', `${target.url}/`, { ...environment, NO_PROXY: 'example.org,127.0.0.1' })
    expect(proxy.log).to.have.length(1)
  })
})
