import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import { createDurableProject, type DurableProject } from '../../support/durable-runtime.ts'
import { createSteppingClock } from '../../support/stepping-clock.ts'
import { call, definition, SLEEP } from './durable-definitions.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('durability, promise "timer due while down: at once after start, never early"', () => {
  const projects: DurableProject[] = []
  const given = async (...definitions: { uri: string; document: Json }[]): Promise<DurableProject> => {
    const project = await createDurableProject({ definitions, settings: { 'sonatina.instances.retention': 'P10D' } })
    projects.push(project)
    return project
  }
  const killed = (project: DurableProject): DurableProject => {
    const successor = project.killed()
    projects.push(successor)
    return successor
  }
  afterEach(() => Promise.all(projects.splice(0).map((project) => project.remove())))

  it('holds for one hour of downtime across many due instants: those fire at once and in order, the others at theirs', async () => {
    const minutes = [5, 20, 59, 60, 61, 90]
    const project = await given(...minutes.map((n) => definition(`sleep-${String(n)}`, [
      { name: 'Sleep', type: 'sleep', duration: `PT${String(n)}M`, transition: 'Call' },
      { name: 'Call', type: 'operation', actions: [call({ arguments: { n } })], end: true },
    ])))
    const runtime = await project.open()
    const started = await Promise.all(minutes.map((n) => runtime.host.start({ workflowId: `sleep-${String(n)}`, input: {} })))
    const from = project.clock.now()
    const successor = killed(project)
    await runtime.close(0)
    successor.clock.advance(HOUR)
    const next = await successor.open()
    successor.clock.advance(0)
    await next.quiet()
    expect(successor.calls).to.deep.equal([{ n: 5 }, { n: 20 }, { n: 59 }, { n: 60 }])
    for (const n of [61, 90]) {
      successor.clock.moveTo(from + n * MINUTE - 1)
      await next.quiet()
      expect(successor.calls).to.not.deep.include({ n })
      successor.clock.moveTo(from + n * MINUTE)
      await next.quiet()
      expect(successor.calls.at(-1)).to.deep.equal({ n })
    }
    for (const { id, workflowId } of started) expect((await next.host.find(workflowId, id))?.status).to.equal('completed')
    expect(successor.calls).to.have.length(minutes.length)
    await next.close(0)
  })

  it('holds for timeouts of events and for retries', async () => {
    const project = await given(
      definition('timeout', [
        { name: 'First', type: 'inject', data: {}, transition: 'Wait' },
        { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], timeouts: { eventTimeout: 'PT30M' }, end: true },
      ]),
      definition('retry', [
        { name: 'Try', type: 'operation', actions: [{ functionRef: { refName: 'call', arguments: { fail: '${ .fail }' } }, retryRef: 'later' }], end: true },
      ], { autoRetries: true, retries: [{ name: 'later', delay: 'PT30M', maxAttempts: 5 }] }),
    )
    const runtime = await project.open()
    const timeout = await runtime.host.start({ workflowId: 'timeout', input: {} })
    const retry = await runtime.host.start({ workflowId: 'retry', input: { fail: true } })
    expect(retry.waitingFor?.[0]).to.include({ kind: 'timer', timer: 'retry' })
    await runtime.host.mergeData('retry', retry.id, { fail: false })
    const successor = killed(project)
    await runtime.close(0)
    successor.clock.advance(30 * MINUTE - 1)
    const next = await successor.open()
    await next.quiet()
    expect((await next.host.get('timeout', timeout.id))?.status).to.equal('waiting')
    expect((await next.host.get('retry', retry.id))?.status).to.equal('waiting')
    successor.clock.advance(1)
    await next.quiet()
    expect((await next.host.find('timeout', timeout.id))?.status).to.not.equal('waiting')
    expect((await next.host.find('retry', retry.id))?.status).to.equal('completed')
    await next.close(0)
  })

  it('holds when the clock is set back while a timer runs: it waits for its instant and fires once', async () => {
    const project = await given(definition('sleep', [{ name: 'Sleep', type: 'sleep', duration: 'PT10M', transition: 'Call' }, { name: 'Call', type: 'operation', actions: [call()], end: true }]))
    const clock = createSteppingClock(project.clock.now())
    let runtime = await project.open({ clock })
    const { id } = await runtime.host.start({ workflowId: 'sleep', input: {} })
    clock.advance(9 * MINUTE)
    clock.step(-5 * MINUTE)
    clock.advance(MINUTE)
    await runtime.quiet()
    expect((await runtime.host.get('sleep', id))?.status, 'ten minutes have passed, but the clock shows five').to.equal('waiting')
    clock.advance(5 * MINUTE)
    await runtime.quiet()
    expect(project.calls).to.have.length(1)
    clock.step(-10 * MINUTE)
    clock.advance(20 * MINUTE)
    await runtime.quiet()
    await runtime.close(0)
    clock.step(-HOUR)
    runtime = await project.open({ clock })
    clock.advance(2 * HOUR)
    await runtime.quiet()
    expect(project.calls).to.have.length(1)
    expect((await runtime.host.find('sleep', id))?.status).to.equal('completed')
    await runtime.close(0)
  })

  it('holds when the clock is set forward: what became due by that fires when the next process starts', async () => {
    const project = await given(definition('sleep', [SLEEP]))
    const clock = createSteppingClock(project.clock.now())
    let runtime = await project.open({ clock })
    const { id } = await runtime.host.start({ workflowId: 'sleep', input: {} })
    await runtime.close(0)
    clock.step(HOUR)
    runtime = await project.open({ clock })
    clock.advance(0)
    await runtime.quiet()
    expect((await runtime.host.find('sleep', id))?.status).to.equal('completed')
    await runtime.close(0)
  })

  it('holds for a schedule: the clock set back, while it runs or while it is down, starts nothing twice', async () => {
    const project = await given(definition('tick', [{ name: 'A', type: 'operation', actions: [call()], end: true }], { start: { stateName: 'A', schedule: { interval: 'R/PT1H' } } as Json }))
    const clock = createSteppingClock(project.clock.now())
    let runtime = await project.open({ clock })
    clock.advance(HOUR)
    await runtime.quiet()
    expect(project.calls).to.have.length(1)
    clock.step(-30 * MINUTE)
    clock.advance(40 * MINUTE)
    await runtime.quiet()
    expect(project.calls, 'the hour has come a second time').to.have.length(1)
    await runtime.close(0)
    clock.step(-30 * MINUTE)
    runtime = await project.open({ clock })
    clock.advance(40 * MINUTE)
    await runtime.quiet()
    expect(project.calls, 'and a third time after a restart').to.have.length(1)
    clock.advance(50 * MINUTE)
    await runtime.quiet()
    expect(project.calls).to.have.length(2)
    await runtime.close(0)
  })
})
