import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { endServe, startServe, until } from '../support/serve-process.ts'
import { send } from '../unit/server/setup.ts'

const TELLING = {
  id: 'telling', version: '1.0', specVersion: '0.8', start: 'Tell',
  events: [{ name: 'told', type: 'told', source: '/test', kind: 'produced' }],
  states: [{ name: 'Tell', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'told' }] } }],
}

const HANGING = {
  id: 'hanging', version: '1.0', specVersion: '0.8', start: 'Work',
  functions: [{ name: 'hang', type: 'custom', operation: 'service:Worker::hang' }],
  states: [{ name: 'Work', type: 'operation', actions: [{ functionRef: 'hang' }], end: true }],
}

const SETTINGS = ['--set', 'sonatina.store=memory', '--set', 'sonatina.shutdown.timeout=1s']

describe('e2e: sonatina serve is stopped while events and traces are on their way', () => {
  let root = ''
  let sink: Server
  let answer = 0
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'sonatina-stop-'))
    await writeFile(join(root, 'telling.sw.json'), JSON.stringify(TELLING))
    await writeFile(join(root, 'hanging.sw.json'), JSON.stringify(HANGING))
    await writeFile(join(root, 'worker.mjs'), 'export class Worker { hang() { return new Promise(() => {}) } }')
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

  // The exporter goes on trying for seconds.
  it('to a collector of traces that is not there: with exit code 0, once their time is over', async () => {
    const service = await startServe(root, ...SETTINGS, '--set', 'sonatina.otel.enabled=true', '--set', 'sonatina.otel.exporter.otlp.endpoint=http://127.0.0.1:1')
    try {
      expect((await send(service.port, 'POST', '/telling')).status).to.equal(201)
      const stopped = Date.now()
      service.child.kill('SIGTERM')
      expect(await once(service.child, 'exit'), service.output()).to.deep.equal([0, null])
      expect(Date.now() - stopped).to.be.below(6000)
      expect(service.output()).to.contain('the last spans did not arrive')
    } finally {
      await endServe(service)
    }
  }).timeout(40_000)

  it('in the time of one stop, whatever is under way', async () => {
    answer = 0
    const { port } = sink.address() as AddressInfo
    const service = await startServe(root, ...SETTINGS, '--set', 'sonatina.shutdown.timeout=3s', '--set', `sonatina.messaging.sink=http://127.0.0.1:${String(port)}`)
    try {
      const received = once(sink, 'request')
      await send(service.port, 'POST', '/telling')
      await received
      const cut = send(service.port, 'POST', '/hanging').then(({ status }) => status, () => 'cut')
      // The request is under way once the instance is.
      await until(async () => ((await send(service.port, 'GET', '/hanging')).json as unknown[]).length === 1 || undefined)
      const stopped = Date.now()
      service.child.kill('SIGTERM')
      expect(await once(service.child, 'exit'), service.output()).to.deep.equal([0, null])
      expect(Date.now() - stopped).to.be.within(2900, 8500)
      await cut
    } finally {
      await endServe(service)
    }
  }).timeout(40_000)
})
