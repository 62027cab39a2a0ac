import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Engine } from '../../../../lib/hosts/restate/engine.ts'

describe('hosts/restate: the engine as a client sees it', () => {
  let server: Server
  let engine: Engine
  let answer: { status: number; body: string }
  const requests: string[] = []
  beforeEach(async () => {
    requests.length = 0
    server = createServer((request, response) => {
      requests.push(`${String(request.method)} ${String(request.url)}`)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    engine = new Engine({ ingressUrl: `${url}/`, adminUrl: url })
  })
  afterEach(() => {
    engine.close()
    server.close()
  })
  const refusal = (work: Promise<unknown>): Promise<{ code: string; message: string }> => work.then(() => ({ code: '', message: '' }), (error: unknown) => error as { code: string; message: string })

  it('calls handlers of objects whatever their key', async () => {
    answer = { status: 200, body: '{"n":1}' }
    expect(await engine.call({ service: 's', key: 'a/b c', handler: 'h' }, {})).to.deep.equal({ n: 1 })
    for (const key of ['.', '..', '%2e%2E', '../..', "'", '?#', '']) await engine.call({ service: 's', key, handler: 'h' }, {})
    expect(requests).to.deep.equal([
      'POST /s/a%2Fb%20c/h', 'POST /s/%2E/h', 'POST /s/%2E%2E/h', 'POST /s/%252e%252E/h', 'POST /s/..%2F../h', "POST /s/'/h", 'POST /s/%3F%23/h', 'POST /s//h',
    ])
    expect(engine.underWay).to.equal(0)
  })

  it('waits for a look at an instance only so long', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`
    const looking = new Engine({ ingressUrl: url, adminUrl: url, patience: 30 })
    const { code, message } = await refusal(looking.look({ service: 's', key: 'k', handler: 'get' }, {}))
    expect([code, message.includes('did not answer in time'), looking.underWay]).to.deep.equal(['STORE_UNAVAILABLE', true, 0])
    looking.close()
    silent.closeAllConnections()
    silent.close()
  })

  it('says that no worker is known, what it refused, and that it is away', async () => {
    answer = { status: 404, body: '{"message":"not found"}' }
    expect(await refusal(engine.call({ service: 's', handler: 'h' }, {}))).to.include({ code: 'STORE_UNAVAILABLE' }).and.have.property('message').that.contains('no worker with "s"')
    answer = { status: 500, body: '{"message":"broken"}' }
    expect((await refusal(engine.send({ service: 's', handler: 'h' }, {}))).message).to.contain('500 broken')
    answer = { status: 502, body: '<html>' }
    expect((await refusal(engine.query('select 1'))).message).to.contain('502 <html>')
    server.close()
    server.closeAllConnections()
    expect(await refusal(engine.call({ service: 's', handler: 'h' }, {}))).to.have.property('code', 'STORE_UNAVAILABLE')
    expect(await engine.isAlive()).to.equal(false)
  })
})
