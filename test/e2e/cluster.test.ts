import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { endServe, isThere, spawnServe, startServe, until, workersOf } from '../support/serve-process.ts'
import { send } from '../unit/server/setup.ts'

const WAITING = {
  id: 'waiting', version: '1.0', specVersion: '0.8', start: 'First',
  events: [{ name: 'go', type: 'go', source: '/test', correlation: [{ contextAttributeName: 'order' }] }],
  states: [
    { name: 'First', type: 'inject', data: { begun: true }, transition: 'Wait' },
    { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['go'] }], end: true },
  ],
}

describe('e2e: sonatina serve --workers', () => {
  let root = ''
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'sonatina-cluster-'))
    await writeFile(join(root, 'waiting.sw.json'), JSON.stringify(WAITING))
  })
  after(() => rm(root, { recursive: true }))

  it('reaches an instance through any worker, and stops in order', async function () {
    if (!existsSync('/proc/self/task')) this.skip()
    const service = await startServe(root, '--workers', '3', '--set', 'sonatina.store=memory')
    const { child, port, output } = service
    try {
      await until(async () => (await workersOf(service)).size === 3 || undefined)
      // Every request comes by a connection of its own, and so to another worker.
      const ids = await Promise.all(Array.from({ length: 12 }, async () => ((await send(port, 'POST', '/waiting', { body: {} })).json as { id: string }).id))
      for (const id of ids) expect((await send(port, 'GET', `/waiting/${id}`)).status, id).to.equal(200)
      expect((await send(port, 'GET', '/waiting')).json).to.have.length(12)
      expect((await send(port, 'GET', '/waiting/none')).status).to.equal(404)
      expect((await send(port, 'DELETE', `/waiting/${ids[0]!}`)).status).to.equal(200)

      const workers = await workersOf(service)
      child.kill('SIGTERM')
      await once(child, 'exit')
      expect(child.exitCode, output()).to.equal(0)
      expect([...workers.values()].filter(isThere), 'workers that are left').to.deep.equal([])
    } finally {
      await endServe(service)
    }
  }).timeout(120_000)

  it('refuses what only one process can do, and what cannot be started', async () => {
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [['--workers', '2', '--set', 'sonatina.store=sqlite'], 'has one owner'],
      [['--workers', '2'], 'Say so by sonatina.store=memory'],
      [['--workers', 'two'], 'sonatina.cluster.workers=two'],
      [['--worker', '0/2'], 'sonatina serve --workers'],
      [['--workers', '2', '--set', 'sonatina.store=memory', '--set', 'sonatina.http.host=192.0.2.1'], '192.0.2.1'],
    ]
    for (const [args, message] of refusals) {
      const { child, output } = spawnServe(root, ...args)
      await once(child, 'exit')
      expect(child.exitCode, message).to.equal(1)
      expect(output()).to.contain(message)
    }
  }).timeout(120_000)
})
