import { expect } from 'chai'
import type { JsonObject } from '../../../lib/common/index.ts'
import { Driver } from './support/driver.ts'

const FUNCTIONS = [{ name: 'f', type: 'custom', operation: 'service:Orders::f' }, { name: 'g', type: 'custom', operation: 'service:Orders::g' }]
const call = (name: string): JsonObject => ({ functionRef: name })
const fails = (): never => { throw new Error('broken') }

/** Throws so many times, then gives a result. */
function failing(times: number, output: JsonObject = {}): () => { output: JsonObject } {
  let calls = 0
  return () => {
    calls += 1
    if (calls <= times) throw new Error(`broken ${String(calls)}`)
    return { output }
  }
}

describe('instance: failures', () => {
  it('counts a state as completed only when its output filter held, so that it is compensated once', async () => {
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS,
      states: [
        { name: 'Work', type: 'operation', actions: [call('f')], compensatedBy: 'Undo', stateDataFilter: { output: '${ if .fix then . else error("no") end }' }, transition: 'End' },
        { name: 'End', type: 'inject', data: {}, end: { compensate: true } },
        { name: 'Undo', type: 'operation', usedForCompensation: true, actions: [call('g')] },
      ],
    })
    expect(driver.instance.status).to.equal('error')
    driver.turn(() => { driver.instance.replaceData({ fix: true }) })
    driver.turn(() => { driver.instance.retrigger() })
    expect(driver.instance.status).to.equal('completed')
    expect(driver.trace.filter((name) => name === 'Undo')).to.have.length(1)
  })

  it('keeps what is to be compensated when the step that starts the compensation fails', async () => {
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS,
      states: [
        { name: 'Work', type: 'operation', actions: [call('f')], compensatedBy: 'Undo', transition: 'End' },
        { name: 'End', type: 'inject', data: {}, stateDataFilter: { output: '${ if .fix then . else error("no") end }' }, end: { compensate: true } },
        { name: 'Undo', type: 'operation', usedForCompensation: true, actions: [call('g')] },
      ],
    })
    expect(driver.instance.status).to.equal('error')
    driver.turn(() => { driver.instance.replaceData({ fix: true }) })
    driver.turn(() => { driver.instance.retrigger() })
    expect(driver.instance.status).to.equal('completed')
    expect(driver.trace).to.deep.equal(['Work', 'End', 'Undo'])
  })

  it('does not send the events of an earlier state again when those of a later one cannot be made', async () => {
    const driver = await Driver.run({
      id: 'w', events: [{ name: 'out', type: 't.out', kind: 'produced' }],
      states: [
        { name: 'A', type: 'inject', data: { a: 1 }, transition: { nextState: 'B', produceEvents: [{ eventRef: 'out', data: '${ {n: .a} }' }] } },
        { name: 'B', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'out', data: '${ error("no") }' }] } },
      ],
    })
    expect(driver.instance.status).to.equal('error')
    expect(driver.events.map(({ data }) => data)).to.deep.equal([{ n: 1 }])
  })

  it('compensates an instance that is aborted in status error, with all steps of the compensating states', async () => {
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS,
      states: [
        { name: 'Work', type: 'operation', actions: [call('f')], compensatedBy: 'Undo', transition: 'Break' },
        { name: 'Break', type: 'operation', actions: [call('g')], end: true },
        { name: 'Undo', type: 'inject', usedForCompensation: true, data: { undone: true } },
      ],
    }, {}, { functions: { g: fails } })
    expect(driver.instance.status).to.equal('error')
    driver.turn(() => { driver.instance.abort() })
    expect(driver.instance.status).to.equal('aborted')
    expect(driver.instance.data).to.deep.equal({ undone: true })
  })

  it('runs the state before the end when time is up for an instance in status error', async () => {
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS, timeouts: { workflowExecTimeout: { duration: 'PT10S', interrupt: true, runBefore: 'Last' } },
      states: [
        { name: 'Break', type: 'operation', actions: [call('g')], end: true },
        { name: 'Last', type: 'inject', data: { last: true }, end: true },
      ],
    }, {}, { functions: { g: fails } })
    expect(driver.instance.status).to.equal('error')
    await driver.advance(10_000)
    expect(driver.trace).to.deep.equal(['Break', 'Last'])
    expect(driver.instance.data).to.deep.equal({ last: true })
  })

  it('ends a foreach state when the time of the workflow is up, whatever handlers the state has', async () => {
    for (const interrupt of [true, false]) {
      const driver = await Driver.run({
        id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], timeouts: { workflowExecTimeout: { duration: 'PT10S', interrupt } },
        states: [
          { name: 'Loop', type: 'foreach', inputCollection: '${ .list }', actions: [{ ...call('f'), sleep: { before: 'PT1H' } }], onErrors: [{ errorRef: 'any', end: true }], transition: 'Then' },
          { name: 'Then', type: 'inject', data: {}, end: true },
        ],
      }, { list: [1, 2] })
      expect(driver.instance.status).to.equal('waiting')
      await driver.advance(10_000)
      expect([driver.instance.status, driver.instance.output?.ending], `interrupt ${String(interrupt)}`).to.deep.equal(['aborted', 'timedOut'])
      expect(driver.clock.pending).to.equal(0)
    }
  })

  it('runs a foreach state again as a whole after its time was up, and hands the timeout to its handlers', async () => {
    const state = { name: 'Loop', type: 'foreach', inputCollection: '${ .list }', outputCollection: '${ .out }', actions: [{ ...call('f'), sleep: { before: 'PT5S' } }], timeouts: { stateExecTimeout: 'PT2S' }, end: true }
    const document = { id: 'w', functions: FUNCTIONS, errors: [{ name: 'late', code: 'timeout' }] }
    const resting = await Driver.run({ ...document, states: [state] }, { list: [1] })
    await resting.advance(2_000)
    expect(resting.instance.failure).to.include({ code: 'STATE_TIMEOUT', failedNodeId: 'Loop' })
    resting.turn(() => { resting.instance.retrigger() })
    expect(resting.instance.status).to.equal('waiting')
    await resting.advance(2_000)
    expect(resting.instance.status).to.equal('error')
    const handled = await Driver.run({ ...document, states: [{ ...state, onErrors: [{ errorRef: 'late', end: true }] }] }, { list: [1] })
    await handled.advance(2_000)
    expect(handled.instance.status).to.equal('completed')
  })

  it('does not take the answer to an earlier run of a callback state for the answer to the present one', async () => {
    const driver = await Driver.run({
      id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], events: [{ name: 'in', type: 't.in', source: 'test' }],
      states: [{ name: 'Ask', type: 'callback', action: { ...call('f'), sleep: { after: 'PT5S' } }, eventRef: 'in', timeouts: { stateExecTimeout: 'PT3S' }, onErrors: [{ errorRef: 'any', transition: 'Ask' }], end: true }],
    })
    await driver.deliver('t.in', { answer: 1 })
    await driver.advance(3_000)
    expect(driver.trace).to.deep.equal(['Ask', 'Ask'])
    expect(driver.instance.context.answer).to.equal(undefined)
  })

  it('hands a result or payload that has no place in the data to the handlers of the state', async () => {
    const handled = { onErrors: [{ errorRef: 'any', transition: 'Caught' }], end: true }
    const states: Record<string, JsonObject> = {
      action: { name: 'S', type: 'operation', actions: [{ ...call('f'), actionDataFilter: { toStateData: '${ .text | length }' } }], ...handled },
      branch: { name: 'S', type: 'parallel', branches: [{ name: 'b', actions: [{ ...call('f'), actionDataFilter: { toStateData: '${ .text | length }' } }] }, { name: 'c', actions: [] }], ...handled },
      event: { name: 'S', type: 'event', onEvents: [{ eventRefs: ['in'], eventDataFilter: { toStateData: '${ .text | length }' }, actions: [] }], ...handled },
    }
    for (const [name, state] of Object.entries(states)) {
      const driver = await Driver.run({
        id: 'w', functions: FUNCTIONS, errors: [{ name: 'any', code: '*' }], events: [{ name: 'in', type: 't.in', source: 'test' }],
        states: [{ name: 'Begin', type: 'inject', data: {}, stateDataFilter: { output: '${ .text }' }, transition: 'S' }, state, { name: 'Caught', type: 'sleep', duration: 'PT1S', end: true }],
      }, { text: 'x' }, { functions: { f: () => ({ output: { f: 1 } }) } })
      await driver.deliver('t.in', { got: 1 })
      expect([driver.instance.status, driver.trace.at(-1)], name).to.deep.equal(['waiting', 'Caught'])
    }
  })

  for (const loop of ['stock', 'fast'] as const) {
    describe(`retrigger and skip in the ${loop} loop`, () => {
      it('run an action again, or go on behind it', async () => {
        const document = { id: 'w', functions: FUNCTIONS, states: [{ name: 'S', type: 'operation', actions: [call('f'), call('g')], end: true }] }
        const again = await Driver.run(document, {}, { loop, functions: { f: failing(1, { f: true }), g: () => ({ output: { g: true } }) } })
        expect(again.instance.failure).to.include({ failedNodeId: 'S/f', code: 'FUNCTION_FAILED', message: 'broken 1' })
        again.turn(() => { again.instance.retrigger() })
        expect(again.instance.data).to.deep.equal({ f: true, g: true })
        const on = await Driver.run(document, {}, { loop, functions: { f: fails, g: () => ({ output: { g: true } }) } })
        on.turn(() => { on.instance.skip() })
        expect([on.instance.status, on.instance.data]).to.deep.equal(['completed', { g: true }])
      })

      it('run a parallel state again as a whole, or go on behind it', async () => {
        const branch = (name: string): JsonObject => ({ name, actions: [call(name)] })
        const document = { id: 'w', functions: FUNCTIONS, states: [{ name: 'S', type: 'parallel', branches: [branch('f'), branch('g')], end: true }] }
        const driver = await Driver.run(document, {}, { loop, functions: { f: failing(1, { f: true }), g: () => ({ output: { g: true } }) } })
        expect(driver.instance.failure).to.include({ failedNodeId: 'S/f/f' })
        driver.turn(() => { driver.instance.retrigger() })
        expect([driver.instance.status, driver.instance.data]).to.deep.equal(['completed', { f: true, g: true }])
        const on = await Driver.run(document, {}, { loop, functions: { f: fails } })
        on.turn(() => { on.instance.skip() })
        expect(on.instance.status).to.equal('completed')
      })

      it('run a foreach state again, or go on behind it', async () => {
        const document = { id: 'w', functions: FUNCTIONS, states: [{ name: 'S', type: 'foreach', inputCollection: '${ .list }', outputCollection: '${ .out }', iterationParam: 'n', actions: [{ functionRef: { refName: 'f', arguments: { n: '${ .n }' } } }], end: true }] }
        const driver = await Driver.run(document, { list: [1, 2] }, { loop, functions: { f: failing(1, { f: 1 }) } })
        expect(driver.instance.failure).to.include({ failedNodeId: 'S/f' })
        driver.turn(() => { driver.instance.retrigger() })
        expect([driver.instance.status, driver.instance.data]).to.deep.equal(['completed', { list: [1, 2], out: [{ f: 1 }, { f: 1 }] }])
        const on = await Driver.run(document, { list: [1] }, { loop, functions: { f: fails } })
        on.turn(() => { on.instance.skip() })
        expect(on.instance.status).to.equal('completed')
      })

      it('evaluate a condition, a collection, an injection or a filter again once the data is mended', async () => {
        const broken = '${ if .fix then .value else error("no") end }'
        const states: Record<string, JsonObject> = {
          choose: { name: 'S', type: 'switch', dataConditions: [{ condition: '${ if .fix then true else error("no") end }', end: true }], defaultCondition: { end: true } },
          prepare: { name: 'S', type: 'foreach', inputCollection: broken, actions: [], end: true },
          inject: { name: 'S', type: 'inject', data: { v: broken }, end: true },
          enter: { name: 'S', type: 'inject', data: {}, stateDataFilter: { input: '${ if .fix then . else error("no") end }' }, end: true },
        }
        for (const [name, state] of Object.entries(states)) {
          const driver = await Driver.run({ id: 'w', states: [state] }, {}, { loop })
          expect(driver.instance.failure, name).to.include({ code: 'EXPRESSION_FAILED', failedNodeId: 'S' })
          driver.turn(() => { driver.instance.replaceData({ fix: true, value: [] }) })
          driver.turn(() => { driver.instance.retrigger() })
          expect(driver.instance.status, name).to.equal('completed')
          const on = await Driver.run({ id: 'w', states: [state] }, {}, { loop })
          on.turn(() => { on.instance.skip() })
          expect(on.instance.status, `${name}, skipped`).to.equal('completed')
        }
      })
    })
  }
})
