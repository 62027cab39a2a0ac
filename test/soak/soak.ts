import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultsOf, readLedger, repeatsOf, rowsLeft } from './ledger.ts'
import { startWorker, type Worker } from './process.ts'
import { isCancelled, patience, Producer, randomOf, wait } from './producer.ts'

/** How a soak runs. */
export interface SoakOptions {
  readonly host: string
  readonly instances: number
  readonly kills: number
  /** Milliseconds between two kills, at least and at most. */
  readonly pause?: readonly [number, number]
  readonly seed: number
  /** Ends the first worker at a point (`after-commit@3`) in place of random kills. */
  readonly crash?: string
}

/** What came of a soak. */
export interface SoakResult {
  readonly done: number
  readonly kills: number
  readonly repeated: number
  readonly seconds: number
  readonly faults: readonly string[]
}

const PATIENCE = 600_000

/** Runs orders while their process is killed, and compares what happened with what should have. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const directory = await mkdtemp(join(tmpdir(), 'soak-'))
  try {
    return await new Soak(options, directory).run()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

class Soak {
  readonly #options: SoakOptions
  readonly #directory: string
  readonly #random: () => number
  #worker: Promise<Worker>
  #kills = 0
  /** Nothing more is sent. */
  #over = false
  /** The worker that ends next ends by itself. */
  #stopping = false

  constructor(options: SoakOptions, directory: string) {
    this.#options = options
    this.#directory = directory
    this.#random = randomOf(options.seed)
    this.#worker = this.#start(options.crash)
  }

  async run(): Promise<SoakResult> {
    const started = performance.now()
    const orders = Array.from({ length: this.#options.instances }, (_, index) => `o${String(index)}`)
    const producer = new Producer({ directory: this.#directory, address: async () => (await this.#worker).url, isOver: () => this.#over })
    // A part of the orders begins after each kill: none of them finds the work done.
    const parts = Array.from({ length: this.#options.kills + 1 }, gate)
    const producing = Promise.all(orders.map(async (order, index) => {
      await parts[Math.floor(index * parts.length / orders.length)]?.opened
      await producer.produce(order, isCancelled(index))
    }))
    const killing = this.#killSometimes(parts.map(({ open }) => open))
    await Promise.race([producing, patience(PATIENCE)])
    this.#over = true
    await killing
    await wait(200)
    const worker = await this.#worker
    this.#stopping = true
    const code = await worker.stop()
    const ledger = readLedger(this.#directory)
    const faults = orders.flatMap((order, index) => faultsOf(ledger, order, isCancelled(index)))
    if (code !== 0) faults.push(`the last worker ended with ${String(code)}`)
    if (this.#options.host === 'sqlite') faults.push(...rowsLeft(join(this.#directory, '.sonatina/sonatina.db')))
    return {
      done: new Set(ledger.events.map(({ data }) => data.order)).size,
      kills: this.#kills,
      repeated: repeatsOf(ledger),
      seconds: Math.round((performance.now() - started) / 1000),
      faults,
    }
  }

  async #start(crash?: string): Promise<Worker> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const worker = await startWorker({ directory: this.#directory, host: this.#options.host, ...(crash === undefined ? {} : { crash }) })
      if (worker !== undefined) {
        void worker.exited.then(() => { if (!this.#stopping) this.#replace() })
        return worker
      }
      this.#kills += 1
      // A worker that a crash point ended before it served is replaced by one without.
      crash = undefined
    }
    throw new Error('no worker could be started')
  }

  #replace(): void {
    this.#kills += 1
    this.#worker = this.#start()
  }

  async #killSometimes([first, ...others]: readonly (() => void)[]): Promise<void> {
    const { pause = [0, 300] } = this.#options
    first?.()
    for (const next of others) {
      if (this.#over) return
      const worker = await this.#worker
      await wait(pause[0] + this.#random() * (pause[1] - pause[0]))
      await worker.kill()
      next()
    }
  }
}
