import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ownerOf } from '../../lib/hosts/cluster/index.ts'
import { endServe, isThere, startServe, until, workersOf, type RunningServe } from '../support/serve-process.ts'
import { send } from '../unit/server/setup.ts'

const WAITING = {
  id: 'waiting', version: '1.0', specVersion: '0.8', start: 'Wait',
  events: [{ name: 'go', type: 'go', source: '/test' }],
  states: [{ name: 'Wait', type: 'callback', action: { functionRef: 'nothing' }, eventRef: 'go', end: true }],
  functions: [{ name: 'nothing', type: 'expression', operation: '.' }],
}

const SLOW = {
  id: 'slow', version: '1.0', specVersion: '0.8', start: 'Work',
  functions: [{ name: 'work', type: 'custom', operation: 'service:Worker::work' }],
  states: [{ name: 'Work', type: 'operation', actions: [{ functionRef: 'work' }], end: true }],
}

const WORKER = 'export class Worker { work() { return new Promise((done) => { setTimeout(() => done({}), 200) }) } }'

/** What became of a request: its status, or that the connection was cut, or that nobody said anything in time. */
type Outcome = number | 'cut' | 'silent'

function outcome(port: number, method: string, path: string): Promise<Outcome> {
  const silence = new Promise<Outcome>((resolve) => { setTimeout(() => { resolve('silent') }, 5000).unref() })
  return Promise.race([send(port, method, path).then(({ status }) => status, (): Outcome => 'cut'), silence])
}

describe('e2e: sonatina serve --workers, killed', () => {
  let root = ''
  let service: RunningServe
  before('one service for both: it takes seconds to start', async function () {
    this.timeout(30_000)
    if (!existsSync('/proc/self/task')) this.skip()
    root = await mkdtemp(join(tmpdir(), 'sonatina-killed-'))
    await writeFile(join(root, 'waiting.sw.json'), JSON.stringify(WAITING))
    await writeFile(join(root, 'slow.sw.json'), JSON.stringify(SLOW))
    await writeFile(join(root, 'worker.mjs'), WORKER)
    service = await startServe(root, '--workers', '2', '--set', 'sonatina.store=memory')
    await until(async () => ((await send(service.port, 'GET', '/waiting')).status === 200) || undefined)
  })
  after(async () => {
    if (root === '') return
    await endServe(service)
    await rm(root, { recursive: true })
  })

  it('loses the instances of a worker that is killed amid calls, and nothing else', async () => {
    const { port } = service
    const ids = await Promise.all(Array.from({ length: 16 }, async () => ((await send(port, 'POST', '/waiting')).json as { id: string }).id))
    const [kept, lost] = [0, 1].map((slot) => ids.filter((id) => ownerOf(id, 2) === slot))
    expect([kept?.length, lost?.length], 'instances of each worker').to.satisfy((counts: number[]) => counts.every((count) => count > 0))

    const before = await workersOf(service)
    const calls = Array.from({ length: 20 }, (_, index) => (index < 10 ? outcome(port, 'POST', '/slow') : outcome(port, 'GET', `/waiting/${lost![0]!}`)))
    await new Promise((resolve) => { setTimeout(resolve, 100) })
    process.kill(before.get(1)!, 'SIGKILL')
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter((each) => ![200, 201, 404, 503, 'cut', 'silent'].includes(each)), 'anything else').to.deep.equal([])
    expect(outcomes.filter((each) => each === 201), 'what the other worker had goes on').not.to.deep.equal([])
    // Node.js tells nobody of a connection that it was just handing over when the worker died.
    expect(outcomes.filter((each) => each === 'silent').length, 'silent').to.be.at.most(1)

    await until(async () => ((await outcome(port, 'GET', `/waiting/${lost![0]!}`)) === 404) || undefined)
    const after = await workersOf(service)
    expect([after.get(0), after.get(1) === before.get(1)]).to.deep.equal([before.get(0), false])
    for (const id of kept!) expect(await outcome(port, 'GET', `/waiting/${id}`), id).to.equal(200)
    for (const id of lost!) expect(await outcome(port, 'GET', `/waiting/${id}`), id).to.equal(404)
    expect((await send(port, 'GET', '/waiting')).json).to.have.length(kept!.length)
    expect(await Promise.all(Array.from({ length: 8 }, () => outcome(port, 'POST', '/slow')))).to.deep.equal(Array(8).fill(201))
  }).timeout(30_000)

  it('ends with its first process, and gives the port free', async () => {
    const workers = [...(await workersOf(service)).values()]
    const calls = Array.from({ length: 4 }, () => outcome(service.port, 'POST', '/slow'))
    service.child.kill('SIGKILL')
    await until(() => !workers.some(isThere) || undefined)
    await Promise.all(calls)
    expect(await outcome(service.port, 'GET', '/waiting')).to.equal('cut')
  }).timeout(30_000)
})
