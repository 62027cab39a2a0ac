import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { send } from '../unit/server/setup.ts'

const WAITING = {
  id: 'waiting', version: '1.0', specVersion: '0.8', start: 'First',
  events: [{ name: 'go', type: 'go', source: '/test', correlation: [{ contextAttributeName: 'order' }] }],
  states: [
    { name: 'First', type: 'inject', data: { begun: true }, transition: 'Wait' },
    { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['go'] }], end: true },
  ],
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly output: () => string
}

function command(root: string, ...args: readonly string[]): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/main.ts', 'serve', root, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => { text += chunk.toString('utf8') })
  return { child, output: () => text }
}

async function until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
}

async function start(root: string, ...args: readonly string[]): Promise<Running> {
  const { child, output } = command(root, ...args)
  const port = await until(() => {
    if (child.exitCode !== null) throw new Error(output())
    return /serves 1 workflow at http:\/\/127\.0\.0\.1:(\d+)\n/.exec(output())?.[1]
  })
  return { child, port: Number(port), output }
}

/** Workers that a process has started, and not the compiler that runs TypeScript for it; the kernel of Linux tells. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const pids = (await readFile(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')).split(' ').filter((text) => text !== '').map(Number)
  const commands = await Promise.all(pids.map((child) => readFile(`/proc/${String(child)}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, index) => commands[index]?.includes('--worker') === true)
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
    const { child, port, output } = await start(root, '--workers', '3', '--set', 'sonatina.store=memory')
    try {
      const isUp = async (): Promise<true | undefined> => (await childrenOf(child.pid!)).length === 3 || undefined
      await until(isUp)
      // Every request comes by a connection of its own, and so to another worker.
      const ids = await Promise.all(Array.from({ length: 12 }, async () => ((await send(port, 'POST', '/waiting', { body: {} })).json as { id: string }).id))
      for (const id of ids) expect((await send(port, 'GET', `/waiting/${id}`)).status, id).to.equal(200)
      expect((await send(port, 'GET', '/waiting')).json).to.have.length(12)
      expect((await send(port, 'GET', '/waiting/none')).status).to.equal(404)
      expect((await send(port, 'DELETE', `/waiting/${ids[0]!}`)).status).to.equal(200)

      const workers = await childrenOf(child.pid!)
      child.kill('SIGTERM')
      await once(child, 'exit')
      expect(child.exitCode, output()).to.equal(0)
      for (const pid of workers) expect(() => process.kill(pid, 0), 'no worker is left').to.throw()
    } finally {
      if (child.exitCode === null) child.kill('SIGKILL')
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
      const { child, output } = command(root, ...args)
      await once(child, 'exit')
      expect(child.exitCode, message).to.equal(1)
      expect(output()).to.contain(message)
    }
  }).timeout(120_000)
})
