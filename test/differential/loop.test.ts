import { expect } from 'chai'
import fc from 'fast-check'
import type { Json } from '../../lib/common/index.ts'
import { loadDefinition, type LoadedDefinition } from '../../lib/definition/index.ts'
import { DefinitionError } from '../../lib/errors/index.ts'
import type { FunctionResult } from '../../lib/functions/index.ts'
import { defaultCorpus, isFolder, missingCorpusLine } from '../conformance/corpus.ts'
import { arbitraryWorkflow } from '../property/definition/arbitrary-workflow.ts'
import { deployForTest, Driver, type TestFunction } from '../unit/instance/support/driver.ts'
import { createVirtualClock } from '../support/clock.ts'
import { corpusRuns, type CorpusRun } from './corpus-runs.ts'

const GROUPS = ['spec-0.8', 'sonataflow', 'sonataflow-examples']
/** Moves of one run: what waits for ever must not be driven for ever. */
const MOST_MOVES = 40

interface Surroundings {
  readonly loaded: LoadedDefinition
  readonly input: Json
  readonly stubs?: CorpusRun['stubs']
  readonly events?: CorpusRun['events']
}

interface Recorded {
  readonly steps: readonly unknown[]
  readonly snapshots: readonly unknown[]
  readonly events: readonly unknown[]
  readonly status: string
  readonly data: Json
  readonly failure: unknown
}

/** Answers calls from stubs; without one with a result that depends on the function, every fourth call with an error. */
function functionsOf({ loaded, stubs = {} }: Surroundings): Record<string, TestFunction> {
  let calls = 0
  return Object.fromEntries(loaded.definition.functions.map(({ name }): [string, TestFunction] => {
    let used = 0
    return [name, ({ arguments: args }): FunctionResult | Promise<FunctionResult> => {
      calls += 1
      const stub = stubs[name]?.[Math.min(used++, stubs[name].length - 1)] as { result?: Json; error?: { name?: string; code?: string } } | undefined
      if (stub?.error !== undefined) return Promise.reject(Object.assign(new Error('stub'), stub.error))
      if (stub !== undefined) return Promise.resolve({ output: stub.result ?? {} })
      if (calls % 4 === 0) return Promise.reject(Object.assign(new Error(`call ${String(calls)} fails`), { code: '500' }))
      const result: FunctionResult = { output: { [name]: calls, args: args ?? null } }
      return calls % 2 === 0 ? result : Promise.resolve(result)
    }]
  }))
}

async function record(loop: 'stock' | 'fast', surroundings: Surroundings, { restarts = false, callsAtOnce = false } = {}): Promise<Recorded> {
  const { loaded, input, events = {} } = surroundings
  const clock = createVirtualClock()
  const options = { loop, clock, functions: functionsOf(surroundings), record: true, maxSteps: 300, callsAtOnce }
  const driver = new Driver(await deployForTest(loaded, options), input, options)
  await driver.begin()
  for (let moves = 0; moves < MOST_MOVES && driver.instance.status === 'waiting'; moves += 1) {
    if (restarts) await driver.restart()
    const type = driver.instance.waits[0]?.events[0]?.definition.type
    // Events and timers by turns, so that timeouts and what they limit both win at times.
    if (type !== undefined && moves % 3 !== 2) await driver.deliver(type, events[type] ?? { from: 'event', count: moves })
    else if (!await driver.nextTimer()) break
  }
  if (driver.instance.status === 'error') {
    driver.turn(() => { driver.instance.retrigger() })
    await driver.settle()
  }
  if (driver.instance.status === 'error') {
    driver.turn(() => { driver.instance.skip() })
    await driver.settle()
  }
  if (driver.instance.status === 'waiting' || driver.instance.status === 'error') {
    driver.turn(() => { driver.instance.abort() })
    await driver.settle()
  }
  const { steps, snapshots, events: produced, instance } = driver
  return { steps, snapshots, events: produced, status: instance.status, data: instance.data, failure: instance.failure }
}

async function compare(surroundings: Surroundings): Promise<void> {
  const stock = await record('stock', surroundings)
  const fast = await record('fast', surroundings)
  expect(fast.steps, 'steps').to.deep.equal(stock.steps)
  expect(fast.events, 'events').to.deep.equal(stock.events)
  expect(fast.snapshots.length, 'number of snapshots').to.equal(stock.snapshots.length)
  fast.snapshots.forEach((snapshot, index) => {
    const difference = firstDifference(stock.snapshots[index], snapshot, '')
    if (difference !== undefined) expect.fail(`snapshot ${String(index)}: ${difference}`)
  })
  expect(fast).to.deep.equal(stock)
  // Calls that are answered at once make fewer turns, and nothing else different.
  const { snapshots: _turns, ...atOnce } = await record('fast', surroundings, { callsAtOnce: true })
  const { snapshots: _steps, ...expected } = stock
  expect(atOnce, 'with calls amid a turn').to.deep.equal(expected)
  // A snapshot of either can be resumed by either: an actor of the stock loop below a machine of ours.
  const restarted = await record('fast', surroundings, { restarts: true })
  const reference = await record('stock', surroundings, { restarts: true })
  expect(restarted.steps, 'steps with a restart at each wait').to.deep.equal(reference.steps)
  expect(restarted, 'with a restart at each wait').to.deep.equal(reference)
}

/** Where two JSON values differ first, for a failure that can be read. */
function firstDifference(expected: unknown, actual: unknown, path: string): string | undefined {
  if (typeof expected !== 'object' || typeof actual !== 'object' || expected === null || actual === null) {
    return Object.is(expected, actual) ? undefined : `${path}: ${JSON.stringify(expected)} became ${JSON.stringify(actual)}`
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = firstDifference((expected as Record<string, unknown>)[key], (actual as Record<string, unknown>)[key], `${path}/${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

function isDeployable(error: unknown): boolean {
  // Definitions that need what only a host has, or whose texts are wrong on purpose.
  return !(error instanceof DefinitionError)
}

describe('differential: our loop and the one of XState', () => {
  for (const group of GROUPS) {
    it(`take the same steps and store the same snapshots in ${group}`, async function () {
      this.timeout(240_000)
      const corpus = defaultCorpus()
      if (!await isFolder(corpus)) {
        process.stderr.write(`${missingCorpusLine(corpus, 1)}\n`)
        this.skip()
      }
      const { runs } = await corpusRuns(corpus, group)
      const differences: string[] = []
      let compared = 0
      for (const { title, loaded, inputs, stubs, events } of runs) {
        for (const input of inputs) {
          try {
            await compare({ loaded, input, stubs, events })
            compared += 1
          } catch (error) {
            if (isDeployable(error)) differences.push(`${title}: ${error instanceof Error ? error.message : String(error)}`)
          }
        }
      }
      expect(differences).to.deep.equal([])
      expect(compared).to.be.greaterThan(20)
    })
  }

  it('do so for generated definitions', async function () {
    this.timeout(120_000)
    const runs = Number(process.env['FAST_CHECK_RUNS'] ?? 60)
    await fc.assert(fc.asyncProperty(arbitraryWorkflow, async (document) => {
      const loaded = await loadDefinition({ uri: 'generated.sw.json', document }, { profile: 'spec', root: '.' })
      try {
        await compare({ loaded, input: { a: { b: 1 }, n: 2, list: [1, 2, 3] } })
      } catch (error) {
        if (isDeployable(error)) throw error
      }
    }), { numRuns: runs })
  })
})
