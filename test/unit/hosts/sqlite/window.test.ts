import { expect } from 'chai'
import type { Host, InstanceRecord } from '../../../../lib/hosts/index.ts'
import type { Runtime } from '../../../../lib/runtime-options.ts'
import { createDurableProject, type DurableProject, type ProjectOptions } from '../../../support/durable-runtime.ts'
import { createHeldDisk, type HeldDisk, isSettled, iterations, leftovers, passing, rest, select, sent, TOGETHER } from '../../../support/held-disk.ts'
import { call, definition, event, FIRST, SLEEP, until, WAIT } from '../durable-definitions.ts'

const CHILD = definition('child', [FIRST, WAIT])
const PARENT = definition('parent', [{ name: 'Child', type: 'operation', actions: [{ subFlowRef: 'child' }], end: true }])
const ORDER = definition('order', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { order: '${ .order }' } })], end: true }])
/** Waits for its sub-flow and, in another branch, for an event. */
const BOTH = definition('both', [{
  name: 'Both',
  type: 'parallel',
  branches: [{ name: 'sub', actions: [{ subFlowRef: 'child' }] }, { name: 'event', actions: [{ eventRef: { triggerEventRef: 'Done', resultEventRef: 'Two' } }] }],
  end: true,
}])

describe('hosts: sqlite, between a commit and the answer of the disk', () => {
  let projects: DurableProject[]
  let project: DurableProject
  let runtime: Runtime
  let host: Host
  let disk: HeldDisk

  beforeEach(() => {
    projects = []
    disk = createHeldDisk()
  })
  afterEach(async () => {
    disk.restore()
    await Promise.all(projects.map((each) => each.remove()))
  })

  async function open(definitions: ProjectOptions['definitions'] & object, options: ProjectOptions = {}): Promise<void> {
    project = await createDurableProject({ definitions, settings: { 'sonatina.store': 'sqlite' } })
    projects.push(project)
    runtime = await project.open(options)
    host = runtime.host
  }

  /** Starts an instance, and waits until it and its sub-flows wait. */
  async function begin(workflowId: string): Promise<string> {
    const { id } = await host.start({ workflowId, input: { order: 'a' }, respondAsync: true })
    await rest(runtime)
    return id
  }

  const idOf = async (workflowId: string): Promise<string> => (await host.list({ limit: 1, workflowId })).instances[0]!.id
  const statusOf = async (record: Promise<InstanceRecord>): Promise<string> => (await record).status
  const listed = async (): Promise<readonly unknown[]> => (await host.list({ limit: 9 })).instances.map(({ workflowId, status }) => [workflowId, status])
  const take = (type: string) => async (): Promise<readonly string[]> => (await host.deliver(event(type, 'a'))).instances

  for (const [way, together] of Object.entries(TOGETHER)) {
    describe(`two things ${way}`, () => {
      it('the end of a sub-flow, and its parent moves: the end has its effects', async () => {
        await open([CHILD, BOTH, ORDER])
        const id = await begin('both')
        const child = await idOf('child')
        expect(await together({ disk, host }, take('go'), take('two'))).to.deep.equal([[child], [id]])
        await rest(runtime)
        expect(sent(project)).to.deep.equal(['both done', 'child done'])
        await runtime.close(0)
        expect(leftovers(project)).to.deep.equal({})
      })

      it('an abort of a sub-flow, and its parent moves: the operator is answered', async () => {
        await open([CHILD, BOTH, ORDER])
        const id = await begin('both')
        const child = await idOf('child')
        expect(await together({ disk, host }, () => statusOf(host.abort('child', child)), take('two'))).to.deep.equal(['aborted', [id]])
        await rest(runtime)
        expect(sent(project)).to.deep.equal(['both done'])
        expect(await listed()).to.deep.equal([['both', 'error']])
        await runtime.close(0)
      })
    })
  }

  it('a sub-flow that was asked for, and not begun when the host closes, is begun once by the next process', async () => {
    await open([CHILD, PARENT])
    disk.hold()
    const started = host.start({ workflowId: 'parent', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    const { id } = passing(project)
    const changed = host.replaceData('parent', id, { order: 'b' })
    await iterations()
    await runtime.close(0)
    expect(await Promise.all([started, changed].map(statusOf))).to.deep.equal(['waiting', 'waiting'])
    await disk.release()
    ;({ host } = runtime = await project.open())
    await rest(runtime)
    expect(await listed()).to.deep.equal([['child', 'waiting'], ['parent', 'waiting']])
    await host.deliver(event('go', 'a'))
    await rest(runtime)
    expect(sent(project)).to.deep.equal(['child done'])
    expect(leftovers(project)).to.deep.equal({})
    await runtime.close(0)
  })

  it('a sub-flow that is run again before it began runs once', async () => {
    await open([CHILD, PARENT])
    disk.hold()
    const started = host.start({ workflowId: 'parent', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    const { id, waitingFor } = passing(project)
    const again = host.retriggerNode('parent', id, waitingFor[0]!.nodeInstanceId)
    await iterations()
    await disk.release()
    expect(await Promise.all([started, again].map(statusOf))).to.deep.equal(['waiting', 'waiting'])
    expect(await listed()).to.deep.equal([['child', 'waiting'], ['parent', 'waiting']])
    await host.deliver(event('go', 'a'))
    await rest(runtime)
    expect(sent(project)).to.deep.equal(['child done'])
    expect(leftovers(project)).to.deep.equal({})
    await runtime.close(0)
  })

  it('a call that is run again before it began is made once', async () => {
    await open([ORDER])
    disk.hold()
    const started = host.start({ workflowId: 'order', input: { order: 'a' } })
    await until(() => disk.asked === 1)
    const { id, waitingFor } = passing(project)
    const again = host.retriggerNode('order', id, waitingFor[0]!.nodeInstanceId)
    await iterations()
    await disk.release()
    expect(await Promise.all([started, again].map(statusOf))).to.deep.equal(['completed', 'completed'])
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    expect(leftovers(project)).to.deep.equal({})
    await runtime.close(0)
  })

  it('the limit of an answer passes: nobody is answered before the disk has', async () => {
    await open([CHILD])
    disk.hold()
    const started = host.start({ workflowId: 'child', input: { order: 'a' }, answerTimeout: 500 })
    await until(() => disk.asked === 1)
    project.clock.advance(1000)
    expect(await isSettled(started)).to.equal(false)
    await disk.release()
    expect((await started).status).to.equal('waiting')
    await runtime.close(0)
  })

  it('who starts and does not wait is told what is written, not what came after', async () => {
    await open([CHILD])
    disk.hold()
    const started = host.start({ workflowId: 'child', input: { order: 'a' }, respondAsync: true })
    await until(() => disk.asked === 1)
    const delivered = host.deliver(event('go', 'a'))
    await iterations()
    disk.answer()
    const { id, status } = await started
    const killed = project.killed()
    projects.push(killed)
    expect([status, select(killed, 'select id, status from instance')]).to.deep.equal(['waiting', [{ id, status: 'waiting' }]])
    await disk.release()
    expect((await delivered).instances).to.deep.equal([id])
    await runtime.close(0)
  })

  it('who reads waits, and is told what is written then', async () => {
    await open([CHILD])
    const id = await begin('child')
    disk.hold()
    const replaced = host.replaceData('child', id, { order: 'b' })
    await until(() => disk.asked === 1)
    const reads = [host.get('child', id), host.find('child', id)]
    expect(await Promise.all(reads.map(isSettled))).to.deep.equal([false, false])
    await disk.release()
    expect((await Promise.all(reads)).map((record) => record?.data)).to.deep.equal([{ order: 'b' }, { order: 'b' }])
    expect((await replaced).data).to.deep.equal({ order: 'b' })
    await runtime.close(0)
  })

  it('a timer that was put off does not fire at its old instant', async () => {
    await open([definition('sleep', [SLEEP]), CHILD])
    const { id, waitingFor } = await host.start({ workflowId: 'sleep', input: {} })
    const { nodeInstanceId, dueAt = 0 } = waitingFor![0]!
    disk.hold()
    const other = host.start({ workflowId: 'child', input: {} })
    await until(() => disk.asked === 1)
    const moved = host.reschedule('sleep', id, nodeInstanceId, dueAt + 3_600_000)
    await iterations()
    project.clock.moveTo(dueAt)
    await iterations()
    await disk.release()
    const { status, waitingFor: [timer] = [] } = await moved
    expect([status, timer?.dueAt, (await other).status]).to.deep.equal(['waiting', dueAt + 3_600_000, 'waiting'])
    project.clock.moveTo(dueAt + 3_600_000)
    await rest(runtime)
    expect(await listed()).to.deep.equal([['child', 'waiting']])
    await runtime.close(0)
  })

  it('a second start under a key is not told of an end that is being written', async () => {
    await open([ORDER])
    disk.hold()
    const request = { workflowId: 'order', input: { order: 'a' }, idempotencyKey: 'key' }
    const first = host.start({ ...request, respondAsync: true })
    await until(() => disk.asked === 1)
    disk.answer()
    const { id } = await first
    await until(() => disk.asked === 1)
    const second = host.start(request)
    expect(await isSettled(second)).to.equal(false)
    await disk.release()
    expect(await second).to.include({ id, status: 'completed' })
    expect(project.calls).to.deep.equal([{ order: 'a' }])
    await runtime.close(0)
  })

  it('who closes with time to spare waits for what is about to begin', async () => {
    const called: unknown[] = []
    await open([definition('chain', [{ name: 'Calls', type: 'operation', actions: [call(), call(), call()], transition: 'Sleep' }, SLEEP])], {
      call: async ({ context: { idempotencyKey } }) => {
        called.push(idempotencyKey)
        await iterations(2)
        return { output: called.length }
      },
    })
    disk.hold()
    const started = host.start({ workflowId: 'chain', input: {} })
    await until(() => disk.asked === 1)
    disk.answer()
    await until(() => disk.asked === 1)
    const closed = runtime.close(5000)
    expect(await isSettled(closed)).to.equal(false)
    await disk.release()
    await closed
    expect([(await started).status, called.length]).to.deep.equal(['waiting', 3])
  })
})
