import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { endServe, startServe } from '../support/serve-process.ts'
import { send } from '../unit/server/setup.ts'

const TELLING = {
  id: 'telling', version: '1.0', specVersion: '0.8', start: 'Tell',
  events: [{ name: 'told', type: 'told', source: '/test', kind: 'produced' }],
  states: [{ name: 'Tell', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'told' }] } }],
}

const SETTINGS = ['--set', 'sonatina.store=memory', '--set', 'sonatina.shutdown.timeout=1s']

describe('e2e: sonatina serve is stopped while events are on their way', () => {
  let root = ''
  let sink: Server
  let answer = 0
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'sonatina-stop-'))
    await writeFile(join(root, 'telling.sw.json'), JSON.stringify(TELLING))
    sink = createServer((_request, response) => {
      if (answer !== 0) response.writeHead(answer).end()
    }).listen(0, '127.0.0.1')
    await once(sink, 'listening')
  })
  after(async () => {
    sink.closeAllConnections()
    sink.close()
    await rm(root, { recursive: true })
  })

  // Nothing but timers is left then, and they do not keep a process.
  for (const [title, status] of [['that refuses them', 500], ['that says nothing', 0]] as const) {
    it(`to a receiver ${title}: with exit code 0, once their time is over`, async () => {
      answer = status
      const { port } = sink.address() as AddressInfo
      const service = await startServe(root, ...SETTINGS, '--set', `sonatina.messaging.sink=http://127.0.0.1:${String(port)}`)
      try {
        const received = once(sink, 'request')
        expect((await send(service.port, 'POST', '/telling')).status).to.equal(201)
        await received
        const stopped = Date.now()
        service.child.kill('SIGTERM')
        expect(await once(service.child, 'exit'), service.output()).to.deep.equal([0, null])
        expect(Date.now() - stopped).to.be.within(900, 8000)
        expect(service.output()).to.contain('event could not be delivered')
      } finally {
        await endServe(service)
      }
    }).timeout(40_000)
  }
})
