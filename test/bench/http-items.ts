import { chainInput, exchangeInput } from './definitions.ts'
import { measure, pin, spread, startContender, stopContender, type Contender, type Load, type Sample } from './measure.ts'

/** One line of the table. */
export interface Row {
  readonly item: string
  readonly contender: string
  /** Server CPU per request, microseconds. */
  readonly cpu: ReturnType<typeof spread>
  readonly requestsPerSecond: ReturnType<typeof spread>
  readonly p50: number
  readonly p99: number
  /** Median of CPU against the floor, round by round. */
  readonly ratio: number
}

/** How long the bench runs. */
export interface BenchOptions {
  /** Many short ones: a machine that alternates between two speeds must not meet contenders in different phases. @default 15 */
  readonly rounds?: number
  /** Seconds of load on one contender in one round. @default 1 */
  readonly seconds?: number
  /** @default 32 */
  readonly connections?: number
  /** Peers are installed. @default true */
  readonly peers?: boolean
}

interface Script {
  readonly script: string
  readonly env?: Record<string, string>
  /** Needs packages that the bench installs on demand. */
  readonly isPeer?: boolean
}

interface Item {
  readonly path: string
  readonly body: object
  readonly contenders: Readonly<Record<string, Script>>
}

const FLOOR = { script: 'floor.ts' }
const SONATINA = { script: 'sonatina.ts' }
const FASTIFY = { script: 'fastify.ts', isPeer: true }
const STOCK = { script: 'sonatina.ts', env: { BENCH_LOOP: 'stock' } }

/** The work items that are measured over HTTP. */
export const HTTP_ITEMS: Readonly<Record<string, Item>> = {
  W1: {
    path: '/chain',
    body: chainInput,
    contenders: {
      floor: FLOOR,
      'koa-router-bodyparser': { script: 'koa-router-bodyparser.ts' },
      fastify: FASTIFY,
      'stock-xstate': STOCK,
      'aws-local-stepfunctions': { script: 'state-language.ts', isPeer: true },
      sonatina: SONATINA,
    },
  },
  W2: { path: '/parallel', body: {}, contenders: { floor: FLOOR, fastify: FASTIFY, 'stock-xstate': STOCK, sonatina: SONATINA } },
  W3: { path: '/currency_exchange_workflow', body: exchangeInput, contenders: { floor: FLOOR, fastify: FASTIFY, 'stock-xstate': STOCK, sonatina: SONATINA } },
  W4: {
    path: '/currency_exchange_workflow',
    body: exchangeInput,
    contenders: { floor: FLOOR, sonatina: { script: 'sonatina.ts', env: { BENCH_STORE: 'sqlite' } } },
  },
}

/** Measures one item: contenders take turns, round after round, so that a drift of the machine meets them all. */
export async function runHttpItem(name: string, { rounds = 15, seconds = 1, connections = 32, peers = true }: BenchOptions): Promise<readonly Row[]> {
  const item = HTTP_ITEMS[name] as Item
  const stub = await startContender('stub', contender('stub.ts'), {})
  pin(stub.process.pid ?? 0, 1)
  pin(process.pid, 1)
  const contenders: Contender[] = []
  try {
    for (const [label, { script, env, isPeer }] of Object.entries(item.contenders)) {
      if (isPeer === true && !peers) continue
      contenders.push(await startContender(label, contender(script), { ...env, BENCH_STUB: stub.url }))
    }
    const load: Load = { path: item.path, body: item.body, seconds, connections }
    for (const warm of contenders) await measure(warm, { ...load, seconds: Math.min(2, seconds) })
    const samples = contenders.map((): Sample[] => [])
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, measured] of contenders.entries()) samples[index]?.push(await measure(measured, load))
    }
    return contenders.map(({ name: label }, index) => toRow(name, label, samples[index] ?? [], samples[0] ?? []))
  } finally {
    for (const running of [stub, ...contenders]) await stopContender(running)
  }
}

function contender(script: string): URL {
  return new URL(`contenders/${script}`, import.meta.url)
}

function toRow(item: string, label: string, samples: readonly Sample[], floor: readonly Sample[]): Row {
  return {
    item,
    contender: label,
    cpu: spread(samples.map(({ cpu }) => cpu)),
    requestsPerSecond: spread(samples.map(({ requestsPerSecond }) => requestsPerSecond)),
    p50: spread(samples.map(({ p50 }) => p50)).median,
    p99: spread(samples.map(({ p99 }) => p99)).median,
    ratio: spread(samples.map(({ cpu }, round) => cpu / (floor[round]?.cpu ?? NaN))).median,
  }
}
