import { fileURLToPath } from 'node:url'
import type { Json } from '../../lib/common/index.ts'
import type * as Product from '../../lib/index.ts'
import type { Runtime } from '../../lib/index.ts'
import { chain, chainInput } from './definitions.ts'
import { spread } from './measure.ts'

/** How a cost grows with a size: time is proportional to size to the power of the exponent. */
export interface Growth {
  readonly what: string
  readonly points: readonly { readonly size: number; readonly microseconds: number }[]
  readonly exponent: number
}

const product = new URL('../../dist/lib/index.js', import.meta.url).href
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Opens a runtime of the published product in memory. */
export async function openProduct(documents: readonly object[], settings: Readonly<Record<string, unknown>> = {}): Promise<Runtime> {
  const { createRuntime, silentLogger } = await import(product) as typeof Product
  return createRuntime({
    root,
    definitions: documents.map((document, index) => ({ uri: `${root}/bench${String(index)}.sw.json`, document: document as Json })),
    environment: {},
    profile: 'prod',
    hostClasses: new Map(),
    log: silentLogger,
    strict: true,
    settings: { 'sonatina.store': 'memory', 'sonatina.profile': 'spec', ...settings },
  })
}

/** Starts so many instances, 32 at a time; gives the CPU time of one, microseconds. */
export async function costOfStarts({ host }: Runtime, workflowId: string, input: Json, count: number): Promise<number> {
  const before = process.cpuUsage()
  for (let done = 0; done < count; done += 32) {
    await Promise.all(Array.from({ length: Math.min(32, count - done) }, () => host.start({ workflowId, input })))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const waiting = {
  id: 'waiting',
  version: '1',
  specVersion: '0.8',
  start: 'Wait',
  events: [{ name: 'Go', type: 'go', source: 'bench', correlation: [{ contextAttributeName: 'order' }] }],
  states: [
    { name: 'Wait', type: 'callback', action: { functionRef: 'nothing' }, eventRef: 'Go', end: true },
  ],
  functions: [{ name: 'nothing', type: 'expression', operation: '.' }],
}

const loop = {
  id: 'loop',
  version: '1',
  specVersion: '0.8',
  start: 'Each',
  functions: [{ name: 'double', type: 'expression', operation: '{ doubled: ($item * 2) }' }],
  states: [{
    name: 'Each',
    type: 'foreach',
    inputCollection: '${ .items }',
    iterationParam: 'item',
    outputCollection: '${ .results }',
    mode: 'sequential',
    actions: [{ functionRef: 'double', actionDataFilter: { results: '${ .doubled }' } }],
    end: true,
  }],
}

const ten = {
  id: 'ten',
  version: '1',
  specVersion: '0.8',
  start: 'S0',
  functions: [{ name: 'count', type: 'expression', operation: '{ count: ((.count // 0) + 1) }' }],
  states: Array.from({ length: 10 }, (_, index) => ({
    name: `S${String(index)}`,
    type: 'operation',
    actions: [{ functionRef: 'count' }],
    ...(index === 9 ? { end: true } : { transition: `S${String(index + 1)}` }),
  })),
}

/** Some seconds: shared processors are slower by half for seconds at a time, and each point has to meet a quick one. */
const RUNS = 120

/** Least of some runs: what else the machine does only adds. */
async function least(runs: number, run: () => Promise<number>): Promise<number> {
  const costs: number[] = []
  for (let index = 0; index < runs; index += 1) costs.push(await run())
  return spread(costs).min
}

function growthOf(what: string, points: Growth['points'], isEach: boolean): Growth {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return { what, points, exponent: NaN }
  const slope = Math.log(last.microseconds / first.microseconds) / Math.log(last.size / first.size)
  // The cost of one among n is that of n with an exponent one higher.
  return { what, points, exponent: isEach ? 1 + slope : slope }
}

/** Measures the runs of the growth page: live instances, definitions, past instances, length of a loop, size of the data. */
export async function growth(): Promise<readonly Growth[]> {
  return [await byLiveInstances(), await byDefinitions(), await byPastInstances(), await byIterations(), await bySize()]
}

async function byLiveInstances(): Promise<Growth> {
  const runtime = await openProduct([chain, waiting])
  const points: Growth['points'][number][] = []
  let live = 0
  await costOfStarts(runtime, 'chain', chainInput, 20_000)
  for (const size of [1, 1000, 100_000]) {
    await costOfStarts(runtime, 'waiting', {}, size - live)
    live = size
    points.push({ size, microseconds: await least(RUNS, () => costOfStarts(runtime, 'chain', chainInput, 5000)) })
  }
  await runtime.close(0)
  return growthOf('an instance beside n live ones', points, true)
}

async function byDefinitions(): Promise<Growth> {
  const points: Growth['points'][number][] = []
  for (const size of [1, 1000]) {
    const runtime = await openProduct(Array.from({ length: size }, (_, index) => ({ ...chain, id: index === 0 ? 'chain' : `chain${String(index)}` })))
    await costOfStarts(runtime, 'chain', chainInput, 20_000)
    points.push({ size, microseconds: await least(RUNS, () => costOfStarts(runtime, 'chain', chainInput, 5000)) })
    await runtime.close(0)
  }
  return growthOf('an instance beside n definitions', points, true)
}

async function byPastInstances(): Promise<Growth> {
  const runtime = await openProduct([chain])
  const points: Growth['points'][number][] = []
  let past = 10_000
  await costOfStarts(runtime, 'chain', chainInput, past)
  for (const size of [10_000, 1_000_000]) {
    if (size > past) await costOfStarts(runtime, 'chain', chainInput, size - past)
    past = size
    points.push({ size, microseconds: await least(RUNS, () => costOfStarts(runtime, 'chain', chainInput, 5000)) })
  }
  await runtime.close(0)
  return growthOf('an instance after n others', points, true)
}

async function byIterations(): Promise<Growth> {
  const runtime = await openProduct([loop])
  const points: Growth['points'][number][] = []
  const run = (size: number): Promise<number> => costOfStarts(runtime, 'loop', { items: Array.from({ length: size }, (_, index) => index) }, 1)
  await run(2000)
  for (const size of [100, 1000, 10_000]) points.push({ size, microseconds: await least(5, () => run(size)) })
  await runtime.close(0)
  return growthOf('a loop of n iterations', points, false)
}

async function bySize(): Promise<Growth> {
  const runtime = await openProduct([ten])
  const points: Growth['points'][number][] = []
  const run = (size: number): Promise<number> => {
    const rows = Array.from({ length: size / 100 }, (_, index) => ({ index, text: 'x'.repeat(80) }))
    return costOfStarts(runtime, 'ten', { rows }, 1)
  }
  await least(50, () => run(50_000))
  for (const size of [50_000, 500_000, 5_000_000]) points.push({ size, microseconds: await least(5, () => run(size)) })
  await runtime.close(0)
  return growthOf('n bytes through ten states', points, false)
}
