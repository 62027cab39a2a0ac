import { expect } from 'chai'
import type { Json } from '../../lib/common/index.ts'
import type { CloudEventRecord } from '../../lib/events/index.ts'
import type { FunctionCall, FunctionResult } from '../../lib/functions/index.ts'
import type { Runtime, RuntimeOptions } from '../../lib/runtime-options.ts'
import { restateBinary, startRestateServer, type RestateServer } from '../support/restate-server.ts'

const binary = restateBinary()

const definition = (id: string, states: readonly Json[], more: Readonly<Record<string, Json>> = {}): { uri: string; document: Json } => ({
  uri: `${id}.sw.json`,
  document: {
    id, version: '1', specVersion: '0.8',
    functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
    events: [{ name: 'Go', type: 'go', source: 'suite', correlation: [{ contextAttributeName: 'order' }] }, { name: 'One', type: 'one', source: 'suite' }, { name: 'Two', type: 'two', source: 'suite' }],
    states,
    ...more,
  },
})
const call = (name: string): Json => ({ name, functionRef: { refName: 'call', arguments: { name } }, actionDataFilter: { toStateData: `.${name}` } })
const WAIT: Json = { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'], eventDataFilter: { toStateData: '.go' } }], end: true }
const event = (type: string, order: string, id = `${type}-${order}`): CloudEventRecord => ({ specversion: '1.0', id, source: 'suite', type, order, data: { order } })

/** Tries until something holds, for as long as a test may take. */
async function until<Value>(probe: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const found = await probe()
    if (found !== undefined) return found
    await new Promise((resolve) => { setTimeout(resolve, 20) })
  }
}

if (binary !== undefined) {
  describe('hosts: instances on the distributed engine', function () {
    this.timeout(60_000)
    let server: RestateServer
    let namespaces = 0
    let opened: Runtime[] = []
    let answer: (call: FunctionCall) => Promise<FunctionResult> = () => Promise.resolve({ output: 1 })

    before(async () => { server = await startRestateServer({ binary }) })
    after(() => server.close())
    beforeEach(() => { namespaces += 1 })
    afterEach(async () => {
      for (const runtime of opened) await runtime.close(0)
      opened = []
      answer = () => Promise.resolve({ output: 1 })
    })

    async function open(definitions: RuntimeOptions['definitions'], settings: Readonly<Record<string, unknown>> = {}, more: RuntimeOptions = {}): Promise<Runtime> {
      // Imported here: mocha loads this file as CommonJS, and the host is loaded as a module; they would see two interpreters.
      const { createRuntime } = await import('../../lib/runtime.ts')
      const { silentLogger } = await import('../../lib/common/index.ts')
      const runtime = await createRuntime({
        environment: {}, hostClasses: new Map(), definitions: definitions ?? [], log: silentLogger, strict: true,
        settings: { ...server.settings(`s${String(namespaces)}`), 'sonatina.profile': 'spec', ...settings },
        functionTypes: new Map([['suite', (_operation: string, given: FunctionCall) => answer(given)]]),
        ...more,
      })
      opened.push(runtime)
      return runtime
    }

    it('abort while a call is under way, and end the call', async () => {
      let aborted = false
      answer = ({ context }) => new Promise((resolve) => { context.signal.addEventListener('abort', () => { aborted = true; resolve({}) }) })
      const { host } = await open([definition('long', [{ name: 'Call', type: 'operation', actions: [call('a')], end: true }])])
      const started = host.start({ workflowId: 'long', input: {} })
      const { id } = await until(async () => (await host.list({ limit: 1 })).instances[0])
      expect((await host.get('long', id))?.status).to.equal('active')
      expect(await host.abort('long', id)).to.include({ id, status: 'aborted' })
      expect(await started).to.include({ id, status: 'aborted' })
      expect(aborted).to.equal(true)
    })

    it('answer before a long call is over when they are asked to', async () => {
      let finish: () => void = () => undefined
      answer = () => new Promise((resolve) => { finish = () => { resolve({ output: 'late' }) } })
      const { host } = await open([definition('long', [{ name: 'Call', type: 'operation', actions: [call('a')], end: true }])])
      const first = await host.start({ workflowId: 'long', input: { n: 1 }, answerTimeout: 200 })
      expect(first).to.include({ status: 'active' })
      finish()
      await until(async () => (await host.get('long', first.id) === undefined ? true : undefined))
      const second = await host.start({ workflowId: 'long', input: { n: 2 }, respondAsync: true })
      expect(second).to.deep.include({ status: 'active', data: { n: 2 } })
      await until(async () => { finish(); return await host.get('long', second.id) === undefined ? true : undefined })
    })

    it('carry calls of branches out at once, and merge what they gave', async () => {
      const waiting: (() => void)[] = []
      answer = ({ arguments: given }) => new Promise((resolve) => {
        waiting.push(() => { resolve({ output: (given as { name: string }).name }) })
        if (waiting.length === 2) for (const go of waiting) go()
      })
      const branches = [{ name: 'one', actions: [call('a')] }, { name: 'two', actions: [call('b')] }]
      const { host } = await open([definition('both', [{ name: 'Both', type: 'parallel', branches, end: true }])])
      const record = await host.start({ workflowId: 'both', input: {} })
      expect(record).to.deep.include({ status: 'completed', data: { a: 'a', b: 'b' } })
    })

    it('wait for sub-flows, and take up what they gave', async () => {
      const parent = definition('parent', [{ name: 'Sub', type: 'operation', actions: [{ subFlowRef: 'child', actionDataFilter: { toStateData: '.child' } }], end: true }])
      const { host } = await open([parent, definition('child', [{ name: 'First', type: 'inject', data: { n: 1 }, transition: 'Wait' }, WAIT])], { 'sonatina.instances.retention': 'PT1H' })
      const { id, status, waitingFor } = await host.start({ workflowId: 'parent', input: {} })
      expect(status).to.equal('waiting')
      const childId = waitingFor?.[0]?.names?.[0]
      expect((await host.deliver(event('go', 'x'))).instances).to.deep.equal([childId])
      const ended = await until(async () => { const found = await host.find('parent', id); return found?.endedAt === undefined ? undefined : found })
      expect(ended).to.deep.include({ status: 'completed', data: { child: { n: 1, go: { order: 'x' } } } })
      expect((await host.history('parent', id)).map(({ type }) => type)).to.include.members(['started', 'stateEntered', 'completed'])
    })

    it('go on with a definition that the process was never given', async () => {
      const first = await open([definition('gone', [{ name: 'First', type: 'inject', data: { v: 1 }, transition: 'Wait' }, WAIT])], { 'sonatina.instances.retention': 'PT1H' })
      const { id } = await first.host.start({ workflowId: 'gone', input: {} })
      await first.close(0)
      const { host } = await open([], { 'sonatina.instances.retention': 'PT1H' })
      expect((await host.deliver(event('go', 'x'))).instances).to.deep.equal([id])
      expect(await host.find('gone', id)).to.deep.include({ status: 'completed', data: { v: 1, go: { order: 'x' } } })
    })

    it('fire timers by the time of the engine, not before they are due', async () => {
      const { host } = await open([definition('sleep', [{ name: 'Sleep', type: 'sleep', duration: 'PT0.3S', end: true }])], { 'sonatina.instances.retention': 'PT1H' })
      const { id, startedAt } = await host.start({ workflowId: 'sleep', input: {} })
      const { endedAt = 0 } = await until(async () => { const found = await host.find('sleep', id); return found?.endedAt === undefined ? undefined : found })
      expect(endedAt - startedAt).to.be.at.least(300)
    })

    it('hand an event to an instance from any front, once', async () => {
      const definitions = [definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT])]
      const one = await open(definitions)
      const other = await open(definitions)
      const { id } = await one.host.start({ workflowId: 'wait', input: {} })
      const delivered = await Promise.all([one.host.deliver(event('go', 'x')), other.host.deliver(event('go', 'x'))])
      expect(delivered.flatMap(({ instances }) => instances)).to.deep.equal([id])
      expect(await other.host.get('wait', id)).to.equal(undefined)
    })

    it('begin one instance by one event, and by several that belong together', async () => {
      const single = definition('single', [{ name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['One'] }], end: true }])
      const several = definition('several', [{ name: 'Wait', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['One'] }, { eventRefs: ['Two'] }], end: true }])
      const { host } = await open([single, several], { 'sonatina.instances.retention': 'PT1H' })
      expect((await host.deliver(event('one', 'x'))).instances).to.have.length(1)
      expect((await host.deliver(event('one', 'x'))).instances).to.have.length(0)
      const [id = ''] = (await host.deliver(event('two', 'x'))).instances
      expect(await host.find('several', id)).to.include({ status: 'completed' })
      expect((await host.list({ workflowId: 'several', limit: 10 })).instances).to.have.length(1)
    })

    it('send what they produce once with one id, and take it in again', async () => {
      const events: CloudEventRecord[] = []
      const produced = [{ name: 'Made', type: 'made', kind: 'produced', source: 'maker' }]
      const maker = definition('maker', [{ name: 'Make', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'Made' }] } }], { events: produced })
      const taker = definition('taker', [{ name: 'Take', type: 'event', onEvents: [{ eventRefs: ['Made'] }], end: true }], { events: [{ name: 'Made', type: 'made', source: '*' }] })
      const runtime = await open([maker, taker], { 'sonatina.instances.retention': 'PT1H' }, { onEvent: (given) => { events.push(given) } })
      const { host } = runtime
      await host.start({ workflowId: 'maker', input: {} })
      await runtime.quiet()
      expect(events.map(({ type }) => type)).to.deep.equal(['made'])
      expect((await host.list({ workflowId: 'taker', limit: 10 })).instances.map(({ status }) => status)).to.deep.equal(['completed'])
    })

    // The engine takes no message beyond its limit, and would try the same turn for ever.
    it('refuse data that the engine cannot keep', async () => {
      const { host } = await open([definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT])])
      const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)
      const large = 'x'.repeat(9 * 1024 * 1024)
      expect(await failure(host.start({ workflowId: 'wait', input: { large } }))).to.have.property('code', 'INSTANCE_FAILED')
      expect((await host.list({ limit: 10 })).instances).to.deep.equal([])
      const { id } = await host.start({ workflowId: 'wait', input: { little: 1 } })
      const refused = await failure(host.mergeData('wait', id, { large, more: large }))
      expect(refused).to.have.property('message').that.matches(/^The data of the instance is too large: with what came and goes it makes \d+ MiB, and the engine takes 32/)
      expect((await host.get('wait', id))?.data).to.deep.equal({ little: 1 })
    })

    it('refuse what cannot be kept while the engine is away, and go on when it is back', async () => {
      const { host } = await open([definition('wait', [{ name: 'First', type: 'inject', data: {}, transition: 'Wait' }, WAIT])])
      const { id } = await host.start({ workflowId: 'wait', input: {} })
      await server.kill()
      expect(await host.start({ workflowId: 'wait', input: {} }).catch((error: unknown) => (error as { code: string }).code)).to.equal('STORE_UNAVAILABLE')
      await until(async () => ((await host.readiness()).ready ? undefined : true))
      await server.restart()
      expect(await host.readiness()).to.deep.equal({ ready: true })
      await until(async () => { const found = await host.deliver(event('go', 'x')).catch(() => undefined); return found?.instances.includes(id) === true ? true : undefined })
    })
  })
}
