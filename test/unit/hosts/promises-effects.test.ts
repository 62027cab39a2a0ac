import { expect } from 'chai'
import { resolve } from 'node:path'
import type { Json } from '../../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../../lib/functions/index.ts'
import { createDurableProject, type DurableProject } from '../../support/durable-runtime.ts'
import { call, definition, event, FIRST, SLEEP, until, WAIT } from './durable-definitions.ts'

interface Call {
  readonly key: string
  readonly arguments: Json
  readonly answer: (result: FunctionResult) => void
}

/** A function whose calls are answered by the test, whenever it likes. */
function slowFunction(): { readonly calls: Call[]; readonly call: (given: FunctionCall) => Promise<FunctionResult> } {
  const calls: Call[] = []
  return {
    calls,
    call: ({ arguments: args, context }) => new Promise((resolve) => { calls.push({ key: context.idempotencyKey, arguments: args ?? null, answer: resolve }) }),
  }
}

describe('durability, promise "effect in flight at the kill"', () => {
  let projects: DurableProject[] = []
  const given = async (...definitions: { uri: string; document: Json }[]): Promise<DurableProject> => {
    const project = await createDurableProject({ definitions, settings: { 'sonatina.instances.retention': 'P1D' } })
    projects = [project]
    return project
  }
  const killed = (project: DurableProject): DurableProject => {
    const successor = project.killed()
    projects.push(successor)
    return successor
  }
  afterEach(() => Promise.all(projects.map((project) => project.remove())))

  it('runs again with the same idempotency key and arguments, once more for each kill', async () => {
    let project = await given(definition('calls', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { n: '${ .n }' } })], transition: 'Sleep' }, SLEEP]))
    const seen: Call[] = []
    for (let kills = 0; kills < 3; kills += 1) {
      const slow = slowFunction()
      const runtime = await project.open({ call: slow.call })
      if (kills === 0) void runtime.host.start({ workflowId: 'calls', input: { n: 1 } }).catch(() => undefined)
      await until(() => slow.calls.length > 0)
      seen.push(...slow.calls)
      const successor = killed(project)
      await runtime.close(0)
      project = successor
    }
    const runtime = await project.open({ call: ({ context }) => { seen.push({ key: context.idempotencyKey, arguments: { n: 1 }, answer: () => undefined }); return { output: 'late' } } })
    await runtime.quiet()
    expect(seen.map(({ key, arguments: args }) => ({ key, args }))).to.deep.equal(Array.from({ length: 4 }, () => ({ key: seen[0]?.key, args: { n: 1 } })))
    expect((await runtime.host.list({ limit: 9 })).instances.map(({ data, status }) => ({ data, status }))).to.deep.equal([{ data: { n: 1, answer: 'late' }, status: 'waiting' }])
    await runtime.close(0)
  })

  it('goes on with its history, whose last steps stand in the row of an instance that calls', async () => {
    const project = await given(definition('calls', [{ name: 'Call', type: 'operation', actions: [call()], transition: 'Sleep' }, SLEEP]))
    const slow = slowFunction()
    const runtime = await project.open({ call: slow.call })
    const { id } = await runtime.host.start({ workflowId: 'calls', input: {}, respondAsync: true })
    await until(() => slow.calls.length === 1)
    const before = await runtime.host.history('calls', id)
    expect(before.map(({ type }) => type)).to.deep.equal(['started', 'stateEntered', 'actionStarted'])
    const successor = killed(project)
    await runtime.close(0)
    const next = await successor.open({ call: () => ({ output: 'done' }) })
    await next.quiet()
    const after = await next.host.history('calls', id)
    expect(after.slice(0, before.length)).to.deep.equal(before)
    expect(after.map(({ sequence }) => sequence)).to.deep.equal(after.map((_, index) => index))
    expect(after.map(({ type }) => type)).to.deep.equal(['started', 'stateEntered', 'actionStarted', 'actionCompleted', 'stateEntered'])
    await next.close(0)
  })

  it('needs no commit of its own where the class says that a method changes nothing outside', async () => {
    const inputs = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10' }
    const pure = { functionRef: { refName: 'check', arguments: inputs }, actionDataFilter: { toStateData: '.check' } }
    const document = definition('checks', [{ name: 'Check', type: 'operation', actions: [pure, call()], transition: 'Sleep' }, SLEEP], {
      functions: [{ name: 'check', type: 'custom', operation: 'service:ExchangeWorkflowHelper::validateInputs' }, { name: 'call', type: 'custom', operation: 'suite:call' }],
    })
    const project = await given(document)
    const points: string[] = []
    const runtime = await project.open({
      settings: { 'sonatina.host-classes': resolve('workflows/exchange-workflow-helper.ts') },
      crashPoint: (point) => { points.push(point) },
    })
    const { data } = await runtime.host.start({ workflowId: 'checks', input: {} })
    expect(data).to.deep.equal({ check: {}, answer: { called: 1 } })
    // One before the other call, one before the answer.
    expect(points.filter((point) => point === 'after-commit' || point === 'before-effect')).to.deep.equal(['after-commit', 'before-effect', 'after-commit'])
    await runtime.close(0)
  })

  it('ignores the first result when it comes after the node was run again', async () => {
    const project = await given(definition('calls', [{ name: 'Call', type: 'operation', actions: [call()], transition: 'Sleep' }, SLEEP]))
    const slow = slowFunction()
    const runtime = await project.open({ call: slow.call })
    const { id } = await runtime.host.start({ workflowId: 'calls', input: {}, respondAsync: true })
    await until(() => slow.calls.length === 1)
    const node = (await runtime.host.get('calls', id))?.waitingFor?.[0]?.nodeInstanceId ?? ''
    const again = runtime.host.retriggerNode('calls', id, node)
    await until(() => slow.calls.length === 2)
    expect(slow.calls[1]?.key).to.equal(slow.calls[0]?.key)
    slow.calls[0]?.answer({ output: 'first' })
    await new Promise((resolve) => { setImmediate(resolve) })
    expect((await runtime.host.get('calls', id))?.status).to.equal('active')
    slow.calls[1]?.answer({ output: 'second' })
    expect((await again).data).to.deep.equal({ answer: 'second' })
    await runtime.close(0)
  })

  it('ignores the result of a call that a failing store made it give up', async () => {
    const project = await given(definition('calls', [
      { name: 'Both', type: 'parallel', branches: [{ name: 'a', actions: [call({ arguments: { n: 1 } })] }, { name: 'b', actions: [{ functionRef: { refName: 'call', arguments: { n: 2 } } }] }], transition: 'Sleep' },
      SLEEP,
    ]))
    let isFull = false
    const slow = slowFunction()
    const runtime = await project.open({
      call: slow.call,
      crashPoint: (point) => { if (isFull && (point === 'write:instance' || point === 'write:passing')) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }) },
    })
    const { id } = await runtime.host.start({ workflowId: 'calls', input: {}, respondAsync: true })
    await until(() => slow.calls.length === 2)
    isFull = true
    slow.calls[1]?.answer({ output: {} })
    await until(() => slow.calls.length === 2)
    await runtime.quiet().catch(() => undefined)
    expect((await runtime.host.readiness()).ready).to.equal(false)
    slow.calls[0]?.answer({ output: 'first' })
    isFull = false
    project.clock.advance(1000)
    await until(() => slow.calls.length === 4)
    expect(slow.calls.slice(2).map(({ key }) => key).sort()).to.deep.equal(slow.calls.slice(0, 2).map(({ key }) => key).sort())
    slow.calls.slice(2).forEach(({ answer }, index) => { answer({ output: `again ${String(index)}` }) })
    await runtime.quiet()
    expect((await runtime.host.get('calls', id))?.data).to.have.property('answer', 'again 0')
    await runtime.close(0)
  })
})

describe('durability, promise "killed: no transition lost or applied twice"', () => {
  const projects: DurableProject[] = []
  const keep = (project: DurableProject): DurableProject => { projects.push(project); return project }
  afterEach(() => Promise.all(projects.splice(0).map((project) => project.remove())))

  it('continues from the last committed step at whatever turn the process ends', async () => {
    const states = ['A', 'B', 'C'].map((name, index, all) => ({
      name,
      type: 'operation',
      actions: [{ functionRef: { refName: 'call', arguments: { name } }, actionDataFilter: { useResults: false } }, { functionRef: 'count' }],
      transition: all[index + 1] ?? 'Wait',
    }))
    const more = { functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }, { name: 'count', type: 'expression', operation: '.count = (.count // 0) + 1' }] }
    for (let at = 1; at <= 4; at += 1) {
      const project = keep(await createDurableProject({ definitions: [definition('steps', [...states, WAIT], more)], settings: { 'sonatina.instances.retention': 'P1D' } }))
      let commits = 0
      let image: DurableProject | undefined
      const runtime = await project.open({ crashPoint: (point) => { if (point === 'after-commit' && ++commits === at) image = project.killed() } })
      await runtime.host.start({ workflowId: 'steps', input: { order: 'a' } })
      await runtime.close(0)
      if (image === undefined) throw new Error(`there were only ${String(commits)} commits`)
      const successor = keep(image)
      const next = await successor.open()
      await next.quiet()
      const [instance] = (await next.host.list({ limit: 9 })).instances
      expect(instance?.data, `after commit ${String(at)}`).to.deep.equal({ order: 'a', count: 3 })
      expect(await next.host.deliver(event('go', 'a'))).to.deep.equal({ instances: [instance?.id] })
      expect((await next.host.find('steps', instance?.id ?? ''))?.status).to.equal('completed')
      await next.close(0)
    }
  })

  it('gives every instance of a store back its data when there are many', async () => {
    const project = keep(await createDurableProject({ definitions: [definition('wait', [FIRST, WAIT])], settings: { 'sonatina.instances.retention': 'P1D' } }))
    const runtime = await project.open()
    const orders = Array.from({ length: 300 }, (_, index) => `o${String(index)}`)
    const started = await Promise.all(orders.map((order) => runtime.host.start({ workflowId: 'wait', input: { order } })))
    const successor = keep(project.killed())
    await runtime.close(0)
    const next = await successor.open()
    const taken = await Promise.all(orders.map((order) => next.host.deliver(event('go', order))))
    // Without a value for the correlation yet, each takes the first event that comes: together they take each one once.
    expect(new Set(taken.flatMap(({ instances }) => instances))).to.deep.equal(new Set(started.map(({ id }) => id)))
    await next.close(0)
  })
})
