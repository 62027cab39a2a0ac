import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { chain, chainInput } from './definitions.ts'
import { openProduct } from './growth.ts'

/** A million instances in one process. */
export interface Million {
  readonly instances: number
  readonly perSecond: number
  /** Bytes of heap in use after a collection: before the first instance, and after the last. */
  readonly heapBefore: number
  readonly heapAfter: number
  /** The 99th percentile of the time from start to end in each tenth of the run, milliseconds. */
  readonly p99: readonly number[]
}

/** Runs so many instances of W1, 32 at a time, and looks whether memory comes back to its base and times stay what they were. */
export async function million(instances = 1_000_000): Promise<Million> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const runtime = await openProduct([chain])
  const run = async (count: number): Promise<number> => {
    const times = new Float64Array(count)
    for (let done = 0; done < count; done += 32) {
      await Promise.all(Array.from({ length: Math.min(32, count - done) }, async (_, index) => {
        const began = performance.now()
        await runtime.host.start({ workflowId: 'chain', input: chainInput })
        times[done + index] = performance.now() - began
      }))
    }
    return times.sort()[Math.floor(count * 0.99)] ?? NaN
  }
  await run(20_000)
  collect()
  const heapBefore = process.memoryUsage().heapUsed
  const began = performance.now()
  const p99: number[] = []
  for (let tenth = 0; tenth < 10; tenth += 1) p99.push(await run(instances / 10))
  const seconds = (performance.now() - began) / 1000
  collect()
  const heapAfter = process.memoryUsage().heapUsed
  await runtime.close(0)
  return { instances, perSecond: Math.round(instances / seconds), heapBefore, heapAfter, p99 }
}
