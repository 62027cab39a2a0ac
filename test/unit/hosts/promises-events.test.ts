import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import { createDurableProject, type DurableProject, type ProjectOptions } from '../../support/durable-runtime.ts'
import { call, definition, event, FIRST, SLEEP, until, WAIT } from './durable-definitions.ts'

const HOUR = 3_600_000
const projects: DurableProject[] = []

async function given(definitions: readonly { uri: string; document: Json }[], settings: ProjectOptions['settings'] = {}): Promise<DurableProject> {
  const project = await createDurableProject({ definitions, settings: { 'sonatina.instances.retention': 'P10D', ...settings } })
  projects.push(project)
  return project
}

function killed(project: DurableProject): DurableProject {
  const successor = project.killed()
  projects.push(successor)
  return successor
}

async function removeAll(): Promise<void> {
  await Promise.all(projects.splice(0).map((project) => project.remove()))
}

const TWICE = definition('twice', [FIRST, { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], transition: 'More' }, { ...WAIT, name: 'More' }])
const BEGUN = definition('begun', [{ name: 'Begin', type: 'event', onEvents: [{ eventRefs: ['Go'] }], transition: 'Sleep' }, SLEEP])

describe('durability, promise "the same event n times is applied once"', () => {
  afterEach(removeAll)

  it('holds at once, in one tick, and after a kill', async () => {
    const project = await given([TWICE])
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'twice', input: {} })
    const together = await Promise.all(Array.from({ length: 5 }, () => runtime.host.deliver(event('go', 'a'))))
    expect(together.flatMap(({ instances }) => instances)).to.deep.equal([id])
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open()
    expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [] })
    expect((await next.host.get('twice', id))?.waitingFor?.[0]?.nodeId).to.equal('More')
    await next.close(0)
  })

  it('holds for the instances that an event starts', async () => {
    const project = await given([BEGUN])
    const runtime = await project.open()
    const together = await Promise.all(Array.from({ length: 5 }, () => runtime.host.deliver(event('go', 'a'))))
    expect(together.flatMap(({ instances }) => instances)).to.have.length(1)
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open()
    expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [] })
    expect((await next.host.list({ limit: 9 })).instances).to.have.length(1)
    await next.close(0)
  })

  it('holds for the time of sonatina.store.inbox-retention, and no longer', async () => {
    const project = await given([BEGUN], { 'sonatina.store.inbox-retention': 'PT1H' })
    const runtime = await project.open()
    await runtime.host.deliver(event('go', 'a'))
    project.clock.advance(HOUR - 1)
    await runtime.quiet()
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [] })
    project.clock.advance(2)
    await runtime.host.deliver(event('go', 'another'))
    project.clock.advance(60_000)
    await runtime.host.deliver(event('go', 'third'))
    expect((await runtime.host.deliver(event('go', 'a'))).instances).to.have.length(1)
    await runtime.close(0)
  })

  it('tells two events of one id apart by their source', async () => {
    const project = await given([definition('twice', [FIRST, { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], transition: 'More' }, { ...WAIT, name: 'More' }], {
      events: [{ name: 'Go', type: 'go' }, { name: 'Done', type: 'done', kind: 'produced', source: 'twice' }],
    })], { 'sonatina.profile': 'sonataflow' })
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'twice', input: {} })
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    expect(await runtime.host.deliver({ ...event('go', 'a'), source: 'other' })).to.deep.equal({ instances: [id] })
    await runtime.close(0)
  })
})

describe('durability, promise "event for an instance being started, or between two saves: never lost"', () => {
  afterEach(removeAll)

  it('reaches an instance whose start is not written yet, and is in the commit that writes it', async () => {
    const project = await given([definition('wait', [FIRST, WAIT])])
    const runtime = await project.open()
    const starting = runtime.host.start({ workflowId: 'wait', input: {} })
    const delivering = runtime.host.deliver(event('go', 'a'))
    const [{ id }, delivery] = await Promise.all([starting, delivering])
    const successor = killed(project)
    expect(delivery).to.deep.equal({ instances: [id] })
    await runtime.close(0)
    const next = await successor.open()
    expect((await next.host.find('wait', id))?.data).to.deep.equal({ go: { order: 'a' } })
    await next.close(0)
  })

  it('is answered only once it is committed: an answered event survives a kill, one that is not answered may be sent again', async () => {
    for (const point of ['before-commit', 'after-commit'] as const) {
      const project = await given([TWICE])
      let image: DurableProject | undefined
      let isArmed = false
      const runtime = await project.open({ crashPoint: (passed) => { if (isArmed && passed === point) image ??= killed(project) } })
      const { id } = await runtime.host.start({ workflowId: 'twice', input: {} })
      isArmed = true
      await runtime.host.deliver(event('go', 'a'))
      if (image === undefined) throw new Error('there was no commit')
      const successor = image
      await runtime.close(0)
      const next = await successor.open()
      expect((await next.host.deliver(event('go', 'a'))).instances, point).to.deep.equal(point === 'before-commit' ? [id] : [])
      expect((await next.host.get('twice', id))?.waitingFor?.[0]?.nodeId, point).to.equal('More')
      await next.close(0)
    }
  })

  it('reaches a callback whose action is still under way, and holds over a kill', async () => {
    const project = await given([definition('back', [
      { name: 'Back', type: 'callback', action: call(), eventRef: 'Go', eventDataFilter: { toStateData: '.go' }, transition: 'Sleep' },
      SLEEP,
    ])])
    let calls = 0
    const runtime = await project.open({ call: () => { calls += 1; return new Promise(() => undefined) } })
    const { id } = await runtime.host.start({ workflowId: 'back', input: {}, respondAsync: true })
    await until(() => calls === 1)
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open({ call: () => ({ output: 'called' }) })
    await next.quiet()
    expect((await next.host.get('back', id))?.data).to.have.deep.property('go', { order: 'a' })
    expect((await next.host.get('back', id))?.waitingFor?.[0]?.nodeId).to.equal('Sleep')
    await next.close(0)
  })

  it('reaches instances that two events move within one commit, each in its order', async () => {
    const project = await given([TWICE])
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'twice', input: {} })
    await Promise.all([runtime.host.deliver(event('go', 'a', '1')), runtime.host.deliver(event('go', 'a', '2'))])
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open()
    expect(await next.host.find('twice', id)).to.include({ status: 'completed' })
    await next.close(0)
  })
})

describe('durability, promise "produced events: exactly once per step into the outbox, at least once out, always with the same id"', () => {
  afterEach(removeAll)

  it('holds at every point at which the process that sends may end', async () => {
    for (const point of ['write:outbox', 'before-commit', 'after-commit', 'before-answer'] as const) {
      const project = await given([definition('wait', [FIRST, WAIT])])
      let image: DurableProject | undefined
      let isArmed = false
      const runtime = await project.open({ crashPoint: (passed) => { if (isArmed && passed === point) image ??= killed(project) } })
      const { id } = await runtime.host.start({ workflowId: 'wait', input: {} })
      isArmed = true
      await runtime.host.deliver(event('go', 'a'))
      await runtime.quiet()
      if (image === undefined) throw new Error(`the point ${point} was not passed`)
      const successor = image
      await runtime.close(0)
      const next = await successor.open()
      await next.host.deliver(event('go', 'a'))
      await next.quiet()
      const ids = [...project.events, ...successor.events].map(({ id: given }) => given)
      expect(new Set(ids).size, point).to.equal(1)
      expect(successor.events, `${point}: sent by the one that goes on`).to.have.length(1)
      expect((await next.host.find('wait', id))?.status).to.equal('completed')
      await next.close(0)
    }
  })

  it('are not sent again once that they have arrived is written', async () => {
    const project = await given([definition('wait', [FIRST, WAIT])])
    const runtime = await project.open()
    await runtime.host.start({ workflowId: 'wait', input: {} })
    await runtime.host.deliver(event('go', 'a'))
    await runtime.quiet()
    await runtime.host.list({ limit: 1 })
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open()
    await next.quiet()
    expect(project.events).to.have.length(1)
    expect(successor.events).to.deep.equal([])
    await next.close(0)
  })
})
