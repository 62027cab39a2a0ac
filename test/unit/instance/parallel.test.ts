import { expect } from 'chai'
import type { JsonObject } from '../../../lib/common/index.ts'
import type { FunctionResult } from '../../../lib/functions/index.ts'
import { deferred, Driver } from './support/driver.ts'

const FUNCTIONS = [
  ...['f', 'g', 'h'].map((name) => ({ name, type: 'custom', operation: `service:Orders::${name}` })),
  ...['A', 'B', 'C'].map((letter) => ({ name: `add${letter}`, type: 'expression', operation: `\${ .result |= . + "${letter}" }` })),
]
const call = (name: string): JsonObject => ({ functionRef: name })
const branch = (name: string, ...actions: JsonObject[]): JsonObject => ({ name, actions: actions.length === 0 ? [call(name)] : actions })
const parallel = (branches: JsonObject[], more: JsonObject = {}): JsonObject => ({ id: 'w', functions: FUNCTIONS, errors: [{ name: 'bad', code: 'Error' }], states: [{ name: 'P', type: 'parallel', branches, end: true, ...more }] })

for (const loop of ['stock', 'fast'] as const) {
  describe(`instance: parallel states in the ${loop} loop`, () => {
    it('share the data: every branch sees what the others have done', async () => {
      const driver = await Driver.run(parallel([branch('addA'), branch('addB'), branch('addC')]), { result: '' }, { loop })
      expect([...(driver.instance.data as { result: string }).result].sort().join('')).to.equal('ABC')
    })

    it('give each branch a copy where it is asked for, and merge at the join', async () => {
      const driver = await Driver.run(parallel([branch('addA'), branch('addB')], { metadata: { branchData: 'isolated' } }), { result: 'x' }, { loop })
      expect((driver.instance.data as { result: string }).result).to.equal('xB')
    })

    it('begin the calls of all branches before any has answered', async () => {
      const calls = [deferred<FunctionResult>(), deferred<FunctionResult>()]
      let begun = 0
      const driver = await Driver.open(parallel([branch('f'), branch('g')]), {}, { loop, functions: { f: () => { begun += 1; return calls[0]!.promise }, g: () => { begun += 1; return calls[1]!.promise } } })
      driver.turn(() => { driver.instance.begin() })
      await driver.answered()
      expect(begun).to.equal(2)
      calls[1]!.resolve({ output: { g: 1 } })
      await driver.answered()
      expect(driver.instance.data).to.deep.equal({ g: 1 })
      calls[0]!.resolve({ output: { f: 1 } })
      await driver.answered()
      expect([driver.instance.status, driver.instance.data]).to.deep.equal(['completed', { g: 1, f: 1 }])
    })

    it('stop the other branches once enough are done: calls are aborted, late results ignored, timers ended', async () => {
      const late = deferred<FunctionResult>()
      const signals: AbortSignal[] = []
      const driver = await Driver.open(parallel([
        branch('addA'), branch('f'), branch('slow', { ...call('addB'), sleep: { before: 'PT1H' } }), branch('g', call('g'), call('h')),
      ], { completionType: 'atLeast', numCompleted: 1 }), { result: '' }, {
        loop, functions: { f: ({ context }) => { signals.push(context.signal); return late.promise }, g: ({ context }) => { signals.push(context.signal); return late.promise } },
      })
      driver.turn(() => { driver.instance.begin() })
      await driver.answered()
      expect([driver.instance.status, driver.instance.data]).to.deep.equal(['completed', { result: 'A' }])
      expect(signals.every((signal) => signal.aborted), 'aborted').to.equal(true)
      expect(driver.clock.pending).to.equal(0)
      late.resolve({ output: { late: true } })
      await driver.answered()
      expect(driver.instance.data).to.deep.equal({ result: 'A' })
    })

    it('abort the calls that are under way when a branch fails, and ignore what they give (S065, S066)', async () => {
      const late = deferred<FunctionResult>()
      const signals: AbortSignal[] = []
      const driver = await Driver.open(
        { ...parallel([branch('f'), branch('g')], { onErrors: [{ errorRef: 'bad', transition: 'Caught' }] }), states: [
          { name: 'P', type: 'parallel', branches: [branch('f'), branch('g')], end: true, onErrors: [{ errorRef: 'bad', transition: 'Caught' }] },
          { name: 'Caught', type: 'inject', data: { caught: '${ $WORKFLOW.error.message }' }, end: true },
        ] },
        {}, { loop, functions: { f: ({ context }) => { signals.push(context.signal); return late.promise }, g: () => { throw new Error('broken') } } })
      driver.turn(() => { driver.instance.begin() })
      await driver.answered()
      expect([driver.instance.status, driver.instance.data]).to.deep.equal(['completed', { caught: 'broken' }])
      expect(signals.every((signal) => signal.aborted)).to.equal(true)
      late.reject(new Error('too late'))
      await driver.answered()
      expect(driver.instance.data).to.deep.equal({ caught: 'broken' })
    })

    it('refuse a number of branches that there is not', async () => {
      for (const enough of [0, 3, 1.5, 'x', null, true]) {
        const driver = await Driver.run(parallel([branch('addA'), branch('addB')], { completionType: 'atLeast', numCompleted: '${ .enough }' }), { result: '', enough }, { loop })
        expect(driver.instance.failure?.code, JSON.stringify(enough)).to.equal('FUNCTION_ARGUMENT_INVALID')
      }
      const text = await Driver.run(parallel([branch('addA'), branch('addB')], { completionType: 'atLeast', numCompleted: '${ .enough }' }), { result: '', enough: '2' }, { loop })
      expect(text.instance.status).to.equal('completed')
    })

    it('limit the time of a branch', async () => {
      const driver = await Driver.run(
        parallel([{ ...branch('f', { ...call('f'), sleep: { before: 'PT1H' } }), timeouts: { branchExecTimeout: 'PT2S' } }, branch('addA')]), { result: '' }, { loop })
      await driver.advance(2_000)
      expect(driver.instance.failure).to.include({ code: 'STATE_TIMEOUT' })
      expect(driver.clock.pending).to.equal(0)
    })

    it('wait for the slowest of two sleeps, not for their sum', async () => {
      const nap = (name: string): JsonObject => branch(name, { ...call('addA'), sleep: { before: 'PT0.3S' } })
      const driver = await Driver.run(parallel([nap('one'), nap('two')]), { result: '' }, { loop })
      const begun = driver.clock.now()
      await driver.nextTimer()
      expect([driver.instance.status, driver.clock.now() - begun]).to.deep.equal(['completed', 300])
    })
  })

  describe(`instance: foreach states in the ${loop} loop`, () => {
    const each = (more: JsonObject = {}): JsonObject => ({
      id: 'w', functions: FUNCTIONS,
      states: [{ name: 'E', type: 'foreach', inputCollection: '${ .list }', outputCollection: '${ .out }', iterationParam: 'n', actions: [{ functionRef: { refName: 'f', arguments: { n: '${ .n }', same: '${ $n }' } } }], end: true, ...more }],
    })

    it('keep the order of the input whatever the order of the answers (S083)', async () => {
      const answers = new Map([1, 2, 3].map((n) => [n, deferred<FunctionResult>()]))
      const driver = await Driver.open(each(), { list: [1, 2, 3] }, { loop, functions: { f: ({ arguments: args }) => answers.get((args as { n: number }).n)!.promise } })
      driver.turn(() => { driver.instance.begin() })
      for (const n of [3, 1, 2]) {
        await driver.answered()
        answers.get(n)!.resolve({ output: { n } })
      }
      await driver.answered()
      expect(driver.instance.data).to.deep.equal({ list: [1, 2, 3], out: [{ n: 1 }, { n: 2 }, { n: 3 }] })
    })

    it('begin the next batch when all of one are done (S077)', async () => {
      let open = 0
      let most = 0
      const gates: (() => void)[] = []
      const driver = await Driver.open(each({ batchSize: 2 }), { list: [1, 2, 3, 4, 5] }, { loop, functions: { f: () => {
        open += 1
        most = Math.max(most, open)
        return new Promise((resolve) => { gates.push(() => { open -= 1; resolve({ output: 1 }) }) })
      } } })
      driver.turn(() => { driver.instance.begin() })
      for (let round = 0; round < 10; round += 1) {
        await driver.answered()
        gates.shift()?.()
      }
      await driver.answered()
      expect([driver.instance.status, most]).to.deep.equal(['completed', 2])
    })

    it('go through nothing, and refuse what is no array', async () => {
      expect((await Driver.run(each(), { list: [] }, { loop })).instance.data).to.deep.equal({ list: [], out: [] })
      for (const list of [null, 1, 'x', {}]) {
        expect((await Driver.run(each(), { list }, { loop })).instance.failure?.code, JSON.stringify(list)).to.equal('FUNCTION_ARGUMENT_INVALID')
      }
    })

    it('fan out to 10,000 iterations in bounded time', async function () {
      if (loop === 'stock') this.skip()
      this.timeout(60_000)
      const list = Array.from({ length: 10_000 }, (_, index) => index)
      const driver = await Driver.open(each(), { list }, { loop, maxSteps: 100_000, functions: { f: ({ arguments: args }) => Promise.resolve({ output: args ?? null }) } })
      const begun = process.cpuUsage()
      await driver.begin()
      const { user, system } = process.cpuUsage(begun)
      process.stderr.write(`      10,000 iterations: ${String(Math.round((user + system) / 1000))} ms of CPU\n`)
      expect([driver.instance.status, driver.instance.failure]).to.deep.equal(['completed', undefined])
      expect((driver.instance.data as { out: unknown[] }).out).to.have.length(10_000)
    })
  })
}
