import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { Secret } from '../../../lib/configuration/index.ts'
import { ConfigurationError, FunctionError } from '../../../lib/errors/index.ts'
import { createHttpClient, readStoredKey, type TlsOptions } from '../../../lib/http-client/index.ts'
import { loadTls } from '../../../lib/http-client/tls.ts'
import { createCertificate, writePem, writePkcs12, type Certificate } from './certificates.ts'
import { textOf } from './stub.ts'

describe('http-client/tls', () => {
  let directory: string
  let authority: Certificate
  let named: Certificate
  let nameless: Certificate
  let caller: Certificate
  const servers: Server[] = []
  const password = new Secret('marked-password')

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sonatina-tls-'))
    authority = createCertificate('root')
    named = createCertificate('server', { issuer: authority, addresses: ['127.0.0.1'] })
    nameless = createCertificate('other', { issuer: authority, addresses: ['other.example'] })
    caller = createCertificate('caller', { issuer: authority })
  })
  after(async () => { await rm(directory, { recursive: true }) })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => { server.close(resolve); server.closeAllConnections() })))
  })

  async function serve(certificate: Certificate, requestCert = false): Promise<string> {
    const server = createServer({ cert: certificate.pem.certificate, key: certificate.pem.key, ca: authority.pem.certificate, requestCert, rejectUnauthorized: requestCert }, (request, response) => {
      const { subject } = (request.socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {}
      response.end(subject?.CN ?? 'nobody')
    })
    server.on('tlsClientError', () => undefined)
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
  }
  async function call(url: string, tls: Partial<TlsOptions>): Promise<string> {
    const client = createHttpClient({ name: 'acme', tls, retryOnConnect: 0 })
    try {
      return textOf((await client.request({ method: 'GET', url })).body)
    } catch (error) {
      expect(error).to.be.instanceOf(FunctionError)
      return (error as FunctionError).message
    } finally {
      await client.close()
    }
  }

  it('trusts what the trust store holds, PEM or PKCS12, and nothing else', async () => {
    const url = await serve(named)
    const pem = await writePem(directory, 'trust.pem', authority.pem.certificate)
    const store = await writePkcs12(directory, 'trust.p12', { certificates: [authority], password: 'marked-password' })
    expect(await call(url, { trustStore: { file: pem } })).to.equal('nobody')
    expect(await call(url, { trustStore: { file: store, password } })).to.equal('nobody')
    expect(await call(url, {})).to.match(/no secure connection could be made/)
    expect(await call(url, { verifyCertificate: false })).to.equal('nobody')
  })

  it('checks the name of the server unless told otherwise', async () => {
    const url = await serve(nameless)
    const trustStore = { file: await writePem(directory, 'trust2.pem', authority.pem.certificate) }
    expect(await call(url, { trustStore })).to.match(/no secure connection could be made; check trust-store, key-store and verify-host \(ERR_TLS_CERT_ALTNAME_INVALID\)/)
    expect(await call(url, { trustStore, verifyHost: false })).to.equal('nobody')
    expect(await call(await serve(createCertificate('stranger', { addresses: ['127.0.0.1'] })), { trustStore, verifyHost: false })).to.match(/no secure connection/)
  })

  it('presents the certificate of the key store, PEM or PKCS12', async () => {
    const url = await serve(named, true)
    const trustStore = { file: await writePem(directory, 'trust3.pem', authority.pem.certificate) }
    const pem = await writePem(directory, 'caller.pem', caller.pem.certificate, caller.pem.key)
    const store = await writePkcs12(directory, 'caller.p12', { key: caller, certificates: [caller], password: 'marked-password' })
    expect(await call(url, { trustStore, keyStore: { file: pem } })).to.equal('caller')
    expect(await call(url, { trustStore, keyStore: { file: store, password } })).to.equal('caller')
    expect(await call(url, { trustStore })).to.match(/failed/)
    expect(readStoredKey('acme', { file: store, password })).to.contain('PRIVATE KEY')
  })

  it('reads a trust store made by keytool, and refuses a JKS one by saying how to convert it', () => {
    const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
    const { ca } = loadTls('acme', { trustStore: { file: file('keytool-trust.p12'), password: new Secret('changeit') } })
    expect(ca).to.have.length(1)
    expect(String(ca)).to.contain('BEGIN CERTIFICATE')
    expect(() => loadTls('acme', { trustStore: { file: file('keytool-trust.jks') } })).to.throw(ConfigurationError, /keytool -importkeystore/)
    expect(() => loadTls('acme', { keyStore: { file: file('keytool-trust.jks') } })).to.throw(ConfigurationError, /JKS/)
  })

  it('names the file that cannot be used, never the password', async () => {
    const store = await writePkcs12(directory, 'x.p12', { key: caller, certificates: [caller], password: 'right' })
    const pem = await writePem(directory, 'x.pem', authority.pem.certificate)
    const broken = await writePem(directory, 'broken.p12', 'nothing')
    const faults: readonly (readonly [Partial<TlsOptions>, RegExp])[] = [
      [{ trustStore: { file: join(directory, 'none') } }, /none \(trust store\) cannot be read/],
      [{ trustStore: { file: store, password } }, /x\.p12 cannot be opened/],
      [{ trustStore: { file: broken } }, /broken\.p12 cannot be opened/],
      [{ keyStore: { file: store, password } }, /x\.p12 cannot be used/],
      [{ keyStore: { file: pem } }, /x\.pem cannot be used/],
      [{ trustStore: { file: broken, type: 'PEM' } }, /broken\.p12 holds no PEM certificate/],
    ]
    for (const [tls, message] of faults) {
      expect(() => createHttpClient({ name: 'acme', tls })).to.throw(ConfigurationError, message)
      try { createHttpClient({ name: 'acme', tls }) } catch (error) { expect((error as Error).message).not.to.contain('marked') }
    }
  })
})
