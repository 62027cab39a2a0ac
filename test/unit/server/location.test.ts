import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { clientAddress, createOrigin } from '../../../lib/server/location.ts'

const request = (headers: Record<string, string>, encrypted = false): IncomingMessage =>
  ({ headers, socket: { encrypted, remoteAddress: '10.0.0.9' } }) as unknown as IncomingMessage

describe('server/location', () => {
  const plain = createOrigin({ forwarding: false })
  const behindProxy = createOrigin({ forwarding: true })

  it('takes scheme and host of the request', () => {
    expect(plain(request({ host: 'flows.example:8080' }))).to.equal('http://flows.example:8080')
    expect(plain(request({ host: '[::1]:8080' }))).to.equal('http://[::1]:8080')
    expect(plain(request({ host: 'flows.example' }, true))).to.equal('https://flows.example')
  })

  for (const host of ['', 'a b', 'evil/path', 'user@host', 'a"b', 'x\\y', 'h:123456', '..', 'a:b:c', '<script>']) {
    it(`gives no origin for Host ${JSON.stringify(host)}`, () => { expect(plain(request({ host }))).to.equal('') })
  }

  it('gives no origin without Host', () => { expect(plain(request({}))).to.equal('') })

  it('believes forwarding headers only when told to', () => {
    const headers = { host: 'inner:8080', forwarded: 'for=192.0.2.1;proto=https;host="flows.example"', 'x-forwarded-host': 'other.example' }
    expect(plain(request(headers))).to.equal('http://inner:8080')
    expect(behindProxy(request(headers))).to.equal('https://flows.example')
    expect(behindProxy(request({ host: 'inner', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example, b', 'x-forwarded-port': '8443' }))).to.equal('https://a.example:8443')
    expect(behindProxy(request({ host: 'inner', 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'a/b' }))).to.equal('http://inner')
  })

  it('tells the address of the client', () => {
    expect(clientAddress(request({ 'x-forwarded-for': '192.0.2.7, 10.0.0.1' }), true)).to.equal('192.0.2.7')
    expect(clientAddress(request({ 'x-forwarded-for': '192.0.2.7' }), false)).to.equal('10.0.0.9')
  })

  it('prefers the configured address', () => {
    expect(createOrigin({ serviceUrl: 'https://public.example', forwarding: false })(request({ host: 'x' }))).to.equal('https://public.example')
  })
})
