import { expect } from 'chai'
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Json } from '../../lib/common/index.ts'
import { createDurableProject, type DurableProject } from '../support/durable-runtime.ts'

const WAIT: { uri: string; document: Json } = {
  uri: 'wait.sw.json',
  document: {
    id: 'wait',
    version: '1',
    specVersion: '0.8',
    start: 'Call',
    functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
    events: [{ name: 'Go', type: 'go', source: 'suite', correlation: [{ contextAttributeName: 'order' }] }],
    states: [
      { name: 'Call', type: 'operation', actions: [{ functionRef: { refName: 'call', arguments: { order: '${ .order }' } }, actionDataFilter: { toStateData: '.answer' } }], transition: 'Wait' },
      { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], end: true },
    ],
  },
}
const GO = { specversion: '1.0', id: '1', source: 'suite', type: 'go', order: 'a', data: { paid: true } }

async function refusal(work: Promise<unknown>): Promise<{ code?: string; message: string }> {
  return work.then(() => ({ message: 'nothing was refused' }), (error: unknown) => error as { code?: string; message: string })
}

describe('store under fault', () => {
  let project: DurableProject
  beforeEach(async () => { project = await createDurableProject({ definitions: [WAIT] }) })
  afterEach(() => project.remove())

  const fill = async (): Promise<string> => {
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'wait', input: { order: 'a' } })
    await runtime.close(0)
    return id
  }

  it('in use by another is refused with the pid and start of its owner', async () => {
    const first = await project.open()
    await first.host.start({ workflowId: 'wait', input: { order: 'a' } })
    const { code, message } = await refusal(project.open())
    expect(code).to.equal('STORE_LOCKED')
    expect(message).to.contain(`process ${String(process.pid)}, started 2026-01-01T00:00:00.000Z`)
    await first.close(0)
    await (await project.open()).close(0)
  })

  it('that is no database is named and left as it is', async () => {
    mkdirSync(dirname(project.file))
    writeFileSync(project.file, 'x'.repeat(9000))
    const { code, message } = await refusal(project.open())
    expect(code).to.equal('STORE_UNAVAILABLE')
    expect(message).to.contain(project.file)
    expect(readFileSync(project.file, 'utf8')).to.equal('x'.repeat(9000))
  })

  it('that was cut off is named, and its backup goes on', async () => {
    const id = await fill()
    copyFileSync(project.file, `${project.file}.backup`)
    truncateSync(project.file, 20_000)
    expect((await refusal(project.open())).code).to.equal('STORE_UNAVAILABLE')
    copyFileSync(`${project.file}.backup`, project.file)
    const runtime = await project.open()
    expect((await runtime.host.get('wait', id))?.status).to.equal('waiting')
    await runtime.close(0)
  })

  it('with damaged pages is named', async () => {
    await fill()
    const bytes = readFileSync(project.file)
    bytes.fill(0xAA, 4096 * 2, 4096 * 6)
    writeFileSync(project.file, bytes)
    const { code, message } = await refusal(project.open())
    expect(code).to.equal('STORE_UNAVAILABLE')
    expect(message).to.match(/damaged/)
  })

  it('of a newer release is refused by its version', async () => {
    await fill()
    const Database = createRequire(import.meta.url)('libsql') as new (path: string) => { exec(sql: string): void; close(): void }
    const database = new Database(project.file)
    database.exec('pragma user_version = 999')
    database.close()
    const { code, message } = await refusal(project.open())
    expect(code).to.equal('SNAPSHOT_INCOMPATIBLE')
    expect(message).to.contain('schema version 999')
  })

  it('that fills the disk refuses the request, writes nothing half, and goes on when there is room', async () => {
    let full = false
    const runtime = await project.open({
      crashPoint: (point) => {
        if (full && (point === 'write:instance' || point === 'write:passing')) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
      },
    })
    const { id } = await runtime.host.start({ workflowId: 'wait', input: { order: 'a' } })
    full = true
    expect((await refusal(runtime.host.start({ workflowId: 'wait', input: { order: 'b' } }))).code).to.equal('STORE_UNAVAILABLE')
    expect((await refusal(runtime.host.deliver(GO))).code).to.equal('STORE_UNAVAILABLE')
    expect((await runtime.host.readiness()).ready).to.equal(false)
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    full = false
    project.clock.advance(1000)
    await runtime.quiet()
    expect((await runtime.host.readiness()).ready).to.equal(true)
    expect((await runtime.host.list({ limit: 10 })).instances.map((instance) => instance.id)).to.deep.equal([id])
    expect(await runtime.host.deliver(GO)).to.deep.equal({ instances: [id] })
    expect((await runtime.host.list({ limit: 10 })).instances).to.deep.equal([])
    await runtime.close(0)
  })

  it('is not made for definitions that cannot wait', async () => {
    const document = { id: 'plain', version: '1', specVersion: '0.8', states: [{ name: 'A', type: 'inject', data: { a: 1 }, end: true }] }
    const runtime = await project.open({ definitions: [{ uri: 'plain.sw.json', document }] })
    await runtime.host.start({ workflowId: 'plain', input: {} })
    await runtime.close(0)
    expect(existsSync(project.file)).to.equal(false)
  })
})
