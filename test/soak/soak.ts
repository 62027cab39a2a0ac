import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultsOf, readLedger, repeatsOf, rowsLeft } from './ledger.ts'
import { startWorker, type Worker } from './process.ts'

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
    const producing = Promise.all(orders.map((order, index) => this.#produce(order, isCancelled(index))))
    const killing = this.#killSometimes()
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

  async #killSometimes(): Promise<void> {
    const { kills, pause = [200, 1500] } = this.#options
    for (let count = 0; count < kills && !this.#over; count += 1) {
      const worker = await this.#worker
      await wait(pause[0] + this.#random() * (pause[1] - pause[0]))
      await worker.kill()
    }
  }

  /** Sends a start twice, then a payment twice, again and again until the order is finished. */
  async #produce(order: string, cancel: boolean): Promise<void> {
    const start = JSON.stringify({ order, items: ['a', 'b', 'c'], cancel })
    const headers = { 'content-type': 'application/json', 'idempotency-key': order }
    for (let sent = 0; sent < 2;) if (await this.#send('/order', headers, start, 201)) sent += 1
    const paid = { 'content-type': 'application/json', 'ce-specversion': '1.0', 'ce-id': `paid-${order}`, 'ce-source': 'shop', 'ce-type': 'order.paid', 'ce-order': order }
    while (!this.#has('finished', order) && !this.#over) {
      for (let sent = 0; sent < 2 && this.#has('ready', order);) if (await this.#send('/', paid, JSON.stringify({ amount: 5 }), 202)) sent += 1
      await wait(250)
    }
  }

  #seen: Readonly<Record<'ready' | 'finished', ReadonlySet<string>>> = { ready: new Set(), finished: new Set() }
  #readAt = -Infinity

  #has(stage: 'ready' | 'finished', order: string): boolean {
    if (performance.now() - this.#readAt > 200) {
      this.#readAt = performance.now()
      const { effects, events } = readLedger(this.#directory)
      const ready = effects.filter(({ name }) => name === 'ready').map((effect) => effect.order)
      this.#seen = { ready: new Set(ready), finished: new Set(events.map(({ data }) => data.order)) }
    }
    return this.#seen[stage].has(order)
  }

  async #send(path: string, headers: Record<string, string>, body: string, expected: number): Promise<boolean> {
    const worker = await this.#worker
    try {
      const answer = await fetch(new URL(path, worker.url), { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) })
      await answer.text()
      if (answer.status === expected) return true
    } catch {
      // The worker was killed under it: sent again to the next one.
    }
    await wait(50)
    return this.#over
  }
}

function isCancelled(index: number): boolean {
  return index % 3 === 2
}

/** Ends a wait that has lasted too long, and keeps no process alive for it. */
function patience(milliseconds: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds).unref() })
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds) })
}

// Mulberry32: a run can be repeated by its seed.
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
