import { expect } from 'chai'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRemote, startService, type Command, type Remote, type Service } from './service.ts'

// Promises that only real processes can show: who owns a store, what a signal does, what a kill leaves behind.

describe('durability, processes', function () {
  this.timeout(60_000)
  let directory: string
  let remote: Remote
  const running: Command[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'processes-'))
    remote = await openRemote()
    await mkdir(join(directory, 'workflows'))
    const functions = [{ name: 'ask', type: 'custom', operation: `rest:post:${remote.url}/ask` }]
    const ask = { name: 'Ask', type: 'operation', actions: [{ functionRef: { refName: 'ask', arguments: { n: 1 } }, actionDataFilter: { toStateData: '.answer' } }] }
    const common = { version: '1', specVersion: '0.8', functions }
    const definitions = [
      { id: 'ask', ...common, states: [{ ...ask, transition: 'Rest' }, { name: 'Rest', type: 'sleep', duration: 'PT0.01S', end: true }] },
      { id: 'wait', ...common, states: [{ name: 'Sleep', type: 'sleep', duration: 'PT1H', end: true }] },
    ]
    for (const definition of definitions) await writeFile(join(directory, `workflows/${definition.id}.sw.json`), JSON.stringify(definition))
  })
  afterEach(async () => {
    for (const command of running.splice(0)) {
      command.kill('SIGKILL')
      await command.exited
    }
    await remote.close()
    await rm(directory, { recursive: true, force: true })
  })

  const start = async (settings: Readonly<Record<string, string>> = {}): Promise<Service | Command> => {
    const command = await startService(directory, settings)
    running.push(command)
    return command
  }
  const serve = async (settings: Readonly<Record<string, string>> = {}): Promise<Service> => {
    const service = await start(settings)
    if (!('url' in service)) throw new Error(service.output())
    return service
  }
  const post = (service: Service, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    for (const since = Date.now(); Date.now() - since < 20_000; await new Promise((resolve) => { setTimeout(resolve, 20) })) if (await condition()) return
    throw new Error('it did not come to that')
  }

  it('a second process on the same store is refused with the pid and the start of its owner, and takes over when that has gone', async () => {
    const before = Date.now()
    const owner = await serve()
    const second = await start()
    expect(await second.exited).to.not.equal(0)
    const [, pid, startedAt = ''] = /in use by process (\d+), started (\S+?);/.exec(second.output()) ?? []
    expect(Number(pid), second.output()).to.equal(owner.pid)
    expect(Date.parse(startedAt)).to.be.within(before - 1000, Date.now())
    expect(second.output()).to.contain('sonatina.store.sqlite.file')
    owner.kill('SIGKILL')
    await owner.exited
    await serve()
  })

  it('of several processes that start at once exactly one gets the store', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => start()))
    const winners = all.filter((command): command is Service => 'url' in command)
    expect(winners).to.have.length(1)
    for (const loser of all) if (!('url' in loser)) expect(loser.output()).to.match(/is in use by (another process|process \d+)/)
    expect((await post(winners[0] as Service, '/wait')).status).to.equal(201)
  })

  it('SIGTERM: readiness goes down, the running request is finished and answered, what waits is taken up by the next, exit 0', async () => {
    const service = await serve({ 'sonatina.shutdown.delay': '1500ms' })
    const waiting = await (await post(service, '/wait')).json() as { id: string }
    const asking = post(service, '/ask')
    await until(() => remote.requests.length === 1)
    service.kill('SIGTERM')
    await until(async () => (await fetch(`${service.url}/q/health/ready`)).status === 503)
    remote.requests[0]?.answer(200, { text: 'done' })
    const answer = await asking
    expect(answer.status).to.equal(201)
    expect(await service.exited, service.output()).to.equal(0)
    const next = await serve()
    expect((await fetch(`${next.url}/wait/${waiting.id}`)).status).to.equal(200)
    expect(remote.requests).to.have.length(1)
  })

  it('SIGTERM: a request that takes too long ends with the limit, exit 0; its call is made again by the next process under the same key', async () => {
    const service = await serve({ 'sonatina.shutdown.timeout': '300ms' })
    const asking = post(service, '/ask').then(({ status }) => status, () => 'cut off')
    await until(() => remote.requests.length === 1)
    service.kill('SIGTERM')
    expect(await service.exited, service.output()).to.equal(0)
    expect([503, 'cut off']).to.include(await asking)
    await serve()
    await until(() => remote.requests.length === 2)
    expect(remote.requests[0]?.key).to.be.a('string')
    expect(remote.requests[1]?.key).to.equal(remote.requests[0]?.key)
  })

  it('SIGKILL during a call: the next process makes it again under the same key, and a repeated start gets the first instance', async () => {
    const service = await serve()
    const asking = post(service, '/ask', { 'idempotency-key': 'k' }).catch(() => undefined)
    await until(() => remote.requests.length === 1)
    service.kill('SIGKILL')
    await service.exited
    await asking
    const next = await serve()
    await until(() => remote.requests.length === 2)
    expect(remote.requests[1]?.key).to.equal(remote.requests[0]?.key)
    const again = post(next, '/ask', { 'idempotency-key': 'k' })
    remote.requests[1]?.answer(200, { text: 'done' })
    const body = await (await again).json() as { workflowdata: unknown }
    expect(body.workflowdata).to.deep.equal({ answer: { text: 'done' } })
    expect(remote.requests).to.have.length(2)
  })
})
