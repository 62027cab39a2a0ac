import { expect } from 'chai'
import { silentLogger, type Json, type JsonObject } from '../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'
import type { Runtime, RuntimeOptions } from '../../../lib/runtime-options.ts'
import { createRuntime } from '../../../lib/runtime.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { Driver } from './support/driver.ts'

const FUNCTIONS = [{ name: 'f', type: 'custom', operation: 'service:Orders::f' }]
const call = (name: string): JsonObject => ({ functionRef: name })
const single = (more: JsonObject = {}): JsonObject => ({ id: 'w', functions: FUNCTIONS, states: [{ name: 'S', type: 'operation', actions: [call('f')], end: true, ...more }] })

async function withRuntime(documents: readonly JsonObject[], options: RuntimeOptions, work: (runtime: Runtime) => Promise<void>): Promise<void> {
  const runtime = await createRuntime({
    log: silentLogger, environment: {}, strict: true, profile: 'test', hostClasses: new Map(), clock: createVirtualClock(),
    definitions: documents.map((document) => ({ uri: `${String(document['id'])}.sw.json`, document: { specVersion: '0.8', ...document } })),
    ...options, settings: { 'sonatina.store': 'memory', ...options.settings },
  })
  try {
    await work(runtime)
  } finally {
    await runtime.close(0)
  }
}

function cpu(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun)
  return Math.round((user + system) / 1000)
}

describe('instance: hazards', () => {
  it('an endless loop ends in INSTANCE_LOOP while other instances go on', async () => {
    const endless = { id: 'endless', states: [{ name: 'A', type: 'inject', data: {}, transition: 'B' }, { name: 'B', type: 'inject', data: {}, transition: 'A' }] }
    const calls = { id: 'calls', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], states: [{ name: 'A', type: 'operation', actions: [call('f')], onErrors: [{ errorRef: 'any', transition: 'A' }], transition: 'A' }] }
    const fine = { id: 'fine', states: [{ name: 'A', type: 'inject', data: { fine: true }, end: true }] }
    await withRuntime([endless, calls, fine], { settings: { 'sonatina.instances.max-steps': 500 }, replace: { functions: new Map([['f', () => ({})]]) } }, async ({ host }) => {
      const [loop, called, other] = await Promise.all(['endless', 'calls', 'fine'].map((workflowId) => host.start({ workflowId, input: {} })))
      expect(loop?.failure?.code).to.equal('INSTANCE_LOOP')
      expect(called?.failure?.code).to.equal('INSTANCE_LOOP')
      expect([other?.status, other?.data]).to.deep.equal(['completed', { fine: true }])
    })
  })

  it('a loop over a retry without delay, or over a handler, ends too', async () => {
    for (const loop of ['stock', 'fast'] as const) {
      const driver = await Driver.run({ ...single({ onErrors: [{ errorRef: 'any', transition: 'S' }] }), errors: [{ name: 'any', code: '*' }] }, {}, { loop, maxSteps: 50, functions: { f: () => { throw new Error('broken') } } })
      expect(driver.instance.failure?.code, loop).to.equal('INSTANCE_LOOP')
    }
  })

  for (const loop of ['stock', 'fast'] as const) {
    it(`whatever a host function throws is an error of the workflow, in the ${loop} loop`, async () => {
      const circular: Record<string, unknown> = {}
      circular['self'] = circular
      const odd = Object.assign(new Error('x'), { message: 42, name: { not: 'text' } })
      const thrown: readonly unknown[] = ['text', undefined, null, 0, Symbol('s'), 10n, circular, { code: 'E1' }, { name: 'Named', code: 'E2', message: 'told' }, () => 1, odd, Object.create(null), new Proxy({}, { get: () => { throw new Error('trap') } })]
      for (const value of thrown) {
        for (const f of [() => { throw value }, async () => { await Promise.resolve(); throw value }]) {
          const driver = await Driver.run(single(), {}, { loop, functions: { f } })
          const { failure, status } = driver.instance
          const shown = typeof value
          expect(status, shown).to.equal('error')
          expect([typeof failure?.name, typeof failure?.code, typeof failure?.message], shown).to.deep.equal(['string', 'string', 'string'])
          expect(JSON.parse(JSON.stringify(failure)), shown).to.deep.equal(failure)
          driver.persist()
        }
      }
    })
  }

  it('a host function that never settles holds only its own instance, and is given up by a timeout', async () => {
    const signals: AbortSignal[] = []
    const driver = await Driver.open({ ...single({ timeouts: { actionExecTimeout: 'PT5S' }, onErrors: [{ errorRef: 'late', end: true }] }), errors: [{ name: 'late', code: 'timeout' }] }, {}, {
      functions: { f: ({ context }) => { signals.push(context.signal); return new Promise(() => undefined) } },
    })
    driver.turn(() => { driver.instance.begin() })
    await driver.answered()
    expect(driver.instance.status).to.equal('active')
    driver.clock.advance(5_000)
    expect(driver.instance.status).to.equal('completed')
    expect(signals[0]?.aborted).to.equal(true)
  })

  it('a sub-flow may not be started below all too many others', async () => {
    const driver = await Driver.run({ id: 'again', states: [{ name: 'A', type: 'operation', actions: [{ subFlowRef: 'again' }], end: true }] }, {}, { depth: 256 })
    expect(driver.instance.failure).to.include({ code: 'INSTANCE_LOOP', failedNodeId: 'A/again' })
  })

  it('what a host function throws is stored without what is not JSON in it', async () => {
    const thrown: Record<string, unknown> = { name: 'Odd', code: 'E', message: 'told', call: () => 1 }
    thrown['self'] = thrown
    const odd: unknown = thrown
    const driver = await Driver.run(single(), {}, { functions: { f: () => { throw odd } } })
    expect(driver.instance.failure).to.deep.equal({ name: 'Odd', code: 'E', message: 'told', failedNodeId: 'S/f' })
    expect(() => driver.persist()).not.to.throw()
  })

  it('10,000 events for 1,000 waiting instances take bounded time, and each instance gets its own', async () => {
    const waiting = {
      id: 'waiting', events: [{ name: 'go', type: 't.go', source: 'test', correlation: [{ contextAttributeName: 'key' }] }, { name: 'begin', type: 't.begin', source: 'test', correlation: [{ contextAttributeName: 'key' }] }],
      states: [
        { name: 'Begin', type: 'event', onEvents: [{ eventRefs: ['begin'], actions: [] }], transition: 'Wait' },
        { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['go'], actions: [] }], end: true },
      ],
    }
    const done: Json[] = []
    await withRuntime([waiting], { onStep: ({ type, data }) => { if (type === 'completed' && data !== undefined) done.push(data) } }, async (runtime) => {
      const { host } = runtime
      const event = (type: string, id: number, key: string): CloudEventRecord => ({ specversion: '1.0', id: `${type}-${String(id)}`, source: 'test', type, key, data: { [type]: key } })
      const begun = process.cpuUsage()
      for (let key = 0; key < 1000; key += 1) await host.deliver(event('t.begin', key, `k${String(key)}`))
      const started = cpu(begun)
      // Nine of ten are for nobody.
      const deliveries = await Promise.all(Array.from({ length: 10_000 }, (_, index) => host.deliver(event('t.go', index, `k${String(index)}`))))
      await runtime.quiet()
      process.stderr.write(`      1,000 instances: ${String(started)} ms of CPU; 10,000 events: ${String(cpu(begun) - started)} ms of CPU\n`)
      expect(deliveries.filter(({ instances }) => instances.length > 0)).to.have.length(1000)
      expect(done).to.have.length(1000)
      for (const data of done as JsonObject[]) expect(data['t.go']).to.equal(data['t.begin'])
    })
  }).timeout(60_000)
})
