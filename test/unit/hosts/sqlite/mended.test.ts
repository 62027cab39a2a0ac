import { expect } from 'chai'
import type { FunctionResult } from '../../../../lib/functions/index.ts'
import type { Host } from '../../../../lib/hosts/index.ts'
import type { Runtime } from '../../../../lib/runtime-options.ts'
import { createDurableProject, type DurableProject, type ProjectOptions } from '../../../support/durable-runtime.ts'
import { BROKEN, codeOf, createHeldDisk, type HeldDisk, iterations, leftovers, microtasks, rest, sent } from '../../../support/held-disk.ts'
import { call, definition, event, FIRST, SLEEP, until, WAIT } from '../durable-definitions.ts'

const FULL = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
const WAITER = definition('wait', [FIRST, WAIT])
const CALL = { name: 'Call', type: 'operation', actions: [call()] }

describe('hosts: sqlite, a store that failed and is mended', () => {
  let project: DurableProject
  let runtime: Runtime
  let host: Host
  let disk: HeldDisk
  let isFull: boolean
  let answers: ((result: FunctionResult) => void)[]

  beforeEach(() => {
    isFull = false
    answers = []
    disk = createHeldDisk()
  })
  afterEach(() => {
    disk.restore()
    return project.remove()
  })

  async function open(definitions: ProjectOptions['definitions'] & object): Promise<void> {
    project = await createDurableProject({ definitions, settings: { 'sonatina.store': 'sqlite' } })
    runtime = await project.open({
      call: () => new Promise((resolve) => { answers.push(resolve) }),
      crashPoint: (point) => { if (isFull && point.startsWith('write:')) throw FULL },
    })
    host = runtime.host
  }

  /** The store fails for a moment while an instance calls; gives the id of the instance. */
  async function failWhileCalling(workflowId: string): Promise<string> {
    const { id } = await host.start({ workflowId, input: { order: 'a' }, respondAsync: true })
    await until(() => answers.length === 1)
    isFull = true
    expect(await codeOf(host.start({ workflowId: 'wait', input: { order: 'other' } }))).to.equal('STORE_UNAVAILABLE')
    isFull = false
    expect((await host.readiness()).ready).to.equal(false)
    return id
  }

  async function mend(): Promise<void> {
    project.clock.advance(1000)
    await iterations()
    await disk.release()
    await rest(runtime)
    expect((await host.readiness()).ready).to.equal(true)
  }

  const listed = async (): Promise<readonly unknown[]> => (await host.list({ limit: 9 })).instances.map(({ workflowId, status }) => [workflowId, status])

  // The turn after the call comes long before the store is mended, or in the same turn of the event loop.
  const moments: Readonly<Record<string, () => Promise<void>>> = {
    'while it failed': () => iterations(),
    'while it failed, on a disk that has not answered when it is mended': () => {
      disk.hold()
      return iterations()
    },
    'when it was mended': () => microtasks(),
  }
  for (const [moment, pass] of Object.entries(moments)) {
    describe(`and a call was answered ${moment}`, () => {
      it('a sub-flow that follows begins, once', async () => {
        await open([WAITER, definition('parent', [{ ...CALL, transition: 'Child' }, { name: 'Child', type: 'operation', actions: [{ subFlowRef: 'wait' }], end: true }])])
        await failWhileCalling('parent')
        answers[0]?.({ output: 1 })
        await pass()
        await mend()
        expect(await listed()).to.deep.equal([['wait', 'waiting'], ['parent', 'waiting']])
        await host.deliver(event('go', 'a'))
        await rest(runtime)
        expect(sent(project)).to.deep.equal(['wait done'])
        expect(leftovers(project)).to.deep.equal({})
        await runtime.close(0)
      })

      it('an instance that continues as another is followed by one', async () => {
        await open([WAITER, definition('from', [{ ...CALL, end: { continueAs: 'wait' } }])])
        await failWhileCalling('from')
        answers[0]?.({ output: 1 })
        await pass()
        await mend()
        expect(await listed()).to.deep.equal([['wait', 'waiting']])
        await host.deliver(event('go', 'a'))
        await rest(runtime)
        expect(sent(project)).to.deep.equal(['wait done'])
        expect(leftovers(project)).to.deep.equal({})
        await runtime.close(0)
      })

      it('a gathering of events goes on', async () => {
        await open([WAITER, definition('slow', [{ ...CALL, transition: 'Sleep' }, SLEEP]),
          definition('gather', [{ name: 'Gather', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['One', 'Two'] }], transition: 'Sleep' }, SLEEP])])
        expect((await host.deliver(event('one', 'a'))).instances).to.deep.equal([])
        await failWhileCalling('slow')
        answers[0]?.({ output: 1 })
        await pass()
        project.clock.advance(1000)
        // It is mended, and has not taken up what it holds.
        const delivered = host.deliver(event('two', 'a'))
        await mend()
        expect(await listed()).to.have.deep.members([['gather', 'waiting'], ['slow', 'waiting']])
        expect((await host.list({ limit: 9, workflowId: 'gather' })).instances.map(({ id }) => id)).to.deep.equal((await delivered).instances)
        expect(leftovers(project)).to.deep.equal({ instance: 2, timer: 2, history: 2 })
        await runtime.close(0)
      })

      it('an event that is produced then goes out once, and does not end the process', async () => {
        await open([WAITER, definition('order', [{ ...CALL, end: { produceEvents: [{ eventRef: 'Done', data: '.' }] } }])])
        await failWhileCalling('order')
        answers[0]?.({ output: 1 })
        // A rejection that nobody takes fails the test.
        await pass()
        await mend()
        expect(sent(project)).to.deep.equal(['order done'])
        expect(leftovers(project)).to.deep.equal({})
        await runtime.close(0)
      })
    })
  }

  it('a key that has started something is refused while it fails, and answered when it is mended', async () => {
    await open([WAITER])
    disk.hold()
    const request = { workflowId: 'wait', input: { order: 'a' }, idempotencyKey: 'key' }
    const first = codeOf(host.start(request))
    await until(() => disk.asked === 1)
    disk.answer(BROKEN)
    expect([await first, await codeOf(host.start(request))]).to.deep.equal(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'])
    project.clock.advance(1000)
    await disk.release()
    await rest(runtime)
    const { id, status } = await host.start(request)
    expect(status).to.equal('waiting')
    expect((await host.list({ limit: 9 })).instances.map((instance) => instance.id)).to.deep.equal([id])
    await runtime.close(0)
  })
})
