import { expect } from 'chai'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createDurableProject, type DurableProject } from '../../../support/durable-runtime.ts'
import { call, definition, event, FIRST, SLEEP, WAIT } from '../durable-definitions.ts'

interface Connection {
  exec(sql: string): void
  close(): void
}
const Database = createRequire(import.meta.url)('libsql') as new (path: string, options?: { timeout: number }) => Connection

async function refusal(work: Promise<unknown>): Promise<{ code?: string; message: string }> {
  return work.then(() => ({ message: 'nothing was refused' }), (error: unknown) => error as { code?: string; message: string })
}

describe('durability, promise "file locked, damaged, gone or of another release: named, nothing lost"', () => {
  const projects: DurableProject[] = []
  let project: DurableProject
  let id: string
  beforeEach(async () => {
    project = await createDurableProject({ definitions: [definition('wait', [FIRST, WAIT]), definition('sleep', [SLEEP])] })
    projects.push(project)
    const runtime = await project.open()
    id = (await runtime.host.start({ workflowId: 'wait', input: {} })).id
    await runtime.close(0)
  })
  afterEach(() => Promise.all(projects.splice(0).map((each) => each.remove())))

  it('at the start: another program holds the file', async () => {
    const other = new Database(project.file)
    other.exec('begin exclusive')
    const { code, message } = await refusal(project.open())
    expect(code).to.equal('STORE_UNAVAILABLE')
    expect(message).to.contain('another process has it open')
    other.exec('rollback')
    other.close()
    const runtime = await project.open()
    expect((await runtime.host.get('wait', id))?.status).to.equal('waiting')
    await runtime.close(0)
  })

  it('while it runs: another program holds the file for a while', async () => {
    const runtime = await project.open()
    const other = new Database(project.file)
    other.exec('begin immediate')
    expect((await refusal(runtime.host.start({ workflowId: 'wait', input: {} }))).code).to.equal('STORE_UNAVAILABLE')
    expect((await refusal(runtime.host.deliver(event('go', 'a')))).code).to.equal('STORE_UNAVAILABLE')
    expect((await runtime.host.readiness()).ready).to.equal(false)
    other.exec('rollback')
    other.close()
    project.clock.advance(1000)
    await runtime.quiet()
    expect(await runtime.host.readiness()).to.deep.equal({ ready: true })
    expect((await runtime.host.list({ limit: 9 })).instances.map((instance) => instance.id)).to.deep.equal([id])
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    await runtime.close(0)
  })

  it('a timer that becomes due while the file is held fires when it is free again', async () => {
    const runtime = await project.open()
    const { id: sleeping } = await runtime.host.start({ workflowId: 'sleep', input: {} })
    const other = new Database(project.file)
    other.exec('begin immediate')
    project.clock.advance(600_000)
    await runtime.quiet()
    expect((await runtime.host.readiness()).ready).to.equal(false)
    expect((await runtime.host.get('sleep', sleeping))?.status).to.equal('waiting')
    other.exec('rollback')
    other.close()
    project.clock.advance(1000)
    await runtime.quiet()
    project.clock.advance(0)
    await runtime.quiet()
    expect(await runtime.host.get('sleep', sleeping)).to.equal(undefined)
    await runtime.close(0)
  })

  it('a file that is removed while it is open is missed at once; put back, all goes on', async () => {
    const runtime = await project.open()
    renameSync(project.file, `${project.file}.away`)
    const { code, message } = await refusal(runtime.host.start({ workflowId: 'wait', input: {} }))
    expect(code).to.equal('STORE_UNAVAILABLE')
    expect(message).to.contain('was removed or replaced while it was open')
    expect((await runtime.host.readiness()).ready).to.equal(false)
    renameSync(`${project.file}.away`, project.file)
    project.clock.advance(1000)
    await runtime.quiet()
    expect(await runtime.host.readiness()).to.deep.equal({ ready: true })
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    await runtime.close(0)
  })

  it('a file that is removed for good is told until the end, and closing makes no new one', async () => {
    const runtime = await project.open()
    rmSync(project.file)
    expect((await refusal(runtime.host.start({ workflowId: 'wait', input: {} }))).code).to.equal('STORE_UNAVAILABLE')
    project.clock.advance(5000)
    expect((await runtime.host.readiness()).ready).to.equal(false)
    await runtime.close(0)
    expect(existsSync(project.file)).to.equal(false)
  })

  it('a second process cannot take a store over by removing its lock: the first stops writing', async () => {
    const runtime = await project.open()
    rmSync(`${project.file}.lock`)
    const { code, message } = await refusal(runtime.host.start({ workflowId: 'wait', input: {} }))
    expect(code).to.equal('STORE_UNAVAILABLE')
    expect(message).to.contain('.lock was removed or replaced')
    await runtime.close(0)
  })

  it('a file that was emptied or removed beside its log is not taken for a new store', async () => {
    const runtime = await project.open()
    const { id: second } = await runtime.host.start({ workflowId: 'wait', input: {} })
    const left = project.killed()
    projects.push(left)
    await runtime.close(0)
    copyFileSync(left.file, `${left.file}.backup`)
    truncateSync(left.file, 0)
    expect((await refusal(left.open())).message).to.match(/damaged: it is empty, but its log/)
    rmSync(left.file)
    expect((await refusal(left.open())).message).to.match(/damaged: it is gone, but its log/)
    copyFileSync(`${left.file}.backup`, left.file)
    const next = await left.open()
    expect((await next.host.list({ limit: 9 })).instances.map((instance) => instance.id)).to.have.members([id, second])
    await next.close(0)
  })

  it('a file cut at any place is refused by name and left as it is', async () => {
    const whole = readFileSync(project.file)
    for (const size of [1, 15, 99, 100, 4095, 4096, 4097, 8192, Math.floor(whole.length / 2), whole.length - 4096, whole.length - 1]) {
      writeFileSync(project.file, whole.subarray(0, size))
      const { code } = await refusal(project.open())
      expect(code, `cut to ${String(size)} bytes`).to.equal('STORE_UNAVAILABLE')
      expect(readFileSync(project.file).equals(whole.subarray(0, size)), `cut to ${String(size)} bytes`).to.equal(true)
    }
    writeFileSync(project.file, whole)
    const runtime = await project.open()
    expect((await runtime.host.get('wait', id))?.status).to.equal('waiting')
    await runtime.close(0)
  })

  it('a row that is no JSON any more stands still by itself: the others go on', async () => {
    const runtime = await project.open()
    const { id: other } = await runtime.host.start({ workflowId: 'wait', input: {} })
    await runtime.close(0)
    const connection = new Database(project.file)
    connection.exec(`update instance set state = '{"broken' where id = '${id}'`)
    connection.close()
    const next = await project.open()
    expect((await next.host.list({ limit: 9 })).instances.map((instance) => instance.id)).to.have.members([id, other])
    expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [other] })
    expect((await refusal(next.host.abort('wait', id))).code).to.equal('INSTANCE_NOT_FOUND')
    await next.close(0)
  })

  it('a state of a newer release stands still by itself and is kept, the others go on', async () => {
    const runtime = await project.open()
    const { id: other } = await runtime.host.start({ workflowId: 'wait', input: {} })
    await runtime.close(0)
    const connection = new Database(project.file)
    connection.exec(`update instance set state = json_set(state, '$.form', 99) where id = '${id}'`)
    connection.close()
    const next = await project.open()
    expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [other] })
    const { code, message } = await refusal(next.host.get('wait', id))
    expect(code).to.equal('SNAPSHOT_INCOMPATIBLE')
    expect(message).to.contain('form 99')
    expect((await next.host.readiness()).ready).to.equal(true)
    await next.close(0)
  })

  it('an instance whose definition cannot be made any more waits for it, and the others go on', async () => {
    const runtime = await project.open()
    await runtime.close(0)
    const connection = new Database(project.file)
    connection.exec(`update definition set text = 'nothing' where workflow_id = 'wait'`)
    connection.close()
    const next = await project.open({ definitions: [definition('call', [{ name: 'A', type: 'operation', actions: [call()], transition: 'Sleep' }, SLEEP])] })
    expect((await next.host.start({ workflowId: 'call', input: {} })).status).to.equal('waiting')
    expect((await next.host.get('wait', id))?.status).to.equal('waiting')
    expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [] })
    await next.close(0)
  })
})
