import { expect } from 'chai'
import { createRandomIdSource, createSystemClock, type JsonObject } from '../../../lib/common/index.ts'
import { createExpressions } from '../../../lib/expressions/index.ts'
import { compileErrors } from '../../../lib/instance/error-matching.ts'
import { toWorkflowError } from '../../../lib/instance/workflow-error.ts'
import { FunctionError } from '../../../lib/errors/index.ts'
import type { FunctionResult } from '../../../lib/functions/index.ts'
import { Driver, loadForTest } from './support/driver.ts'

const FUNCTIONS = [{ name: 'f', type: 'custom', operation: 'service:Orders::f' }]

/** Fails every call and gives the seconds after the start at which they came. */
async function attempts(retry: JsonObject, error: () => Error = () => new Error('broken'), more: JsonObject = {}): Promise<number[]> {
  const at: number[] = []
  const driver = await Driver.open({
    id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], retries: [{ name: 'again', maxAttempts: 4, ...retry }],
    states: [{ name: 'S', type: 'operation', actions: [{ functionRef: 'f', retryRef: 'again', ...more }], end: true }],
  }, {}, { functions: { f: () => { at.push(driver.clock.now()); throw error() } } })
  await driver.begin()
  const begun = driver.clock.now()
  for (let turn = 0; turn < 20 && await driver.nextTimer(); turn += 1) { /* until no retry is left */ }
  return at.map((instant) => (instant - begun) / 1000)
}

describe('instance: retries', () => {
  it('wait for the delay between attempts, as often as maxAttempts says (S214, A12)', async () => {
    expect(await attempts({ delay: 'PT2S' })).to.deep.equal([0, 2, 4, 6, 8])
    expect(await attempts({ delay: 'PT2S', maxAttempts: 1 })).to.deep.equal([0, 2])
  })

  it('multiply, then add the increment, up to the longest delay (S215–S217)', async () => {
    expect(await attempts({ delay: 'PT1S', multiplier: 2 })).to.deep.equal([0, 1, 3, 7, 15])
    expect(await attempts({ delay: 'PT1S', increment: 'PT1S' })).to.deep.equal([0, 1, 3, 6, 10])
    expect(await attempts({ delay: 'PT1S', multiplier: 2, increment: 'PT1S' })).to.deep.equal([0, 1, 4, 11, 26])
    expect(await attempts({ delay: 'PT1S', multiplier: 10, maxDelay: 'PT5S' })).to.deep.equal([0, 1, 6, 11, 16])
  })

  it('spread by jitter, a share or a duration, which is not fed back (S218, S219, A27)', async () => {
    // The source of randomness of the tests gives 0.25: half of the jitter is taken away.
    expect(await attempts({ delay: 'PT10S', jitter: 0.2, maxAttempts: 2 })).to.deep.equal([0, 9, 18])
    expect(await attempts({ delay: 'PT10S', jitter: 'PT4S', maxAttempts: 2 })).to.deep.equal([0, 8, 16])
    expect(await attempts({ delay: 'PT10S', multiplier: 2, jitter: 0.2, maxAttempts: 2 })).to.deep.equal([0, 9, 27])
  })

  it('wait as long as the callee asks for, up to the longest delay', async () => {
    const busy = (): Error => new FunctionError({ code: 'REST_STATUS', message: 'busy', status: 503, retryAfter: 30_000 })
    expect(await attempts({ delay: 'PT1S', maxAttempts: 1 }, busy)).to.deep.equal([0, 30])
    expect(await attempts({ delay: 'PT1S', maxAttempts: 1, maxDelay: 'PT5S' }, busy)).to.deep.equal([0, 5])
  })

  it('are for the errors that the action names', async () => {
    const states = (more: JsonObject): JsonObject => ({
      id: 'w', functions: FUNCTIONS, errors: [{ name: 'busy', code: '503' }, { name: 'gone', code: '404' }], retries: [{ name: 'again', delay: 'PT1S', maxAttempts: 2 }],
      states: [{ name: 'S', type: 'operation', actions: [{ functionRef: 'f', retryRef: 'again', ...more }], end: true }],
    })
    for (const [more, status, expected] of [[{ retryableErrors: ['busy'] }, 503, 3], [{ retryableErrors: ['busy'] }, 404, 1], [{}, 404, 3], [{}, 500, 1]] as const) {
      let calls = 0
      const f = (): FunctionResult => { calls += 1; throw new FunctionError({ code: 'REST_STATUS', message: 'no', status }) }
      const driver = await Driver.run(states(more), {}, { functions: { f } })
      while (await driver.nextTimer()) { /* until no retry is left */ }
      expect([calls, driver.instance.status], JSON.stringify([more, status])).to.deep.equal([expected, 'error'])
    }
  })

  it('begin to count anew after a success, and in the next state', async () => {
    let calls = 0
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], retries: [{ name: 'again', delay: 'PT1S', maxAttempts: 1 }],
      states: ['A', 'B'].map((name, index) => ({ name, type: 'operation', actions: [{ functionRef: 'f', retryRef: 'again' }], ...(index === 0 ? { transition: 'B' } : { end: true }) })),
    }, {}, { functions: { f: () => { calls += 1; if (calls % 2 === 1) throw new Error('broken'); return {} } } })
    await driver.advance(10_000)
    expect([calls, driver.instance.status]).to.deep.equal([4, 'completed'])
  })

  it('survive a restart with the attempts that are left', async () => {
    let calls = 0
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], retries: [{ name: 'again', delay: 'PT1S', maxAttempts: 2 }],
      states: [{ name: 'S', type: 'operation', actions: [{ functionRef: 'f', retryRef: 'again' }], end: true }],
    }, {}, { functions: { f: () => { calls += 1; throw new Error('broken') } } })
    while (driver.clock.next() !== undefined) {
      await driver.restart()
      await driver.nextTimer()
    }
    expect([calls, driver.instance.status]).to.deep.equal([3, 'error'])
  })
})

describe('instance: matching of errors (decisions.md 16)', () => {
  class Special extends FunctionError {}
  const status = (code: number): Error => new FunctionError({ code: 'REST_STATUS', message: `status ${String(code)}`, status: code })
  const compilePattern = (pattern: string, pointer: string): (text: string) => boolean => createExpressions({
    language: 'jq', profile: 'spec', clock: createSystemClock(), ids: createRandomIdSource(),
  }).compilePattern(pattern, { pointer })
  const named = (name: string): Error => Object.assign(new Error('x'), { name })

  it('is by status, class, ancestor, code, name, message, timeout or all', async () => {
    const cases: readonly (readonly [string | undefined, unknown, boolean])[] = [
      ['404', status(404), true], ['HTTP:404', status(404), true], ['404', status(500), false],
      ['Special', new Special({ code: 'FUNCTION_FAILED', message: 'x' }), true],
      ['FunctionError', new Special({ code: 'FUNCTION_FAILED', message: 'x' }), true],
      ['org.acme.FunctionError', new Special({ code: 'FUNCTION_FAILED', message: 'x' }), true],
      ['java.lang.Exception', 'anything', true], ['java.lang.RuntimeException', undefined, true], ['Error', new Error('x'), true], ['*', null, true],
      ['FUNCTION_FAILED', new Error('x'), true], ['E42', Object.assign(new Error('x'), { code: 'E42' }), true],
      ['com.acme.OrderGone', named('OrderGone'), true], ['com.acme.OrderGone', named('OrderHere'), false],
      ['no (more|less) than', new Error('it is no more than that'), true], ['no (more|less) than', new Error('other'), false],
      ['((', new Error('(('), true], ['((', new Error('other'), false],
      [undefined, named('bad'), true], [undefined, named('good'), false], [undefined, { name: 'bad', code: 'x', message: 'y' }, true],
    ]
    for (const [code, thrown, expected] of cases) {
      const { definition } = await loadForTest({ id: 'w', errors: [{ name: 'bad', ...(code === undefined ? {} : { code }) }], states: [{ name: 'S', type: 'inject', data: {}, end: true }] })
      expect(compileErrors(definition, compilePattern).get('bad')?.(toWorkflowError(thrown)), `${String(code)} against ${JSON.stringify(toWorkflowError(thrown))}`).to.equal(expected)
    }
  })

  it('by a pattern takes time in proportion to the message, and refuses at load what cannot', async () => {
    const errors = [{ name: 'slow', code: '^(a+)+$' }]
    const states = [{ name: 'S', type: 'inject', data: {}, end: true }]
    const { definition } = await loadForTest({ id: 'w', errors, states })
    const matches = compileErrors(definition, compilePattern).get('slow')
    const begun = process.hrtime.bigint()
    expect(matches?.(toWorkflowError(new Error(`${'a'.repeat(5000)}!`)))).to.equal(false)
    expect(matches?.(toWorkflowError(new Error('aaa')))).to.equal(true)
    expect(Number(process.hrtime.bigint() - begun) / 1e6).to.be.below(2000)
    const refused = await Driver.open({ id: 'w', errors: [{ name: 'ahead', code: 'no (?=more)' }], states }).then(() => undefined, (error: unknown) => error)
    expect(refused).to.have.nested.property('violations[0].pointer', '/errors/0/code')
    expect(refused).to.have.nested.property('violations[0].hint').that.includes('regex=backtracking')
  })

  it('takes the first handler that fits', async () => {
    const caught = (name: string): JsonObject => ({ name, type: 'inject', data: {}, end: true })
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS, errors: [{ name: 'one', code: '500' }, { name: 'any', code: '*' }],
      states: [{ name: 'S', type: 'operation', actions: [{ functionRef: 'f' }], onErrors: [{ errorRef: 'one', transition: 'One' }, { errorRefs: ['any'], transition: 'Any' }], end: true }, caught('One'), caught('Any')],
    }, {}, { functions: { f: () => { throw new Error('x') } } })
    expect(driver.trace).to.deep.equal(['S', 'Any'])
  })
})
