import { expect } from 'chai'
import fs from 'node:fs'
import type { FunctionResult } from '../../../../lib/functions/index.ts'
import type { Host } from '../../../../lib/hosts/index.ts'
import { createDurableProject, type DurableProject } from '../../../support/durable-runtime.ts'
import { BROKEN, createHeldDisk, type HeldDisk, isSettled, iterations, passing } from '../../../support/held-disk.ts'
import { call, definition, event, FIRST, until, WAIT } from '../durable-definitions.ts'

describe('hosts: sqlite, while the disk works', () => {
  let project: DurableProject
  let disk: HeldDisk
  const { fdatasyncSync } = fs

  beforeEach(async () => {
    project = await createDurableProject({
      definitions: [
        definition('order', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { order: '${ .order }' } })], end: true }]),
        definition('wait', [FIRST, WAIT]),
        definition('parent', [{ name: 'Child', type: 'operation', actions: [{ subFlowRef: 'wait' }], end: true }]),
        definition('both', [{
          name: 'Both',
          type: 'parallel',
          branches: [
            { name: 'one', actions: [{ subFlowRef: 'wait' }] },
            { name: 'two', actions: [call(), { subFlowRef: 'wait' }] },
          ],
          end: true,
        }]),
      ],
      settings: { 'sonatina.store': 'sqlite' },
    })
    disk = createHeldDisk()
    disk.hold()
  })
  afterEach(async () => {
    disk.restore()
    Object.assign(fs, { fdatasyncSync })
    await project.remove()
  })

  /** Starts an order, and lets the disk answer until its end is to be confirmed; gives its id. */
  async function end(host: Host): Promise<string> {
    const started = host.start({ workflowId: 'order', input: { order: 'a' }, respondAsync: true })
    await until(() => disk.asked === 1)
    disk.answer()
    const { id } = await started
    await until(() => disk.asked === 1)
    return id
  }

  it('it is asked for the log of the store', async () => {
    const runtime = await project.open()
    const started = runtime.host.start({ workflowId: 'wait', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    expect(fs.fstatSync(disk.descriptor ?? -1).ino).to.equal(fs.statSync(`${project.file}-wal`).ino)
    disk.answer()
    await started
    await runtime.close(0)
  })

  it('nothing of a turn has an effect, and nobody is answered, before it has answered', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'order', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    expect(await isSettled(started)).to.equal(false)
    expect(project.calls).to.deep.equal([])
    disk.answer()
    await until(() => disk.asked === 1)
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    expect(await isSettled(started)).to.equal(false)
    disk.answer()
    expect((await started).status).to.equal('completed')
    await runtime.close(0)
  })

  it('the process goes on, and what it brings is one commit', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const first = host.start({ workflowId: 'wait', input: { order: 'first' } })
    await until(() => disk.asked === 1)
    const others = ['a', 'b', 'c'].map((order) => host.start({ workflowId: 'wait', input: { order } }))
    await iterations()
    expect(disk.asked).to.equal(1)
    disk.answer()
    expect((await first).status).to.equal('waiting')
    await until(() => disk.asked === 1)
    expect(await Promise.all(others.map(isSettled))).to.deep.equal([false, false, false])
    disk.answer()
    expect((await Promise.all(others)).map(({ status }) => status)).to.deep.equal(['waiting', 'waiting', 'waiting'])
    expect(disk.asked).to.equal(0)
    await runtime.close(0)
  })

  it('an event for an instance that is being written is applied once, and carried out after it is written itself', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'wait', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    const deliveries = [host.deliver(event('go', 'a')), host.deliver(event('go', 'a'))]
    disk.answer()
    await until(() => disk.asked === 1)
    expect(project.events).to.deep.equal([])
    expect(await isSettled(started)).to.equal(false)
    const late = host.deliver(event('go', 'a'))
    disk.answer()
    await iterations()
    while (disk.asked > 0) { disk.answer(); await iterations() }
    const { id } = await started
    expect((await Promise.all(deliveries)).map(({ instances }) => instances)).to.deep.equal([[id], []])
    expect((await late).instances).to.deep.equal([])
    expect(project.events.map(({ type }) => type)).to.deep.equal(['done'])
    await runtime.close(0)
  })

  it('an operator who comes to an instance whose end is being written finds none', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const id = await end(host)
    const aborted = host.abort('order', id).catch((error: unknown) => error as { code: string })
    expect(await isSettled(aborted)).to.equal(false)
    disk.answer()
    expect(await aborted).to.have.property('code', 'INSTANCE_NOT_FOUND')
    expect(disk.asked).to.equal(0)
    await runtime.close(0)
  })

  it('whoever asks for an instance whose end is being written waits, too', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const id = await end(host)
    const reads = [host.get('order', id), host.find('order', id), host.history('order', id)]
    expect(await Promise.all(reads.map(isSettled))).to.deep.equal([false, false, false])
    disk.answer()
    expect(await Promise.all(reads)).to.deep.equal([undefined, undefined, []])
    await runtime.close(0)
  })

  it('a caller is not answered while a branch beside the one that waits has moved on', async () => {
    let answerCall: ((result: FunctionResult) => void) | undefined
    const runtime = await project.open({ call: () => new Promise((resolve) => { answerCall = resolve }) })
    const { host } = runtime
    const started = host.start({ workflowId: 'both', input: {} })
    await until(() => disk.asked === 1)
    disk.answer()
    // The first sub-flow is being written; the second branch goes on.
    await until(() => disk.asked === 1)
    answerCall?.({ output: 1 })
    await iterations()
    disk.answer()
    expect(await isSettled(started)).to.equal(false)
    await until(() => disk.asked === 1)
    disk.answer()
    await until(() => disk.asked === 1)
    disk.answer()
    const { waitingFor } = await started
    expect(waitingFor?.map(({ kind }) => kind)).to.deep.equal(['subflow', 'subflow'])
    await runtime.close(0)
  })

  it('what was not carried out before the close is carried out by the next process', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'parent', input: {}, respondAsync: true })
    await until(() => disk.asked === 1)
    const { id } = passing(project)
    const changed = host.mergeData('parent', id, { more: true })
    await iterations(2)
    await runtime.close(0)
    await Promise.all([started, changed])
    disk.restore()
    Object.assign(fs, { fdatasyncSync })
    const next = await project.open()
    await next.quiet()
    const { instances } = await next.host.list({ limit: 9 })
    expect(instances.map(({ workflowId, status }) => [workflowId, status])).to.have.deep.members([['parent', 'waiting'], ['wait', 'waiting']])
    expect(instances.find((instance) => instance.id === id)?.data).to.deep.equal({ more: true })
    await next.close(0)
  })

  it('with `NORMAL` nobody waits for it', async () => {
    const runtime = await project.open({ settings: { 'sonatina.store': 'sqlite', 'sonatina.store.sqlite.synchronous': 'NORMAL' } })
    expect((await runtime.host.start({ workflowId: 'order', input: { order: 'a' } })).status).to.equal('completed')
    expect(disk.asked).to.equal(0)
    await runtime.close(0)
  })

  it('when it fails for an end, the caller is told that it was one', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'order', input: { order: 'a' } }).catch((error: unknown) => error as { code: string; message: string })
    await until(() => disk.asked === 1)
    disk.answer()
    await until(() => disk.asked === 1)
    disk.answer(BROKEN)
    const refused = await started
    expect(refused).to.include({ code: 'STORE_UNAVAILABLE' })
    expect('message' in refused && refused.message).to.match(/^Instance \S+ has ended, and its result could not be kept: do not start it again\. /)
    project.clock.advance(1000)
    await runtime.quiet()
    expect((await host.readiness()).ready).to.equal(true)
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    await runtime.close(0)
  })

  it('after it failed what the log holds is written anew before anything else is taken for safe', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'wait', input: { order: 'a' } }).catch((error: unknown) => error)
    await until(() => disk.asked === 1)
    expect(fs.statSync(`${project.file}-wal`).size).to.be.greaterThan(0)
    disk.answer(BROKEN)
    expect(await started).to.include({ code: 'STORE_UNAVAILABLE' })
    project.clock.advance(1000)
    await runtime.quiet()
    expect(fs.statSync(`${project.file}-wal`).size).to.equal(0)
    expect((await host.list({ limit: 9 })).instances.map(({ status }) => status)).to.deep.equal(['waiting'])
    expect((await host.readiness()).ready).to.equal(true)
    await runtime.close(0)
  })

  it('a disk that fails refuses those that wait, and all goes on from what is stored when it works again', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const started = host.start({ workflowId: 'order', input: { order: 'a' } }).catch((error: unknown) => error as { code: string; message: string; details: { processInstanceId: string } })
    await until(() => disk.asked === 1)
    disk.answer(BROKEN)
    const refused = await started
    expect(refused).to.include({ code: 'STORE_UNAVAILABLE' })
    expect((await host.readiness()).ready).to.equal(false)
    expect(project.calls).to.deep.equal([])
    expect(await host.start({ workflowId: 'order', input: { order: 'b' } }).catch((error: unknown) => error)).to.have.property('code', 'STORE_UNAVAILABLE')
    project.clock.advance(1000)
    for (let rounds = 0; rounds < 50 && (project.calls.length === 0 || disk.asked > 0); rounds += 1) {
      disk.answer()
      await iterations(5)
    }
    expect((await host.readiness()).ready).to.equal(true)
    // It was committed, so it had begun; its caller was told that it goes on.
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    expect('details' in refused && refused.details.processInstanceId).to.be.a('string')
    expect((await host.list({ limit: 9 })).instances).to.deep.equal([])
    await runtime.close(0)
  })

  it('closing brings everything to the disk itself', async () => {
    const runtime = await project.open()
    const { host } = runtime
    const syncs: number[] = []
    fs.fdatasyncSync = (descriptor: number) => { syncs.push(descriptor) }
    const started = host.start({ workflowId: 'wait', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    const later = host.start({ workflowId: 'wait', input: { order: 'b' } })
    await iterations(2)
    await runtime.close(0)
    expect((await started).status).to.equal('waiting')
    expect((await later).status).to.equal('waiting')
    expect(syncs).to.have.length(2)
    // The disk may answer after that.
    disk.answer()
    await iterations()
    disk.restore()
    Object.assign(fs, { fdatasyncSync })
    const next = await project.open()
    expect((await next.host.list({ limit: 9 })).instances).to.have.length(2)
    await next.close(0)
  })
})
