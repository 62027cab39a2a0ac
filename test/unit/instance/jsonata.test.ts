import { expect } from 'chai'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { Driver, type DriverOptions } from './support/driver.ts'

const FUNCTIONS = [
  { name: 'f', type: 'custom', operation: 'service:Orders::f' },
  { name: 'addA', type: 'expression', operation: '{"result": result & "A"}' },
  { name: 'addB', type: 'expression', operation: '{"result": result & "B"}' },
  { name: 'addC', type: 'expression', operation: '{"result": result & "C"}' },
]

function jsonata(parts: Readonly<Record<string, Json>>): JsonObject {
  return { id: 'w', expressionLang: 'jsonata', functions: FUNCTIONS, ...parts }
}

function run(parts: Readonly<Record<string, Json>>, input: Json = {}, options: DriverOptions = {}): Promise<Driver> {
  return Driver.run(jsonata(parts), input, options)
}

for (const loop of ['stock', 'fast'] as const) {
  describe(`instance: JSONata in the ${loop} loop`, () => {
    it('evaluates conditions in their order', async () => {
      const states = [
        { name: 'S', type: 'switch', dataConditions: [{ condition: '${ n > 10 }', transition: 'Big' }, { condition: '${ n > 5 }', transition: 'Middle' }], defaultCondition: { transition: 'Small' } },
        ...['Big', 'Middle', 'Small'].map((name) => ({ name, type: 'inject', data: { is: name }, end: true })),
      ]
      for (const [n, is] of [[11, 'Big'], [6, 'Middle'], [1, 'Small']] as const) {
        const driver = await run({ states }, { n }, { loop })
        expect(driver.instance.data).to.deep.equal({ n, is })
      }
    })

    it('filters input, view, arguments, results and output', async () => {
      const seen: Json[] = []
      const driver = await run({
        states: [{
          name: 'S', type: 'operation', stateDataFilter: { input: '${ {"order": order} }', output: '${ {"total": total, "order": order.id} }' }, end: true,
          actions: [{
            functionRef: { refName: 'f', arguments: { id: '${ id }', twice: '${ price * 2 }' } },
            actionDataFilter: { fromStateData: '${ order }', results: '${ sum }', toStateData: '${ total }' },
          }],
        }],
      }, { order: { id: 7, price: 4 }, other: true }, { loop, functions: { f: ({ arguments: args }) => { seen.push(args ?? null); return { output: { sum: 8 } } } } })
      expect(driver.instance.failure).to.equal(undefined)
      expect(seen).to.deep.equal([{ id: 7, twice: 8 }])
      expect(driver.instance.data).to.deep.equal({ total: 8, order: 7 })
    })

    it('performs an action only where its condition holds', async () => {
      const driver = await run({
        states: [{ name: 'S', type: 'operation', end: true, actions: [
          { functionRef: 'addA', condition: '${ n = 1 }' }, { functionRef: 'addB', condition: '${ n = 2 }' },
          { functionRef: 'addC', condition: '${ n = 1 }', sleep: { before: 'PT1S' } }, { functionRef: 'addB', condition: '${ n = 2 }', sleep: { before: 'PT1S' } },
        ] }],
      }, { n: 1, result: '' }, { loop })
      await driver.advance(2_000)
      expect(driver.instance.data).to.deep.equal({ n: 1, result: 'AC' })
    })

    it('lets branches that share the data read it when their turn comes', async () => {
      const driver = await run({
        states: [{ name: 'S', type: 'parallel', end: true, branches: ['addA', 'addB', 'addC'].map((name) => ({ name, actions: [{ functionRef: name }] })) }],
      }, { result: '' }, { loop })
      expect(driver.instance.status).to.equal('completed')
      expect([...(driver.instance.data as { result: string }).result].sort().join('')).to.equal('ABC')
    })

    it('ends a parallel state when as many branches as an expression says are done', async () => {
      const driver = await run({
        states: [{ name: 'S', type: 'parallel', completionType: 'atLeast', numCompleted: '${ enough }', end: true, branches: ['addA', 'addB', 'addC'].map((name) => ({ name, actions: [{ functionRef: name }] })) }],
      }, { result: '', enough: 2 }, { loop })
      expect(driver.instance.status).to.equal('completed')
      expect((driver.instance.data as { result: string }).result).to.have.length(2)
    })

    it('goes through a collection, in order and in batches', async () => {
      const state = { name: 'S', type: 'foreach', inputCollection: '${ list }', outputCollection: '${ out }', iterationParam: 'n', end: true, actions: [{ functionRef: { refName: 'f', arguments: { n: '${ n * 2 }' } } }] }
      for (const more of [{ mode: 'sequential' }, { mode: 'parallel', batchSize: 2 }, {}]) {
        const driver = await run({ states: [{ ...state, ...more }] }, { list: [1, 2, 3] }, { loop, functions: { f: ({ arguments: args }) => ({ output: args ?? null }) } })
        expect(driver.instance.data, JSON.stringify(more)).to.deep.equal({ list: [1, 2, 3], out: [{ n: 2 }, { n: 4 }, { n: 6 }] })
      }
    })

    it('produces events, and continues as another with data of an expression', async () => {
      const driver = await run({
        events: [{ name: 'out', type: 't.out', kind: 'produced' }],
        states: [
          { name: 'A', type: 'inject', data: { a: '${ n + 1 }' }, transition: { nextState: 'B', produceEvents: [{ eventRef: 'out', data: '${ {"n": a} }' }] } },
          { name: 'B', type: 'inject', data: {}, end: { produceEvents: [{ eventRef: 'out', data: { is: '${ a }' } }], continueAs: { workflowId: 'other', data: '${ {"from": a} }' } } },
        ],
      }, { n: 1 }, { loop })
      expect(driver.events.map(({ data }) => data)).to.deep.equal([{ n: 2 }, { is: 2 }])
      expect(driver.instance.continuation).to.deep.equal({ workflowId: 'other', input: { from: 2 } })
    })

    it('filters the payload of events', async () => {
      const driver = await run({
        events: [{ name: 'in', type: 't.in', source: 'test' }],
        states: [{ name: 'S', type: 'event', onEvents: [{ eventRefs: ['in'], eventDataFilter: { data: '${ order.id }', toStateData: '${ got }' }, actions: [] }], end: true }],
      }, {}, { loop })
      await driver.deliver('t.in', { order: { id: 3 } })
      expect(driver.instance.data).to.deep.equal({ got: 3 })
    })

    it('compensates states with output filters and events', async () => {
      const driver = await run({
        events: [{ name: 'out', type: 't.out', kind: 'produced' }],
        states: [
          { name: 'Work', type: 'operation', actions: [{ functionRef: 'addA' }], stateDataFilter: { output: '${ $merge([$, {"worked": true}]) }' }, compensatedBy: 'Undo', transition: 'End' },
          { name: 'End', type: 'inject', data: {}, end: { compensate: true, produceEvents: [{ eventRef: 'out', data: '${ {"undone": undone} }' }] } },
          { name: 'Undo', type: 'inject', usedForCompensation: true, data: { undone: '${ result }' } },
        ],
      }, { result: '' }, { loop })
      expect(driver.instance.status).to.equal('completed')
      expect(driver.trace).to.deep.equal(['Work', 'End', 'Undo'])
      expect(driver.events.map(({ data }) => data)).to.deep.equal([{ undone: 'A' }])
      expect(driver.instance.data).to.deep.equal({ result: 'A', worked: true, undone: 'A' })
    })

    it('hands errors of expressions to the handlers of the state', async () => {
      const handled = [{ errorRef: 'bad', transition: 'Handled' }]
      const broken = '${ $error("no") }'
      const states: Record<string, JsonObject> = {
        condition: { name: 'S', type: 'operation', actions: [{ functionRef: 'addA', condition: broken }], end: true },
        arguments: { name: 'S', type: 'operation', actions: [{ functionRef: { refName: 'f', arguments: { a: broken } } }], end: true },
        results: { name: 'S', type: 'operation', actions: [{ functionRef: 'f', actionDataFilter: { results: broken } }], end: true },
        switch: { name: 'S', type: 'switch', dataConditions: [{ condition: broken, end: true }], defaultCondition: { end: true } },
        collection: { name: 'S', type: 'foreach', inputCollection: broken, actions: [{ functionRef: 'addA' }], end: true },
        iteration: { name: 'S', type: 'foreach', inputCollection: '${ [1, 2] }', actions: [{ functionRef: { refName: 'f', arguments: { a: broken } } }], end: true },
        branch: { name: 'S', type: 'parallel', branches: [{ name: 'b', actions: [{ functionRef: 'addA', condition: broken }] }, { name: 'c', actions: [{ functionRef: 'addB' }] }], end: true },
        input: { name: 'S', type: 'operation', actions: [], stateDataFilter: { input: broken }, end: true },
      }
      for (const [name, state] of Object.entries(states)) {
        const driver = await run({
          errors: [{ name: 'bad', code: 'ExpressionError' }],
          states: [{ ...state, onErrors: handled }, { name: 'Handled', type: 'inject', data: { handled: '${ $WORKFLOW.error.code }' }, end: true }],
        }, {}, { loop, functions: { f: () => ({ output: 1 }) } })
        expect(driver.instance.failure, name).to.equal(undefined)
        expect((driver.instance.data as JsonObject)['handled'], name).to.equal('EXPRESSION_FAILED')
      }
    })

    it('goes on after a restart in the middle', async () => {
      const driver = await run({
        states: [
          { name: 'A', type: 'operation', actions: [{ functionRef: 'addA' }], transition: 'Nap' },
          { name: 'Nap', type: 'sleep', duration: 'PT1S', transition: 'B' },
          { name: 'B', type: 'operation', actions: [{ functionRef: 'addB' }], end: true },
        ],
      }, { result: '' }, { loop })
      await driver.restart()
      await driver.advance(1_000)
      expect(driver.instance.data).to.deep.equal({ result: 'AB' })
    })

    it('lets go of what an evaluation gives when its state was left meanwhile', async () => {
      const driver = await Driver.open(jsonata({
        states: [{ name: 'A', type: 'operation', actions: [{ functionRef: 'addA' }], transition: 'B' }, { name: 'B', type: 'inject', data: { b: 1 }, end: true }],
      }), { result: '' }, { loop })
      driver.turn(() => { driver.instance.begin() })
      driver.turn(() => { driver.instance.trigger(1) })
      await driver.settle()
      expect(driver.instance.status).to.equal('completed')
      expect(driver.instance.data).to.deep.equal({ result: '', b: 1 })
    })
  })
}
