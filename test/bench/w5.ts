import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../../lib/common/index.ts'
import { createRuntime } from '../../lib/runtime.ts'
import type { Runtime } from '../../lib/runtime-options.ts'

/** What {@link w5} measures. */
export interface W5Result {
  readonly instances: number
  readonly startsPerSecond: number
  /** Growth of the resident set for each waiting instance. */
  readonly bytesPerInstance: number
  readonly heapBytesPerInstance: number
  /** Seconds until a new process-like runtime over the same store is ready. */
  readonly restartSeconds: number
  readonly eventsPerSecond: number
  /** Instances that ended: all, or something is wrong. */
  readonly ended: number
}

const DEFINITION = {
  uri: 'w5.sw.json',
  document: {
    id: 'w5',
    version: '1',
    specVersion: '0.8',
    start: 'First',
    events: [{ name: 'Go', type: 'go', source: 'bench', correlation: [{ contextAttributeName: 'order' }] }, { name: 'Open', type: 'open', source: 'bench', correlation: [{ contextAttributeName: 'order' }] }],
    states: [
      { name: 'First', type: 'event', onEvents: [{ eventRefs: ['Open'] }], transition: 'Wait' },
      { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'] }], end: true },
    ],
  },
}

const AT_ONCE = 500

/** Starts instances that wait for an event, opens their store anew, and sends each its event (W5 of the performance page). */
export async function w5(instances = 100_000, store = 'sqlite'): Promise<W5Result> {
  const root = await mkdtemp(join(tmpdir(), 'w5-'))
  const open = (): Promise<Runtime> => createRuntime({
    root,
    environment: {},
    hostClasses: new Map(),
    definitions: [DEFINITION],
    settings: { 'sonatina.store': store, 'sonatina.profile': 'spec', 'sonatina.store.inbox-retention': '60s' },
    log: silentLogger,
  })
  try {
    let runtime = await open()
    await send(runtime, 'open', 1000, 'warm')
    await send(runtime, 'go', 1000, 'warm')
    const before = memory()
    const starting = performance.now()
    await send(runtime, 'open', instances)
    const startsPerSecond = rate(instances, starting)
    const after = memory()
    let restartSeconds = 0
    if (store !== 'memory') {
      await runtime.close(0)
      const restarting = performance.now()
      runtime = await open()
      restartSeconds = (performance.now() - restarting) / 1000
    }
    const sending = performance.now()
    const ended = await send(runtime, 'go', instances)
    const eventsPerSecond = rate(instances, sending)
    await runtime.close(0)
    return {
      instances,
      startsPerSecond,
      bytesPerInstance: Math.round((after.rss - before.rss) / instances),
      heapBytesPerInstance: Math.round((after.heap - before.heap) / instances),
      restartSeconds: Math.round(restartSeconds * 100) / 100,
      eventsPerSecond,
      ended,
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** Sends an event to each, so many at once; gives how many instances took one. */
async function send({ host }: Runtime, type: string, count: number, prefix = 'o'): Promise<number> {
  let taken = 0
  for (let first = 0; first < count; first += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => {
      const order = `${prefix}${String(first + index)}`
      return host.deliver({ specversion: '1.0', id: `${type}-${order}`, source: 'bench', type, order, data: { order } })
    })
    for (const { instances } of await Promise.all(batch)) taken += instances.length
  }
  return taken
}

function memory(): { rss: number; heap: number } {
  // With --expose-gc the figures are steadier.
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heap: heapUsed }
}

function rate(count: number, since: number): number {
  return Math.round(count / ((performance.now() - since) / 1000))
}
