import { expect } from 'chai'
import { SonatinaError } from '../../../lib/errors/index.ts'
import { silentLogger, type Json } from '../../../lib/common/index.ts'
import { bytes, cloudEvent, createFunctionRegistry, defineFunction, event, httpError, json, nothing, text, type RegistryCallContext } from '../../../lib/function-runtime/index.ts'
import { createVirtualClock } from '../../support/clock.ts'
import { EVENT } from './harness.ts'

const Bean = { type: 'object', properties: { n: { type: 'integer' }, list: { type: 'array', items: { type: 'integer' } } } } as const
const registry = createFunctionRegistry({
  double: defineFunction({ input: json({ type: 'integer' }), output: json({ type: 'integer' }) }, (n) => n * 2),
  mutate: defineFunction({ input: json(Bean), output: json(Bean) }, (bean) => {
    bean.list?.push(99)
    return bean
  }),
  reverse: defineFunction({ input: bytes, output: bytes }, (given) => given.toReversed()),
  wrapper: defineFunction({ input: cloudEvent(json(Bean)), output: cloudEvent(json(Bean)) }, ({ data, id }) => event({ type: `got.${id}`, data })),
  status: defineFunction({ input: json(Bean), output: cloudEvent(nothing) }, ({ n }) => event({ type: n === 1 ? 'ok' : 'error' })),
  none: defineFunction({ input: nothing, output: nothing }, () => undefined),
  fails: defineFunction({ input: nothing, output: text }, () => { throw httpError(404, 'No order') }),
  wrong: defineFunction({ input: nothing, output: text }, () => 5 as never),
  waits: defineFunction({ input: nothing, output: text }, (_input, { signal }) => new Promise((_resolve, reject) => {
    const stop = (): void => { reject(signal.reason as Error) }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
  })),
}, { log: silentLogger })

async function failure(name: string, input?: Json, context?: RegistryCallContext): Promise<unknown> {
  try {
    return { accepted: await registry.invoke(name, input, context) }
  } catch (error) {
    return SonatinaError.is(error) ? error.code : error
  }
}

describe('calls within the process', () => {
  it('validate input and output', async () => {
    expect(await registry.invoke('double', 21)).to.equal(42)
    expect(await registry.invoke('none')).to.equal(undefined)
    expect(await failure('double', 'x')).to.equal('FUNCTION_ARGUMENT_INVALID')
    expect(await failure('double')).to.equal('FUNCTION_ARGUMENT_INVALID')
    expect(await failure('wrong')).to.equal('FUNCTION_FAILED')
    expect(await failure('absent')).to.equal('FUNCTION_NOT_FOUND')
    expect([registry.has('double'), registry.has('absent'), registry.names.length]).to.deep.equal([true, false, 9])
  })

  it('cannot change the data of the caller', async () => {
    const data = { n: 1, list: [1] }
    expect(await registry.invoke('mutate', data)).to.deep.equal({ n: 1, list: [1, 99] })
    expect(data).to.deep.equal({ n: 1, list: [1] })
  })

  it('carry bytes as base64', async () => {
    expect(await registry.invoke('reverse', 'AQI=')).to.equal('AgE=')
    expect(await failure('reverse', 'no base64')).to.equal('FUNCTION_ARGUMENT_INVALID')
  })

  it('need an event where the input is one, and answer an event to an event', async () => {
    expect(await failure('wrapper', { n: 1 })).to.equal('FUNCTION_ARGUMENT_INVALID')
    const answer = await registry.invoke('wrapper', undefined, { event: { ...EVENT, data: { n: 1 } } }) as Record<string, Json>
    expect(answer).to.include({ type: 'got.1', source: 'wrapper', specversion: '1.0', datacontenttype: 'application/json' })
    expect(answer['data']).to.deep.equal({ n: 1 })
    expect(await registry.invoke('status', undefined, { event: { ...EVENT, data: { n: 2 } } })).to.include({ type: 'error' }).and.not.have.property('data')
    expect(await registry.invoke('status', { n: 1 })).to.equal(undefined)
    expect(await registry.invoke('reverse', undefined, { event: { ...EVENT, data_base64: 'AQI=' } })).to.include({ data_base64: 'AgE=' })
  })

  it('hand over the errors of handlers, with their status', async () => {
    const error = await registry.invoke('fails').catch((given: unknown) => given)
    expect(error).to.include({ code: 'FUNCTION_FAILED', status: 404, message: 'No order' })
  })

  it('abort with the signal of the caller', async () => {
    const controller = new AbortController()
    const running = failure('waits', undefined, { signal: controller.signal })
    controller.abort()
    expect(await running).to.equal('FUNCTION_FAILED')
    expect(await failure('waits', undefined, { signal: AbortSignal.abort() })).to.equal('FUNCTION_FAILED')
  })

  it('end with the timeout', async () => {
    const clock = createVirtualClock()
    const timed = createFunctionRegistry({ never: defineFunction({ input: nothing, output: text }, () => new Promise(() => undefined)) }, { clock, timeout: 10 })
    const running = timed.invoke('never').catch((error: unknown) => error)
    clock.advance(10)
    expect(await running).to.include({ code: 'FUNCTION_TIMEOUT' })
    await Promise.all([timed.close(), Promise.resolve().then(() => { clock.advance(10_000) })])
  })
})
