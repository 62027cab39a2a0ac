import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { defineFunction, json, listenFunctions, nothing, serve, text, type FunctionContext } from '../../../lib/function-runtime/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { binary, jsonBody, keptLog, served } from './harness.ts'

/** A function that runs until the test lets it go. */
function held(): { readonly functions: object[]; readonly entered: Promise<FunctionContext>; readonly release: (value: string) => void; readonly fail: (error: Error) => void } {
  let enter: (context: FunctionContext) => void = () => undefined
  let release: (value: string) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const entered = new Promise<FunctionContext>((resolve) => { enter = resolve })
  const result = new Promise<string>((resolve, reject) => { release = resolve; fail = reject })
  const functions = [defineFunction({ name: 'held', input: nothing, output: text }, (_input, context) => {
    enter(context)
    return result
  })]
  return { functions, entered, release: (value) => { release(value) }, fail: (error) => { fail(error) } }
}

const aborted = (signal: AbortSignal): Promise<unknown> => new Promise((resolve) => {
  if (signal.aborted) resolve(signal.reason)
  else signal.addEventListener('abort', () => { resolve(signal.reason) })
})
const hello = defineFunction({ name: 'hello', input: nothing, output: text }, () => 'hello')

describe('hooks', () => {
  it('run init before the port opens and shutdown after the last request', async () => {
    const order: string[] = []
    const { functions, entered, release } = held()
    const server = await served(functions, {
      init: async () => { await Promise.resolve(); order.push('init') },
      shutdown: () => { order.push('shutdown') },
    })
    const answer = server.send('/held').then(({ text: body }) => { order.push(body) })
    await entered
    expect(order).to.deep.equal(['init'])
    const closed = server.close()
    release('x')
    await Promise.all([closed, answer])
    expect(order.toSorted()).to.deep.equal(['"x"', 'init', 'shutdown'])
    await server.close()
    expect(order).to.have.length(3)
  })

  it('stop the start when init rejects', async () => {
    const service = serve([hello], { log: keptLog().log, init: () => { throw new Error('no database') } })
    const failure = await listenFunctions(service, { port: 0 }).then(() => 'started', (error: unknown) => (error as Error).message)
    expect(failure).to.equal('no database')
  })
})

describe('health and metrics', () => {
  it('answer OK and UP, and 503 when a check fails', async () => {
    let broken = false
    const check = (): void => { if (broken) throw new Error('disk full') }
    await using server = await served([hello], { liveness: check, readiness: check })
    for (const path of ['/health/liveness', '/health/readiness']) {
      const answer = await server.send(path)
      expect([answer.status, answer.text]).to.deep.equal([200, 'OK'])
    }
    expect((await server.send('/q/health')).json()).to.deep.equal({
      status: 'UP', checks: [{ name: 'live', status: 'UP' }, { name: 'ready', status: 'UP' }, { name: 'started', status: 'UP' }],
    })
    broken = true
    expect((await server.send('/health/liveness')).status).to.equal(503)
    const ready = await server.send('/q/health/ready')
    expect([ready.status, ready.json(), ready.headers['cache-control']]).to.deep.equal([503, { status: 'DOWN', checks: [{ name: 'ready', status: 'DOWN' }] }, 'no-store'])
    expect(ready.text).to.not.include('disk')
    expect((await server.send('/health/liveness', { method: 'POST' })).status).to.equal(405)
  })

  it('count invocations by function, form and outcome', async () => {
    const number = defineFunction({ name: 'number', input: json({ type: 'integer' }), output: json({ type: 'integer' }) }, (n) => n)
    await using server = await served([hello, number])
    await server.send('/hello')
    await server.send('/', binary({ type: 'number' }, '1'))
    await server.send('/number', jsonBody('x'))
    const { text: metrics } = await server.send('/q/metrics')
    expect(metrics).to.include('sonatina_function_invocations_total{function="hello",form="plain",outcome="ok"} 1')
    expect(metrics).to.include('sonatina_function_invocations_total{function="number",form="binary",outcome="ok"} 1')
    expect(metrics).to.include('sonatina_function_invocations_total{function="number",form="plain",outcome="refused"} 1')
    expect(metrics).to.include('sonatina_function_duration_seconds_count{function="hello",form="plain",outcome="ok"} 1')
  })

  it('are left to the workflow server below another root', async () => {
    await using server = await served([hello], { rootPath: '/functions' })
    expect((await server.send('/q/health')).text).to.equal('Not Found')
    expect((await server.send('/functions/health/liveness')).status).to.equal(404)
    expect((await server.send('/functions/hello')).json()).to.equal('hello')
  })
})

describe('stopping', () => {
  it('takes readiness down, refuses what comes and lets finish what runs', async () => {
    const { functions, entered, release } = held()
    const server = await served([...functions, hello])
    const running = server.send('/held')
    await entered
    const closed = server.close()
    expect((await server.send('/health/readiness')).status).to.equal(503)
    expect((await server.send('/health/liveness')).status).to.equal(200)
    const refused = await server.send('/hello')
    expect([refused.status, refused.headers['retry-after'], (refused.json() as { code: string }).code]).to.deep.equal([503, '1', 'NOT_AVAILABLE'])
    release('done')
    expect((await running).json()).to.equal('done')
    await closed
    expect(await server.send('/hello').then(() => 'answered', () => 'closed')).to.equal('closed')
  })

  it('aborts the signals of what is left at the end of its timeout', async () => {
    const clock = createVirtualClock()
    const { functions, entered } = held()
    const server = await served(functions, { clock, shutdownTimeout: 5000 })
    const running = server.send('/held').catch(() => 'broken off')
    const { signal } = await entered
    const closed = server.close()
    clock.advance(4999)
    expect(signal.aborted).to.equal(false)
    clock.advance(1)
    expect(String(await aborted(signal))).to.include('the runtime stops')
    await closed
    expect(await running).to.equal('broken off')
  })
})

describe('time and callers', () => {
  it('answers 504 when a function takes longer than the timeout, aborts its signal and logs its late failure', async () => {
    const clock = createVirtualClock()
    const { functions, entered, fail } = held()
    await using server = await served(functions, { clock, timeout: 1000 })
    const answer = server.send('/held')
    const { signal } = await entered
    clock.advance(1000)
    expect([(await answer).status, ((await answer).json() as { code: string }).code]).to.deep.equal([504, 'FUNCTION_TIMEOUT'])
    expect(String(signal.reason)).to.include('longer than 1000 ms')
    fail(new Error('too late'))
    await new Promise(setImmediate)
    const [late] = server.log.filter(({ msg }) => String(msg).includes('after its caller had been answered'))
    expect(late).to.include({ function: 'held' })
  })

  it('leaves no timer behind when a function is in time', async () => {
    const clock = createVirtualClock()
    await using server = await served([hello], { clock, timeout: 1000 })
    expect((await server.send('/hello')).status).to.equal(200)
    expect(clock.pending).to.equal(0)
  })

  it('aborts the signal when the caller leaves, and survives the rejection that follows', async () => {
    const { functions, entered, fail } = held()
    await using server = await served([...functions, hello])
    const outgoing = httpRequest(`${server.url}/held`)
    outgoing.on('error', () => undefined)
    outgoing.end()
    const { signal } = await entered
    outgoing.destroy()
    expect(String(await aborted(signal))).to.include('the caller left')
    fail(new Error('nobody listens'))
    await new Promise(setImmediate)
    expect(server.log.some(({ function: name, msg }) => name === 'held' && msg === 'A function failed')).to.equal(true)
    expect((await server.send('/hello')).json()).to.equal('hello')
  })

  it('gives a handler its headers and a log with its name', async () => {
    const logs = defineFunction({ name: 'logs', input: nothing, output: text }, (_input, { log, headers }) => {
      log.info({}, 'from the handler')
      return String(headers['x-trace'])
    })
    await using server = await served([logs])
    expect((await server.send('/logs', { headers: { 'X-Trace': 'abc' } })).json()).to.equal('abc')
    expect(server.log.filter(({ msg }) => msg === 'from the handler')[0]).to.include({ function: 'logs' })
  })
})
