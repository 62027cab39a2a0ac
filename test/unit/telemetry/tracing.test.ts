import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { expect } from 'chai'
import { attributeOf, startTraced, type Traced } from './traced.ts'

const GREET = {
  id: 'greet', version: '1.0', specVersion: '0.8', start: 'First',
  functions: [{ name: 'hello', type: 'custom', operation: 'sysout' }],
  states: [
    { name: 'First', type: 'inject', data: { greeting: 'Hello' }, transition: 'Second' },
    { name: 'Second', type: 'operation', actions: [{ name: 'say', functionRef: { refName: 'hello', arguments: { message: 'Hello' } } }], end: true },
  ],
}
const EXECUTE = 'sonataflow.process.greet.execute'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

describe('lib/telemetry', () => {
  let traced: Traced | undefined
  const start = async (...parameters: Parameters<typeof startTraced>): Promise<Traced> => {
    traced = await startTraced(...parameters)
    return traced
  }
  afterEach(async () => {
    await traced?.runtime.close(0)
    traced = undefined
  })

  it('makes a span for the instance, one for each state, one for each action', async () => {
    const { runtime, spans, named } = await start(GREET)
    const { id } = await runtime.host.start({ workflowId: 'greet', input: {}, headers: { 'x-request-id': 'r1', 'x-transaction-id': 't1', 'x-tracker-customer': 'c1' } })
    const [instance] = named('sonataflow.process.greet')
    const states = named(EXECUTE)
    const [action] = named('Second/say')
    expect(spans()).to.have.length(4)
    expect(attributeOf(states, 'sonataflow.workflow.state')).to.deep.equal(['First', 'Second'])
    expect(states.map(({ parentSpanContext }) => parentSpanContext?.spanId)).to.deep.equal(states.map(() => instance?.spanContext().spanId))
    expect(action?.parentSpanContext?.spanId).to.equal(states[1]?.spanContext().spanId)
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).to.equal(1)
    expect(instance?.kind).to.equal(SpanKind.SERVER)
    expect(instance?.parentSpanContext).to.equal(undefined)
    for (const span of spans()) {
      expect(span.attributes).to.include({
        'sonataflow.process.id': 'greet',
        'sonataflow.process.version': '1.0',
        'sonataflow.process.instance.id': id,
        'sonataflow.transaction.id': 't1',
        'sonataflow.tracker.customer': 'c1',
      })
    }
    expect(instance?.attributes['sonataflow.process.instance.state']).to.equal('COMPLETED')
    expect(instance?.resource.attributes['service.name']).to.equal('sonatina')
  })

  it('tells start, end and log lines as events', async () => {
    const { runtime, named } = await start(GREET)
    await runtime.host.start({ workflowId: 'greet', input: {} })
    const events = named(EXECUTE).map((span) => span.events.map(({ name }) => name))
    expect(events).to.deep.equal([
      ['process.instance.start', 'state.started', 'state.completed'],
      ['state.started', 'log.message', 'process.instance.complete', 'state.completed'],
    ])
    expect(named(EXECUTE)[1]?.events[1]?.attributes).to.include({ level: 'INFO', message: 'Hello' })
  })

  it('makes no events where they are off', async () => {
    const { runtime, spans } = await start(GREET, { settings: { 'sonatina.otel.events.enabled': false } })
    await runtime.host.start({ workflowId: 'greet', input: {} })
    expect(spans().flatMap(({ events }) => events)).to.deep.equal([])
  })

  it('goes on in the trace of the caller', async () => {
    const { runtime, spans, named } = await start(GREET)
    await runtime.host.start({ workflowId: 'greet', input: {}, headers: { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'a=b' } })
    expect(new Set(spans().map((span) => span.spanContext().traceId))).to.deep.equal(new Set([TRACE]))
    expect(named('sonataflow.process.greet')[0]?.parentSpanContext?.spanId).to.equal(CALLER)
    expect(spans()[0]?.spanContext().traceState?.serialize()).to.equal('a=b')
  })

  it('follows the decision of the caller not to record, and its own', async () => {
    const { runtime, spans } = await start(GREET, { settings: { 'sonatina.otel.traces.sampler.arg': 0 } })
    await runtime.host.start({ workflowId: 'greet', input: {} })
    await runtime.host.start({ workflowId: 'greet', input: {}, headers: { traceparent: `00-${TRACE}-${CALLER}-00` } })
    expect(spans()).to.deep.equal([])
    await runtime.host.start({ workflowId: 'greet', input: {}, headers: { traceparent: `00-${TRACE}-${CALLER}-01` } })
    expect(spans()).to.have.length(4)
  })

  it('begins a trace of its own when traceparent is broken', async () => {
    const { runtime, spans } = await start(GREET)
    for (const traceparent of ['', 'nonsense', `00-${'0'.repeat(32)}-${CALLER}-01`, `ff-${TRACE}-${CALLER}-01`]) {
      await runtime.host.start({ workflowId: 'greet', input: {}, headers: { traceparent } })
    }
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).to.equal(4)
  })

  it('marks what failed', async () => {
    const functions = new Map([['hello', () => { throw new Error('no luck') }]])
    const { runtime, named } = await start(GREET, { replace: { functions } })
    await runtime.host.start({ workflowId: 'greet', input: {} })
    const failed = [named('Second/say')[0], named(EXECUTE)[1], named('sonataflow.process.greet')[0]]
    for (const span of failed) {
      expect(span?.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: 'no luck' })
      expect(span?.attributes).to.include({ 'error.message': 'no luck' })
    }
    expect(named(EXECUTE)[0]?.status.code).to.equal(SpanStatusCode.UNSET)
    expect(named(EXECUTE)[1]?.events.map(({ name }) => name)).to.include('process.instance.error')
  })

  it('continues below the first span when an instance in error is triggered again', async () => {
    let luck = false
    const functions = new Map([['hello', () => {
      if (!luck) throw new Error('no luck')
      return {}
    }]])
    const { runtime, named } = await start(GREET, { replace: { functions } })
    const { id } = await runtime.host.start({ workflowId: 'greet', input: {} })
    luck = true
    await runtime.host.retrigger('greet', id)
    await runtime.quiet()
    const [first, second] = named('sonataflow.process.greet')
    expect(second?.parentSpanContext?.spanId).to.equal(first?.spanContext().spanId)
    expect(second?.attributes).to.include({ 'sonatina.resumed': true, 'sonataflow.process.instance.state': 'COMPLETED' })
  })

  describe('sub-flows', () => {
    const PARENT = { id: 'outer', version: '1', specVersion: '0.8', start: 'Call', states: [{ name: 'Call', type: 'operation', actions: [{ subFlowRef: 'greet' }], end: true }] }

    it('hang at their own span, which hangs at the outermost one', async () => {
      const { runtime, named } = await start([PARENT, GREET])
      const { id } = await runtime.host.start({ workflowId: 'outer', input: {} })
      const [outer] = named('sonataflow.process.outer')
      const [inner] = named('sonataflow.process.greet')
      expect(inner?.parentSpanContext?.spanId).to.equal(outer?.spanContext().spanId)
      expect(named(EXECUTE)[0]?.parentSpanContext?.spanId).to.equal(inner?.spanContext().spanId)
      expect(inner?.attributes['sonataflow.transaction.id']).to.equal(id)
      expect(inner?.attributes['sonataflow.process.instance.id']).not.to.equal(id)
    })

    it('hang with their states at the outermost span in language profile sonataflow', async () => {
      const { runtime, named } = await start([PARENT, GREET], { settings: { 'sonatina.profile': 'sonataflow' } })
      await runtime.host.start({ workflowId: 'outer', input: {} })
      const root = named('sonataflow.process.outer')[0]?.spanContext().spanId
      const states = [...named('sonataflow.process.outer.execute'), ...named(EXECUTE)]
      expect(states.map(({ parentSpanContext }) => parentSpanContext?.spanId)).to.deep.equal([root, root, root])
    })
  })

  it('has the times of the clock, and ends what is open when the service stops', async () => {
    const sleeping = { id: 'sleeper', version: '1', specVersion: '0.8', start: 'Nap', states: [{ name: 'Nap', type: 'sleep', duration: 'PT1H', transition: 'Next' }, { name: 'Next', type: 'sleep', duration: 'PT1H', end: true }] }
    const { runtime, clock, named } = await start(sleeping)
    await runtime.host.start({ workflowId: 'sleeper', input: {} })
    expect(named('sonataflow.process.sleeper.execute')).to.deep.equal([])
    clock.advance(3_600_000)
    await runtime.quiet()
    expect(named('sonataflow.process.sleeper.execute')[0]?.duration).to.deep.equal([3600, 0])
    await runtime.close(0)
    expect(attributeOf(named('sonataflow.process.sleeper.execute'), 'sonataflow.workflow.state')).to.deep.equal(['Nap', 'Next'])
    expect(named('sonataflow.process.sleeper')[0]?.attributes['sonataflow.process.instance.state']).to.equal('ACTIVE')
  })

  it('sends traceparent of the action to remote services', async () => {
    const received: IncomingHttpHeaders[] = []
    const server = createServer((request, response) => {
      received.push(request.headers)
      response.setHeader('content-type', 'application/json').end('{}')
    })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/greetings`
    try {
      const remote = { ...GREET, functions: [{ name: 'hello', type: 'custom', operation: `rest:post:${url}` }] }
      const { runtime, named } = await start(remote)
      const { status } = await runtime.host.start({ workflowId: 'greet', input: {}, headers: { tracestate: 'a=b', traceparent: `00-${TRACE}-${CALLER}-01` } })
      expect(status).to.equal('completed')
      const span = named('Second/say')[0]?.spanContext()
      expect(received).to.have.length(1)
      expect(received[0]).to.include({ traceparent: `00-${TRACE}-${String(span?.spanId)}-01`, tracestate: 'a=b' })
      await runtime.close(0)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
