import { expect } from 'chai'
import type { JsonObject } from '../../../lib/common/index.ts'
import type { FunctionResult } from '../../../lib/functions/index.ts'
import { deferred, Driver } from './support/driver.ts'

const FUNCTIONS = [{ name: 'f', type: 'custom', operation: 'service:Orders::f' }, { name: 'g', type: 'custom', operation: 'service:Orders::g' }]
const EVENTS = [{ name: 'in', type: 't.in', source: 'test' }, { name: 'also', type: 't.also', source: 'test' }, { name: 'out', type: 't.out', kind: 'produced' }]
const call = (name: string): JsonObject => ({ functionRef: name })
const last: JsonObject = { name: 'Last', type: 'inject', data: { last: true }, end: true }
const document = (states: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({ id: 'w', functions: FUNCTIONS, events: EVENTS, errors: [{ name: 'late', code: 'timeout' }], states: [...states], ...more })

for (const loop of ['stock', 'fast'] as const) {
  describe(`instance: time in the ${loop} loop`, () => {
    it('of the workflow with interrupt abandons running calls and runs the state before the end', async () => {
      const signals: AbortSignal[] = []
      const late = deferred<FunctionResult>()
      const driver = await Driver.open(document([{ name: 'S', type: 'operation', actions: [call('f'), call('g')], end: true }, last],
        { timeouts: { workflowExecTimeout: { duration: 'PT10S', interrupt: true, runBefore: 'Last' } } }), {}, { loop, functions: { f: ({ context }) => { signals.push(context.signal); return late.promise } } })
      driver.turn(() => { driver.instance.begin() })
      await driver.answered()
      driver.clock.advance(10_000)
      expect(driver.instance.data).to.deep.equal({ last: true })
      expect(signals[0]?.aborted).to.equal(true)
      late.resolve({ output: { late: true } })
      await driver.answered()
      expect(driver.instance.data).to.deep.equal({ last: true })
    })

    it('of the workflow without interrupt lets a running call end and merges it, but begins nothing else (A15)', async () => {
      const running = deferred<FunctionResult>()
      let others = 0
      const driver = await Driver.open(document([{ name: 'S', type: 'operation', actions: [call('f'), call('g')], end: true }, last],
        { timeouts: { workflowExecTimeout: { duration: 'PT10S', interrupt: false, runBefore: 'Last' } } }), {}, { loop, functions: { f: () => running.promise, g: () => { others += 1; return {} } } })
      driver.turn(() => { driver.instance.begin() })
      await driver.answered()
      driver.clock.advance(10_000)
      expect(driver.instance.status).to.equal('active')
      running.resolve({ output: { done: true } })
      await driver.answered()
      expect([driver.instance.data, others]).to.deep.equal([{ done: true, last: true }, 0])
    })

    it('of the workflow without interrupt ends a wait at once', async () => {
      const driver = await Driver.run(document([{ name: 'S', type: 'sleep', duration: 'P1D', end: true }], { timeouts: { workflowExecTimeout: { duration: 'PT10S', interrupt: false } } }), {}, { loop })
      await driver.advance(10_000)
      expect([driver.instance.output?.ending, driver.clock.pending]).to.deep.equal(['timedOut', 0])
    })

    it('of a state or action is an error that handlers take', async () => {
      for (const timeouts of [{ stateExecTimeout: 'PT3S' }, { actionExecTimeout: 'PT3S' }]) {
        const driver = await Driver.open(document([{ name: 'S', type: 'operation', actions: [call('f')], timeouts, onErrors: [{ errorRef: 'late', transition: 'Last' }], end: true }, last]),
          {}, { loop, functions: { f: () => new Promise(() => undefined) } })
        driver.turn(() => { driver.instance.begin() })
        await driver.answered()
        driver.clock.advance(3_000)
        expect([driver.instance.status, driver.trace, driver.clock.pending], JSON.stringify(timeouts)).to.deep.equal(['completed', ['S', 'Last'], 0])
      }
    })

    it('to wait for an event goes on without the actions, whichever state waits (S031, S090)', async () => {
      const timeouts = { eventTimeout: 'PT3S' }
      const waits: Record<string, JsonObject> = {
        event: { name: 'S', type: 'event', onEvents: [{ eventRefs: ['in'], actions: [call('g')] }], timeouts, transition: 'Last' },
        all: { name: 'S', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['in', 'also'], actions: [call('g')] }], timeouts, transition: 'Last' },
        callback: { name: 'S', type: 'callback', action: call('f'), eventRef: 'in', timeouts, transition: 'Last' },
        switch: { name: 'S', type: 'switch', eventConditions: [{ eventRef: 'in', end: true }], defaultCondition: { transition: 'Last' }, timeouts },
      }
      for (const [name, state] of Object.entries(waits)) {
        const begin = { name: 'Begin', type: 'inject', data: {}, transition: 'S' }
        const driver = await Driver.run(document([begin, state, last]), {}, { loop, functions: { g: () => { throw new Error('not to be called') } } })
        if (name === 'all') await driver.deliver('t.also')
        await driver.advance(3_000)
        expect([driver.instance.status, driver.trace.at(-1), driver.clock.pending], name).to.deep.equal(['completed', 'Last', 0])
      }
    })

    it('does not stand in the way of the event that comes in the last moment', async () => {
      const begin = { name: 'Begin', type: 'inject', data: {}, transition: 'S' }
      const driver = await Driver.run(document([begin, { name: 'S', type: 'event', onEvents: [{ eventRefs: ['in'], actions: [] }], timeouts: { eventTimeout: 'PT3S' }, end: true }]), {}, { loop })
      await driver.advance(2_999)
      await driver.deliver('t.in', { got: true })
      await driver.advance(10)
      expect([driver.instance.status, driver.instance.data, driver.clock.pending]).to.deep.equal(['completed', { got: true }, 0])
    })

    it('gathers all events of a state in any order, each entry with its actions (S029, S037)', async () => {
      const begin = { name: 'Begin', type: 'inject', data: {}, transition: 'S' }
      const called: string[] = []
      const driver = await Driver.run(document([begin, { name: 'S', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['in'], actions: [call('f')] }, { eventRefs: ['also'], actions: [call('g')] }], end: true }]), {}, {
        loop, functions: { f: () => { called.push('f'); return {} }, g: () => { called.push('g'); return {} } },
      })
      await driver.deliver('t.also', { b: 1 })
      expect(called).to.deep.equal([])
      await driver.restart()
      await driver.deliver('t.in', { a: 1 })
      expect([driver.instance.status, called, driver.instance.data]).to.deep.equal(['completed', ['f', 'g'], { a: 1, b: 1 }])
    })

    it('goes on for an instance that is kept active, until a terminating end (S271)', async () => {
      const driver = await Driver.run(document([
        { name: 'S', type: 'event', onEvents: [{ eventRefs: ['in'], actions: [] }], transition: 'Choose' },
        { name: 'Choose', type: 'switch', dataConditions: [{ condition: '${ .stop }', end: { terminate: true } }], defaultCondition: { end: true } },
      ], { keepActive: true }), {}, { loop })
      for (const stop of [false, false, true]) {
        expect(driver.instance.status).to.equal('waiting')
        await driver.deliver('t.in', { stop })
      }
      expect(driver.instance.status).to.equal('completed')
      const resting = await Driver.run(document([{ name: 'S', type: 'inject', data: {}, end: true }], { keepActive: true, timeouts: { workflowExecTimeout: { duration: 'PT5S', interrupt: true } } }), {}, { loop })
      expect(resting.instance.status).to.equal('waiting')
      await resting.advance(5_000)
      expect(resting.instance.output?.ending).to.equal('timedOut')
    })

    it('of compensation is newest first, before events, before continuing (S241, S275)', async () => {
      const done: string[] = []
      const work = (name: string, next: string): JsonObject => ({ name, type: 'inject', data: {}, compensatedBy: `Undo${name}`, transition: next })
      const undo = (name: string): JsonObject => ({ name: `Undo${name}`, type: 'operation', usedForCompensation: true, actions: [{ functionRef: { refName: 'f', arguments: { name } } }] })
      const driver: Driver = await Driver.open(document([
        work('A', 'B'), work('B', 'End'),
        { name: 'End', type: 'inject', data: {}, end: { compensate: true, produceEvents: [{ eventRef: 'out' }], continueAs: { workflowId: 'other' } } },
        undo('A'), undo('B'),
      ]), {}, { loop, functions: { f: ({ arguments: args }) => { done.push(`${(args as { name: string }).name}${String(driver.events.length)}`); return {} } } })
      await driver.begin()
      expect(done).to.deep.equal(['B0', 'A0'])
      expect([driver.events.length, driver.instance.continuation?.workflowId]).to.deep.equal([1, 'other'])
    })
  })
}
