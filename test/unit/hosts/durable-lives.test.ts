import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import type { Json } from '../../../lib/common/index.ts'
import { createDurableProject, type DurableProject } from '../../support/durable-runtime.ts'
import { call, definition, event, SLEEP, WAIT } from './durable-definitions.ts'

const HOUR = 3_600_000

describe('hosts: instances that outlive the process', () => {
  let project: DurableProject
  const given = async (...definitions: { uri: string; document: Json }[]): Promise<void> => { project = await createDurableProject({ definitions, settings: { 'sonatina.instances.retention': 'P1D' } }) }
  afterEach(() => project.remove())

  it('fire a timer that became due while the process was down at once, a later one at its instant', async () => {
    await given(definition('sleep', [SLEEP]))
    let runtime = await project.open()
    const first = await runtime.host.start({ workflowId: 'sleep', input: {} })
    await runtime.close(0)
    project.clock.advance(HOUR)
    runtime = await project.open()
    project.clock.advance(0)
    await runtime.quiet()
    project.clock.advance(0)
    await runtime.quiet()
    expect((await runtime.host.find('sleep', first.id))?.status).to.equal('completed')
    const second = await runtime.host.start({ workflowId: 'sleep', input: {} })
    await runtime.close(0)
    project.clock.advance(5 * 60_000)
    runtime = await project.open()
    project.clock.advance(5 * 60_000 - 1)
    await runtime.quiet()
    expect((await runtime.host.find('sleep', second.id))?.status).to.equal('waiting')
    project.clock.advance(1)
    await runtime.quiet()
    expect((await runtime.host.find('sleep', second.id))?.status).to.equal('completed')
    await runtime.close(0)
  })

  it('keep the new instant of a timer that was moved', async () => {
    await given(definition('sleep', [SLEEP]))
    let runtime = await project.open()
    const { id, waitingFor } = await runtime.host.start({ workflowId: 'sleep', input: {} })
    const dueAt = project.clock.now() + 2 * HOUR
    await runtime.host.reschedule('sleep', id, waitingFor?.[0]?.nodeInstanceId ?? '', dueAt)
    await runtime.close(0)
    runtime = await project.open()
    expect((await runtime.host.get('sleep', id))?.waitingFor?.[0]?.dueAt).to.equal(dueAt)
    project.clock.moveTo(dueAt - 1)
    await runtime.quiet()
    expect((await runtime.host.get('sleep', id))?.status).to.equal('waiting')
    project.clock.moveTo(dueAt)
    await runtime.quiet()
    expect(await runtime.host.get('sleep', id)).to.equal(undefined)
    await runtime.close(0)
  })

  it('take a repeated event once over restarts, and send what they produce with one id', async () => {
    await given(definition('wait', [
      { name: 'First', type: 'inject', data: {}, transition: 'Wait' },
      { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], transition: 'More' },
      { ...WAIT, name: 'More' },
    ]))
    let runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'wait', input: {} })
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    await runtime.close(0)
    runtime = await project.open()
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [] })
    expect((await runtime.host.get('wait', id))?.status).to.equal('waiting')
    expect(await runtime.host.deliver(event('go', 'a', 'another'))).to.deep.equal({ instances: [id] })
    await runtime.close(0)
    expect(project.events).to.have.length(1)
    expect(project.events[0]?.type).to.equal('done')
  })

  it('carry out a call again that was under way, with the key and the arguments it had', async () => {
    const branches = [
      { name: 'slow', actions: [call({ arguments: { n: '${ .n }' } })] },
      { name: 'change', actions: [{ functionRef: 'set' }] },
    ]
    await given(definition('calls', [{ name: 'Both', type: 'parallel', branches, transition: 'Sleep' }, SLEEP], {
      functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }, { name: 'set', type: 'expression', operation: '.n = 2' }],
    }))
    const seen: { key: string; n: Json }[] = []
    let runtime = await project.open({
      call: ({ arguments: args, context }) => {
        seen.push({ key: context.idempotencyKey, n: (args as { n: Json }).n })
        return new Promise(() => undefined)
      },
    })
    const { id } = await runtime.host.start({ workflowId: 'calls', input: { n: 1 }, respondAsync: true })
    while (seen.length === 0) await new Promise((resolve) => { setImmediate(resolve) })
    await runtime.close(0)
    runtime = await project.open({
      call: ({ arguments: args, context }) => {
        seen.push({ key: context.idempotencyKey, n: (args as { n: Json }).n })
        return { output: 'done' }
      },
    })
    await runtime.quiet()
    expect(seen).to.deep.equal([{ key: seen[0]?.key, n: 1 }, { key: seen[0]?.key, n: 1 }])
    expect((await runtime.host.get('calls', id))?.data).to.deep.equal({ n: 2, answer: 'done' })
    await runtime.close(0)
  })

  it('keep the definition they started with, whatever is served now', async () => {
    await given(definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT]))
    let runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'wait', input: {} })
    await runtime.close(0)
    runtime = await project.open({ definitions: [definition('wait', [{ name: 'Other', type: 'inject', data: { other: true }, end: true }])] })
    expect((await runtime.host.start({ workflowId: 'wait', input: {} })).data).to.deep.equal({ other: true })
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [id] })
    expect((await runtime.host.find('wait', id))?.data).to.deep.equal({ go: { order: 'a' } })
    await runtime.close(0)
  })

  it('rebuild sub-flows and their parents', async () => {
    await given(
      definition('parent', [{ name: 'Sub', type: 'operation', actions: [{ subFlowRef: 'child', actionDataFilter: { toStateData: '.child' } }], end: true }]),
      definition('child', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT]),
    )
    let runtime = await project.open()
    const parent = await runtime.host.start({ workflowId: 'parent', input: { p: 1 } })
    const [child] = (await runtime.host.list({ workflowId: 'child', limit: 1 })).instances
    expect(parent.waitingFor?.[0]).to.include({ kind: 'subflow' })
    await runtime.close(0)
    runtime = await project.open()
    expect(await runtime.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [child?.id] })
    await runtime.quiet()
    expect((await runtime.host.find('parent', parent.id))?.data).to.deep.equal({ p: 1, child: { p: 1, go: { order: 'a' } } })
    await runtime.close(0)
  })

  it('abort the sub-flow of an aborted parent', async () => {
    await given(
      definition('parent', [{ name: 'Sub', type: 'operation', actions: [{ subFlowRef: 'child' }], end: true }]),
      definition('child', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT]),
    )
    const runtime = await project.open()
    const parent = await runtime.host.start({ workflowId: 'parent', input: {} })
    await runtime.host.abort('parent', parent.id)
    await runtime.quiet()
    expect((await runtime.host.list({ status: ['active', 'waiting'], limit: 9 })).instances).to.deep.equal([])
    await runtime.close(0)
  })

  it('gather the events that start them over a restart', async () => {
    await given(definition('pair', [
      { name: 'Both', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['One'], eventDataFilter: { toStateData: '.one' } }, { eventRefs: ['Two'], eventDataFilter: { toStateData: '.two' } }], transition: 'Sleep' },
      SLEEP,
    ]))
    let runtime = await project.open()
    expect(await runtime.host.deliver(event('one', 'a'))).to.deep.equal({ instances: [] })
    expect(await runtime.host.deliver(event('one', 'a'))).to.deep.equal({ instances: [] })
    await runtime.close(0)
    runtime = await project.open()
    await runtime.quiet()
    const { instances } = await runtime.host.deliver(event('two', 'a'))
    expect(instances).to.have.length(1)
    expect((await runtime.host.get('pair', instances[0] ?? ''))?.data).to.deep.equal({ one: { order: 'a' }, two: { order: 'a' } })
    expect(await runtime.host.deliver(event('two', 'a'))).to.deep.equal({ instances: [] })
    await runtime.close(0)
  })

  it('answer a repeated start after a restart with the first instance', async () => {
    await given(definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT]))
    const request = { workflowId: 'wait', input: { n: 1 }, idempotencyKey: 'k' }
    let runtime = await project.open()
    const { id } = await runtime.host.start(request)
    await runtime.close(0)
    runtime = await project.open()
    expect((await runtime.host.start(request)).id).to.equal(id)
    await runtime.host.deliver(event('go', 'a'))
    await runtime.close(0)
    runtime = await project.open()
    expect(await runtime.host.start(request)).to.include({ id, status: 'completed' })
    await runtime.close(0)
  })

  it('start a missed schedule once, and the next at its instant', async () => {
    await given(definition('tick', [{ name: 'A', type: 'operation', actions: [call()], end: true }], { start: { stateName: 'A', schedule: { interval: 'R/PT1H' } } as Json }))
    let runtime = await project.open()
    project.clock.advance(HOUR)
    await runtime.quiet()
    expect(project.calls).to.have.length(1)
    await runtime.close(0)
    project.clock.advance(5.5 * HOUR)
    runtime = await project.open()
    project.clock.advance(0)
    await runtime.quiet()
    expect(project.calls).to.have.length(2)
    project.clock.advance(HOUR / 2)
    await runtime.quiet()
    expect(project.calls).to.have.length(3)
    await runtime.close(0)
  })

  it('keep their history, and write headers only where that is asked for', async () => {
    await given(definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT]))
    const headers = { authorization: 'Bearer very-secret', 'x-kept': 'yes' }
    let runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'wait', input: {}, headers })
    await runtime.close(0)
    expect(/very-secret|x-kept/.test(readFileSync(project.file, 'latin1'))).to.equal(false)
    runtime = await project.open({ settings: { 'sonatina.persistence.headers.enabled': 'true', 'sonatina.persistence.headers.excluded': 'Authorization' } })
    expect((await runtime.host.history('wait', id)).map(({ type }) => type)).to.deep.equal(['started', 'stateEntered', 'stateEntered'])
    expect((await runtime.host.history('wait', id)).map(({ sequence }) => sequence)).to.deep.equal([0, 1, 2])
    await runtime.host.start({ workflowId: 'wait', input: {}, headers })
    await runtime.close(0)
    expect(readFileSync(project.file, 'latin1')).to.contain('x-kept')
    expect(readFileSync(project.file, 'latin1')).not.to.contain('very-secret')
  })

  // Between its last step and the commit that writes it an instance is still in memory.
  it('refuse a change that comes right after their end, before it is written', async () => {
    await given(definition('sleep', [SLEEP]))
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'sleep', input: {} })
    const outcomes = await Promise.all([
      runtime.host.mergeData('sleep', id, { first: true }),
      runtime.host.abort('sleep', id),
      runtime.host.mergeData('sleep', id, { late: true }),
      runtime.host.replaceData('sleep', id, { late: true }),
      runtime.host.abort('sleep', id),
    ].map((each) => each.then(({ status }) => status, (error: unknown) => (error as { code: string }).code)))
    expect(outcomes).to.deep.equal(['aborted', 'aborted', 'INSTANCE_NOT_FOUND', 'INSTANCE_NOT_FOUND', 'INSTANCE_NOT_FOUND'])
    expect((await runtime.host.find('sleep', id))?.data).to.deep.equal({ first: true })
    await runtime.close(0)
  })
})
