import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { ElkNode } from 'elkjs/lib/elk-api.js'
import type { Cancel, Clock } from '../../common/index.ts'
import { RequestError } from '../../errors/index.ts'

/** Lays graphs out, one after another, in a thread of its own. */
export interface Layouter {
  /** @throws {@link RequestError} `NOT_AVAILABLE` without elkjs, after the time limit, or when elkjs fails */
  layout(graph: ElkNode): Promise<ElkNode>
  close(): Promise<void>
}

/** Options of {@link createLayouter}. */
export interface LayouterOptions {
  readonly clock: Clock
  /** Milliseconds for one graph. @default 10000 */
  readonly limit?: number
  /** Milliseconds without work after which the thread ends. @default 30000 */
  readonly idle?: number
  /** Path of elkjs; `undefined` when it is not installed. @default where Node finds it */
  readonly elk?: string | undefined
}

/** What the thread answers. */
type Answer = { readonly graph: ElkNode } | { readonly error: string }

// A program and not a module: the thread needs no TypeScript, and elkjs is loaded in it alone. elkjs may throw out of a timer of its own,
// which ends the thread and not the process.
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const Elk = require(workerData)
const elk = new Elk()
parentPort.on('message', (graph) => {
  elk.layout(graph).then(
    (done) => parentPort.postMessage({ graph: done }),
    (error) => parentPort.postMessage({ error: String(error && error.message || error) }),
  )
})`

function ignore(): void {
  // The graph that it belonged to has been given up.
}

/** Tells where elkjs is installed, if it is. */
export function findElk(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('elkjs')
  } catch {
    // An optional dependency: its absence is told where a layout is asked for.
    return undefined
  }
}

/** Creates a {@link Layouter}; its thread starts with the first graph. */
export function createLayouter({ clock, limit = 10_000, idle = 30_000, ...rest }: LayouterOptions): Layouter {
  const elk = 'elk' in rest ? rest.elk : findElk()
  let worker: Worker | undefined
  let rests: Cancel | undefined
  let last: Promise<unknown> = Promise.resolve()
  const end = async (): Promise<void> => {
    rests?.()
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }
  const run = (graph: ElkNode): Promise<ElkNode> => new Promise((resolve, reject) => {
    rests?.()
    const thread = worker ?? new Worker(PROGRAM, { eval: true, workerData: elk, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 512 } })
    worker = thread
    const settle = (answer: Answer): void => {
      cancel()
      // Only the listeners of this graph: the worker needs its own, and a late error of elkjs one of ours.
      thread.off('message', settle).off('error', failed).off('exit', ended).on('error', ignore)
      thread.unref()
      if ('graph' in answer) {
        resolve(answer.graph)
      } else {
        void end()
        reject(unavailable(answer.error))
      }
    }
    const failed = (error: Error): void => { settle({ error: error.message }) }
    const ended = (): void => { settle({ error: 'the thread of the layout ended' }) }
    const cancel = clock.at(clock.now() + limit, () => { settle({ error: `the layout took longer than ${String(limit)} ms` }) })
    thread.ref()
    thread.off('error', ignore).on('message', settle).on('error', failed).on('exit', ended)
    thread.postMessage(graph)
  })
  return {
    layout(graph) {
      if (elk === undefined) return Promise.reject(elkMissing())
      const next = last.then(() => run(graph))
      last = next.then(() => { rests = clock.at(clock.now() + idle, () => { void end() }) }, () => undefined)
      return next
    },
    close: end,
  }
}

function unavailable(reason: string): RequestError {
  return new RequestError({
    code: 'NOT_AVAILABLE',
    message: `The diagram could not be laid out: ${reason}. Take the table, or another format (mermaid, dot, json)`,
  })
}

function elkMissing(): RequestError {
  return new RequestError({
    code: 'NOT_AVAILABLE',
    message: 'Diagrams as SVG need the package elkjs: npm install elkjs. The formats mermaid, dot and json need no package',
    details: { package: 'elkjs' },
  })
}
