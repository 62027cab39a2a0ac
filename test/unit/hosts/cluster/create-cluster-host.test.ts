import { expect } from 'chai'
import type { Json } from '../../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../../lib/events/index.ts'
import { ownerOf } from '../../../../lib/hosts/cluster/index.ts'
import type { Runtime } from '../../../../lib/runtime-options.ts'
import { linkAll } from '../../../support/cluster-links.ts'
import { createDurableProject, type DurableProject } from '../../../support/durable-runtime.ts'

const COUNT = 4

function definition(id: string, body: Readonly<Record<string, Json>>): { uri: string; document: Json } {
  return { uri: `${id}.sw.json`, document: { id, version: '1', specVersion: '0.8', ...body } }
}

const wait = (name: string): Json => ({ name, type: 'event', onEvents: [{ eventRefs: ['go'] }], end: true })

const DEFINITIONS = [
  ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => definition(`begun-${id}`, {
    events: [{ name: 'begin', type: 'begin', source: 'test' }],
    states: [{ name: 'Begin', type: 'event', onEvents: [{ eventRefs: ['begin'], actions: [{ functionRef: { refName: 'call', arguments: { id } } }] }], end: true }],
    functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
  })),
  definition('waiting', {
    start: 'First',
    events: [{ name: 'go', type: 'go', source: 'test', correlation: [{ contextAttributeName: 'order' }] }],
    states: [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, wait('Wait')],
  }),
  definition('any', { start: 'First', events: [{ name: 'go', type: 'go', source: 'test' }], states: [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, wait('Wait')] }),
  definition('teller', {
    events: [{ name: 'begin', type: 'begin', source: 'test', kind: 'produced' }],
    states: [{ name: 'Tell', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'begin' }] } }],
  }),
  definition('scheduled', {
    start: { stateName: 'Call', schedule: 'R/PT10S' },
    functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
    states: [{ name: 'Call', type: 'operation', actions: [{ functionRef: { refName: 'call', arguments: { id: 'scheduled' } } }], end: true }],
  }),
]

const event = (type: string, more: Readonly<Record<string, Json>> = {}): CloudEventRecord => ({ specversion: '1.0', id: `${type}-1`, source: 'test', type, ...more })

describe('hosts: cluster', () => {
  let project: DurableProject
  let runtimes: readonly Runtime[]
  beforeEach(async () => {
    project = await createDurableProject({ definitions: DEFINITIONS, settings: { 'sonatina.store': 'memory' } })
    runtimes = await Promise.all(linkAll(COUNT).map((cluster) => project.open({ cluster })))
  })
  afterEach(async () => {
    await Promise.all(runtimes.map((runtime) => runtime.close(0)))
    await project.remove()
  })
  const member = (index: number): Runtime => runtimes[index % COUNT]!
  const quiet = async (): Promise<void> => { for (let round = 0; round < 3; round += 1) for (const runtime of runtimes) await runtime.quiet() }

  it('gives instances ids that tell their process, and spreads definitions', async () => {
    for (let slot = 0; slot < COUNT; slot += 1) {
      const { id } = await member(slot).host.start({ workflowId: 'waiting', input: {} })
      expect(ownerOf(id, COUNT)).to.equal(slot)
    }
    expect(new Set(Array.from({ length: 100 }, (_, index) => ownerOf(`workflow-${String(index)}`, COUNT))).size).to.equal(COUNT)
  })

  it('lists the instances of all, newest first, page by page', async () => {
    const ids: string[] = []
    for (let index = 0; index < 10; index += 1) {
      ids.unshift((await member(index).host.start({ workflowId: 'waiting', input: {} })).id)
      project.clock.advance(1000)
    }
    const found: string[] = []
    let cursor: string | undefined
    let asked = 0
    do {
      const page = await member(asked++).host.list({ workflowId: 'waiting', limit: 3, ...(cursor === undefined ? {} : { cursor }) })
      found.push(...page.instances.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(found).to.deep.equal(ids)
  })

  it('begins each definition once for an event, whoever receives it', async () => {
    const { instances } = await member(2).host.deliver(event('begin'))
    await quiet()
    expect(instances).to.have.length(6)
    expect(project.calls.map((call) => (call as { id: string }).id).sort()).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('begins definitions by events that an instance of another process produces', async () => {
    await member(1).host.start({ workflowId: 'teller', input: {} })
    await quiet()
    expect(project.calls).to.have.length(6)
  })

  it('gives an event to who asks for just this one, before those that take any', async () => {
    const first = await member(0).host.start({ workflowId: 'waiting', input: {} })
    expect((await member(3).host.deliver(event('go', { order: '17' }))).instances, 'without a value yet, it takes any').to.deep.equal([first.id])
    const any = await member(1).host.start({ workflowId: 'any', input: {} })
    expect((await member(2).host.deliver(event('go'))).instances).to.deep.equal([any.id])
    expect((await member(2).host.deliver(event('go'))).instances).to.deep.equal([])
  })

  it('starts once for an idempotency key, whoever is asked', async () => {
    const records = await Promise.all([0, 1, 2, 3].map((slot) => member(slot).host.start({ workflowId: 'waiting', input: {}, idempotencyKey: 'k' })))
    expect(new Set(records.map(({ id }) => id)).size).to.equal(1)
  })

  it('keeps a schedule in one process', async () => {
    project.clock.advance(10_000)
    await quiet()
    expect(project.calls).to.deep.equal([{ id: 'scheduled' }])
  })

  // One that computes without an end answers nobody, and would keep everybody who asks all.
  it('waits only so long for a look at what another process has', async () => {
    const [first, second] = linkAll(2)
    const silent = { ...second!, serve() { second!.serve(() => new Promise<never>(() => undefined)) } }
    const pair = await Promise.all([first!, silent].map((cluster) => project.open({ cluster })))
    runtimes = [...runtimes, ...pair]
    const { host } = pair[0]!
    const theirs = ['a', 'b', 'c', 'd'].find((id) => ownerOf(id, 2) === 1)!
    const looks = [host.list({ limit: 9 }), host.get('waiting', theirs), host.find('waiting', theirs), host.history('waiting', theirs), host.deliver(event('go', { order: '1' }))]
    const outcomes = Promise.all(looks.map((look) => look.then(() => 'answered', (error: unknown) => (error as { code: string }).code)))
    project.clock.advance(10_000)
    expect(await outcomes).to.deep.equal(Array(5).fill('HOST_BUSY'))
  })

  it('passes errors on as they are', async () => {
    const { id } = await member(0).host.start({ workflowId: 'waiting', input: {} })
    for (const { host } of runtimes) {
      const caught = await host.retrigger('waiting', id).catch((error: unknown) => error)
      expect(caught).to.include({ name: 'InstanceError', code: 'INSTANCE_NOT_FAILED' })
    }
  })
})
