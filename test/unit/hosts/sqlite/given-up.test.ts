import { expect } from 'chai'
import type { Json } from '../../../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../../../lib/functions/index.ts'
import type { Host } from '../../../../lib/hosts/index.ts'
import type { Runtime } from '../../../../lib/runtime-options.ts'
import { createDurableProject, type DurableProject, type ProjectOptions } from '../../../support/durable-runtime.ts'
import { createHeldDisk, type HeldDisk, iterations, leftovers, rest, select, sent, TOGETHER } from '../../../support/held-disk.ts'
import { call, definition, event, FIRST, SLEEP, until, WAIT } from '../durable-definitions.ts'

const TWO = { name: 'Two', type: 'event', onEvents: [{ eventRefs: ['Two'] }], end: true }
const CHILD = definition('child', [FIRST, WAIT])
const SUBFLOW = { name: 'Child', type: 'operation', actions: [{ subFlowRef: 'child' }], end: true }
const PARENT = definition('parent', [SUBFLOW])
const ORDER = definition('order', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { order: '${ .order }' } })], end: true }])
/** Ends its sub-flow with itself. */
const MASTER = definition('master', [
  { name: 'Start', type: 'operation', actions: [{ subFlowRef: { workflowId: 'child', invoke: 'async', onParentComplete: 'terminate' } }], transition: 'Two' }, TWO,
])
const CHILD_OF_TWO_STEPS = definition('child', [{ name: 'First', type: 'inject', data: {}, transition: 'One' }, { name: 'One', type: 'event', onEvents: [{ eventRefs: ['One'] }], transition: 'Wait' }, WAIT])
const COMPENSATED = definition('child', [
  { name: 'Do', type: 'operation', actions: [call({ arguments: { order: 'do' } })], compensatedBy: 'Undo', transition: 'One' },
  { name: 'One', type: 'event', onEvents: [{ eventRefs: ['One'] }], transition: 'Two' }, TWO,
  { name: 'Undo', type: 'operation', usedForCompensation: true, actions: [call({ arguments: { order: 'undo' } })] },
])

describe('hosts: sqlite, a sub-flow that is given up', () => {
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

  /** Starts an instance, and waits until it and its sub-flow wait; gives the ids of both. */
  async function begin(workflowId: string): Promise<{ id: string; child: string }> {
    const { id } = await host.start({ workflowId, input: { order: 'a' }, respondAsync: true })
    await rest(runtime)
    const [child, ...others] = (await host.list({ limit: 9, workflowId: 'child', status: ['waiting'] })).instances
    expect(others).to.deep.equal([])
    return { id, child: child!.id }
  }

  const take = (type: string) => async (): Promise<readonly string[]> => (await host.deliver(event(type, 'a'))).instances
  const abort = (id: string) => async (): Promise<string> => (await host.abort('parent', id)).status

  it('by an abort of its parent leaves nothing', async () => {
    await open([CHILD, PARENT])
    const { id } = await begin('parent')
    expect(await abort(id)()).to.equal('aborted')
    await rest(runtime)
    expect(leftovers(project)).to.deep.equal({})
    expect(await take('go')()).to.deep.equal([])
    expect(sent(project)).to.deep.equal([])
    await runtime.close(0)
  })

  it('when the time of a state is over leaves nothing', async () => {
    await open([CHILD, definition('parent', [{ ...SUBFLOW, timeouts: { stateExecTimeout: 'PT10S' }, onErrors: [{ errorRef: 'any', end: { produceEvents: [{ eventRef: 'Done', data: '.' }] } }] }], { errors: [{ name: 'any', code: '*' }] })])
    await begin('parent')
    project.clock.advance(9999)
    await rest(runtime)
    expect(sent(project)).to.deep.equal([])
    project.clock.advance(1)
    await rest(runtime)
    expect(sent(project)).to.deep.equal(['parent done'])
    expect(leftovers(project)).to.deep.equal({})
    expect(await take('go')()).to.deep.equal([])
    await runtime.close(0)
  })

  for (const [way, together] of Object.entries(TOGETHER)) {
    describe(`with another thing ${way}`, () => {
      it('that is its own end leaves nothing', async () => {
        await open([CHILD, MASTER, ORDER])
        const { id, child } = await begin('master')
        expect(await together({ disk, host }, take('go'), take('two'))).to.deep.equal([[child], [id]])
        await rest(runtime)
        expect(sent(project)).to.deep.equal(['child done'])
        await runtime.close(0)
        expect(leftovers(project)).to.deep.equal({})
      })

      it('that is a step of its own leaves nothing', async () => {
        await open([CHILD_OF_TWO_STEPS, PARENT, ORDER])
        const { id, child } = await begin('parent')
        expect(await together({ disk, host }, take('one'), abort(id))).to.deep.equal([[child], 'aborted'])
        await rest(runtime)
        expect(sent(project)).to.deep.equal([])
        await runtime.close(0)
        expect(leftovers(project)).to.deep.equal({})
      })
    })
  }

  for (const moves of [false, true]) {
    it(`is compensated by the next process${moves ? ', also when it moved in the commit that gave it up' : ''}`, async () => {
      const made: Json[] = []
      const toDo = ({ arguments: given = null }: FunctionCall): FunctionResult | Promise<FunctionResult> => {
        made.push(given)
        return (given as { order: string }).order === 'undo' ? new Promise(() => undefined) : { output: 1 }
      }
      await open([COMPENSATED, PARENT, ORDER], { call: toDo })
      const { id, child } = await begin('parent')
      const step = moves ? take('one') : () => Promise.resolve([])
      expect(await TOGETHER['in one commit']({ disk, host }, step, abort(id))).to.deep.equal([moves ? [child] : [], 'aborted'])
      expect(made).to.deep.equal(['do', 'other', 'undo'].map((order) => ({ order })))
      const next = project.killed()
      projects.push(next)
      const continued = await next.open()
      await rest(continued)
      expect(next.calls).to.deep.equal([{ order: 'undo' }])
      expect(leftovers(next)).to.deep.equal({})
      await continued.close(0)
      await runtime.close(0)
    })
  }

  it('by a close amid a long queue, at its end, is not run again', async function () {
    this.timeout(60_000)
    const answers: ((result: FunctionResult) => void)[] = []
    const quick = definition('child', [{ name: 'Call', type: 'operation', actions: [call()], end: true }])
    const branches = [{ name: 'sub', actions: [{ subFlowRef: 'child' }] }, { name: 'event', actions: [{ eventRef: { triggerEventRef: 'Done', resultEventRef: 'Two' } }] }]
    await open([quick, definition('parent', [{ name: 'Both', type: 'parallel', branches, transition: 'Sleep' }, SLEEP])], { call: () => new Promise((resolve) => { answers.push(resolve) }) })
    // More than the queue does in a row.
    const count = 1100
    const started = Array.from({ length: count }, () => host.start({ workflowId: 'parent', input: { order: 'a' } }))
    await until(() => answers.length === count)
    await iterations()
    disk.hold()
    for (const answer of answers) answer({ output: 1 })
    await until(() => disk.asked === 1)
    const delivered = host.deliver(event('two', 'a'))
    await iterations(10)
    disk.answer()
    await runtime.close(0)
    await disk.release()
    expect((await delivered).instances).to.have.length(count)
    expect(new Set((await Promise.allSettled(started)).map(({ status }) => status))).to.deep.equal(new Set(['fulfilled']))
    ;({ host } = runtime = await project.open())
    await rest(runtime)
    expect(project.calls).to.deep.equal([])
    expect(select(project, 'select workflow_id, status, count(*) as rows from instance group by 1, 2')).to.deep.equal([{ workflow_id: 'parent', status: 'waiting', rows: count }])
    await runtime.close(0)
  })
})

describe('hosts: sqlite, texts that a database could cut short or change', () => {
  let project: DurableProject

  beforeEach(async () => {
    const [again, sleep] = ['Again', 'Sleep'].map((transition) => ({ type: 'event', onEvents: [{ eventRefs: ['Go'] }], transition }))
    project = await createDurableProject({
      definitions: [definition('twice', [FIRST, { name: 'Wait', ...again }, { name: 'Again', ...sleep }, SLEEP])],
      settings: { 'sonatina.store': 'sqlite' },
    })
  })
  afterEach(() => project.remove())

  // The last differs from the one before only behind the character.
  for (const [name, odd, other] of [['NUL', 'a\u0000b', 'a\u0000c'], ['lone surrogate', 'a\ud800b', 'a\ud800c']] as const) {
    it(`an event whose id has a ${name} is applied once, by the next process, too`, async () => {
      const runtime = await project.open()
      const { id } = await runtime.host.start({ workflowId: 'twice', input: { order: 'a' } })
      expect((await runtime.host.deliver(event('go', 'a', odd))).instances).to.deep.equal([id])
      expect((await runtime.host.deliver(event('go', 'a', odd))).instances).to.deep.equal([])
      await runtime.close(0)
      const next = await project.open()
      expect((await next.host.deliver(event('go', 'a', odd))).instances).to.deep.equal([])
      expect((await next.host.deliver(event('go', 'a', other))).instances).to.deep.equal([id])
      await next.close(0)
    })

    it(`a correlation value with a ${name} finds its instance, and no other does, also in the next process`, async () => {
      const runtime = await project.open()
      const { id } = await runtime.host.start({ workflowId: 'twice', input: { order: 'a' } })
      expect((await runtime.host.deliver(event('go', odd, '1'))).instances).to.deep.equal([id])
      expect((await runtime.host.deliver(event('go', other, '2'))).instances).to.deep.equal([])
      await runtime.close(0)
      const next = await project.open()
      expect((await next.host.deliver(event('go', other, '2'))).instances).to.deep.equal([])
      expect((await next.host.deliver(event('go', odd, '2'))).instances).to.deep.equal([id])
      await next.close(0)
    })

    it(`a key and a business key with a ${name} are found again by the next process`, async () => {
      const runtime = await project.open()
      const request = { workflowId: 'twice', input: { order: 'a' } }
      const { id } = await runtime.host.start({ ...request, idempotencyKey: odd, businessKey: odd })
      await runtime.close(0)
      const next = await project.open()
      expect((await next.host.start({ ...request, idempotencyKey: odd })).id).to.equal(id)
      expect((await next.host.start({ ...request, idempotencyKey: other })).id).to.not.equal(id)
      const found = [odd, other].map(async (businessKey) => (await next.host.list({ limit: 9, businessKey })).instances.map((instance) => instance.id))
      expect(await Promise.all(found)).to.deep.equal([[id], []])
      await next.close(0)
    })
  }
})
