import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'
import type { Host } from '../../../lib/hosts/index.ts'
import type { VirtualClock } from '../../support/clock.ts'

/** A host under test, with what moves its surroundings. */
export interface HostUnderTest {
  readonly host: Host
  readonly clock: VirtualClock
  /** Calls of the function `call`, oldest first. */
  readonly calls: readonly Json[]
  /** Lets everything happen that can without time. */
  quiet(): Promise<void>
  close(): Promise<void>
}

/** What implementations may leave out, each with a reason. */
export interface HostSuiteOptions {
  readonly open: () => Promise<HostUnderTest>
  readonly skips?: Readonly<Record<string, string>>
}

/** Definitions that the suite needs deployed; `call` is a function of type `suite`, which fails when it is told to. */
export const HOST_SUITE_DEFINITIONS: readonly { readonly uri: string; readonly document: Json }[] = [
  definition('echo', [{ name: 'A', type: 'inject', data: { done: true }, end: true }], { dataInputSchema: { schema: { type: 'object', required: ['n'] }, failOnValidationErrors: true } }),
  definition('wait', [
    { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'], eventDataFilter: { toStateData: '.go' } }], transition: 'Sleep' },
    { name: 'Sleep', type: 'sleep', duration: 'PT10S', end: true },
  ], { start: 'First', states: 'Wait' }),
  definition('broken', [
    { name: 'Try', type: 'operation', actions: [{ functionRef: { refName: 'call', arguments: { fail: '${ .fail }' } }, actionDataFilter: { toStateData: '.answer' } }], end: true },
  ]),
]

function definition(id: string, states: readonly Json[], more: Readonly<Record<string, Json>> = {}): { uri: string; document: Json } {
  const first = more['start'] === undefined ? [] : [{ name: 'First', type: 'inject', data: { begun: true }, transition: String(more['states']) }]
  const { start: _, states: __, ...rest } = more
  return {
    uri: `${id}.sw.json`,
    document: {
      id,
      version: '1',
      specVersion: '0.8',
      functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
      events: [{ name: 'Go', type: 'go', source: 'suite', correlation: [{ contextAttributeName: 'order' }] }],
      states: [...first, ...states],
      ...rest,
    },
  }
}

/** Pins the behaviour that every host has (architecture.md, "Effects and hosts"). */
export function hostSuite(name: string, { open, skips = {} }: HostSuiteOptions): void {
  describe(`contract: host ${name}`, () => {
    let subject: HostUnderTest
    beforeEach(async () => { subject = await open() })
    afterEach(() => subject.close())

    const behaves = (title: string, run: () => Promise<void>): void => {
      const reason = skips[title]
      if (reason === undefined) it(title, run)
      else it.skip(`${title} (${reason})`)
    }
    const refusal = async (work: Promise<unknown>): Promise<string> =>
      work.then(() => 'nothing', (error: unknown) => (error as { code?: string }).code ?? String(error))
    const go = (order: string, id = `go-${order}`): CloudEventRecord => ({ specversion: '1.0', id, source: 'suite', type: 'go', order, data: { order } })

    behaves('answers a start with the output', async () => {
      const record = await subject.host.start({ workflowId: 'echo', input: { n: 1 } })
      expect(record).to.include({ workflowId: 'echo', version: '1', status: 'completed' })
      expect(record.data).to.deep.equal({ n: 1, done: true })
      expect(await subject.host.get('echo', record.id)).to.equal(undefined)
    })

    behaves('refuses input that violates the schema, an unknown workflow and an unknown state', async () => {
      expect(await refusal(subject.host.start({ workflowId: 'echo', input: {} }))).to.equal('DATA_INPUT_INVALID')
      expect(await refusal(subject.host.start({ workflowId: 'nothing', input: {} }))).to.equal('DEFINITION_NOT_FOUND')
      expect(await refusal(subject.host.start({ workflowId: 'wait', input: {}, startFrom: 'Nowhere' }))).to.equal('INSTANCE_START_INVALID')
    })

    behaves('keeps a waiting instance, hands it its event and fires its timer', async () => {
      const { host, clock } = subject
      const { id, status } = await host.start({ workflowId: 'wait', input: { order: 'a' } })
      expect(status).to.equal('waiting')
      expect((await host.get('wait', id))?.data).to.deep.equal({ order: 'a', begun: true })
      expect((await host.get('wait', id))?.waitingFor).to.have.length(1)
      expect(await host.get('echo', id)).to.equal(undefined)
      expect(await host.deliver(go('a'))).to.deep.equal({ instances: [id] })
      const waiting = await host.get('wait', id)
      expect(waiting?.data).to.deep.equal({ order: 'a', begun: true, go: { order: 'a' } })
      expect(waiting?.waitingFor?.[0]).to.include({ kind: 'timer', timer: 'sleep', dueAt: clock.now() + 10_000 })
      clock.advance(9999)
      await subject.quiet()
      expect((await host.get('wait', id))?.status).to.equal('waiting')
      clock.advance(1)
      await subject.quiet()
      expect(await host.get('wait', id)).to.equal(undefined)
    })

    behaves('applies a repeated event once, and ignores one that nothing waits for', async () => {
      const { host } = subject
      const { id } = await host.start({ workflowId: 'wait', input: {} })
      expect(await host.deliver(go('a'))).to.deep.equal({ instances: [id] })
      expect(await host.deliver(go('a'))).to.deep.equal({ instances: [] })
      expect((await host.get('wait', id))?.status).to.equal('waiting')
    })

    behaves('starts one instance under one idempotency key', async () => {
      const { host } = subject
      const request = { workflowId: 'wait', input: { n: 1 }, idempotencyKey: 'k' }
      const [one, other] = await Promise.all([host.start(request), host.start(request)])
      expect(other.id).to.equal(one.id)
      expect((await host.start(request)).id).to.equal(one.id)
      expect(await refusal(host.start({ ...request, input: { n: 2 } }))).to.equal('INSTANCE_CONFLICT')
      expect((await host.list({ limit: 10 })).instances).to.have.length(1)
    })

    behaves('lists newest first, in pages', async () => {
      const { host, clock } = subject
      const ids: string[] = []
      for (let count = 0; count < 5; count += 1) {
        ids.unshift((await host.start({ workflowId: 'wait', input: {}, businessKey: `b${String(count)}` })).id)
        clock.advance(1)
      }
      const first = await host.list({ workflowId: 'wait', limit: 2 })
      expect(first.instances.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2))
      const second = await host.list({ workflowId: 'wait', limit: 3, ...(first.cursor === undefined ? {} : { cursor: first.cursor }) })
      expect(second.instances.map(({ id }) => id)).to.deep.equal(ids.slice(2))
      expect(second.cursor).to.equal(undefined)
      expect((await host.list({ businessKey: 'b3', limit: 10 })).instances.map(({ id }) => id)).to.deep.equal([ids[1]])
      expect((await host.list({ status: ['error'], limit: 10 })).instances).to.deep.equal([])
    })

    behaves('changes data, and aborts', async () => {
      const { host } = subject
      const { id } = await host.start({ workflowId: 'wait', input: { a: { b: 1 } } })
      expect((await host.mergeData('wait', id, { a: { c: [2] } })).data).to.deep.equal({ begun: true, a: { b: 1, c: [2] } })
      expect((await host.replaceData('wait', id, { x: null })).data).to.deep.equal({ x: null })
      expect(await host.abort('wait', id)).to.include({ status: 'aborted' })
      expect(await host.get('wait', id)).to.equal(undefined)
      expect(await refusal(host.abort('wait', id))).to.equal('INSTANCE_NOT_FOUND')
    })

    behaves('keeps a failed instance until it is repaired', async () => {
      const { host, calls } = subject
      const failed = await host.start({ workflowId: 'broken', input: { fail: true } })
      expect(failed.status).to.equal('error')
      expect(failed.failure).to.include({ failedNodeId: 'Try/call', message: 'told to fail' })
      expect((await host.get('broken', failed.id))?.status).to.equal('error')
      await host.mergeData('broken', failed.id, { fail: false })
      expect(await host.retrigger('broken', failed.id)).to.include({ status: 'completed' })
      expect(calls).to.have.length(2)
      const other = await host.start({ workflowId: 'broken', input: { fail: true } })
      expect(await host.skip('broken', other.id)).to.include({ status: 'completed' })
      const waiting = await host.start({ workflowId: 'wait', input: {} })
      expect(await refusal(host.retrigger('wait', waiting.id))).to.equal('INSTANCE_NOT_FAILED')
    })

    behaves('moves a timer, ends one, and repeats a node', async () => {
      const { host, clock } = subject
      const { id } = await host.start({ workflowId: 'wait', input: {} })
      await host.deliver(go('a'))
      const timer = (await host.get('wait', id))?.waitingFor?.[0]?.nodeInstanceId ?? ''
      await host.reschedule('wait', id, timer, clock.now() + 60_000)
      expect((await host.get('wait', id))?.waitingFor?.[0]?.dueAt).to.equal(clock.now() + 60_000)
      clock.advance(30_000)
      await subject.quiet()
      expect((await host.get('wait', id))?.status).to.equal('waiting')
      expect(await host.cancelNode('wait', id, timer)).to.include({ status: 'completed' })
      expect(await refusal(host.cancelNode('wait', id, timer))).to.equal('INSTANCE_NOT_FOUND')
    })

    behaves('is ready until it is closed, and starts nothing then', async () => {
      expect(await subject.host.readiness()).to.deep.equal({ ready: true })
      await subject.host.close()
      expect((await subject.host.readiness()).ready).to.equal(false)
      expect(await refusal(subject.host.start({ workflowId: 'echo', input: { n: 1 } }))).to.equal('HOST_CLOSED')
    })
  })
}
