import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { askHealth } from '../../../../lib/cli/commands/health.ts'
import { UsageError } from '../../../../lib/cli/usage.ts'
import { createFakeIo } from '../io.ts'

describe('cli/commands/health', () => {
  let server: Server
  let port = 0
  const asked: string[] = []
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.statusCode = request.url === '/shop/q/health/live' ? 200 : 503
      response.end('{"status":"told"}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  after(() => { server.close() })

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const io = createFakeIo('test/fixtures/manifest')
    const code = await askHealth(args, io, { SONATINA_MANAGEMENT_PORT: String(port), SONATINA_HTTP_HOST: '0.0.0.0' })
    return { code, out: io.outText(), err: io.errText() }
  }

  it('asks where the settings say that the service listens', async () => {
    expect(await run('orders')).to.deep.equal({ code: 0, out: '{"status":"told"}', err: '' })
    expect(await run('orders', '--check', 'ready')).to.deep.equal({ code: 1, out: '', err: '{"status":"told"}' })
    expect(asked).to.deep.equal(['/shop/q/health/live', '/shop/q/health/ready'])
  })

  it('knocks where a client certificate would be needed', async () => {
    const { code, out } = await run('orders', '-Dsonatina.http.ssl.client-auth=required')
    expect([code, out]).to.deep.equal([0, `127.0.0.1:${String(port)} is open`])
  })

  it('tells that nothing answers', async () => {
    for (const more of [[], ['-Dsonatina.http.ssl.client-auth=required']]) {
      const { code, err } = await run('orders', '-Dsonatina.management.port=1', ...more)
      expect(code).to.equal(1)
      expect(err).to.contain('127.0.0.1:1 does not answer')
    }
  })

  it('tells how it is called', async () => {
    expect((await run('--help')).out).to.contain('--check NAME')
    for (const wrong of [['--check', 'fine'], ['none'], ['orders', 'orders']]) {
      expect(await run(...wrong).catch((error: unknown) => error), wrong.join(' ')).to.be.instanceOf(UsageError)
    }
  })
})
