import { readLedger } from './ledger.ts'

/** What a producer needs of the run that it belongs to. */
export interface ProducerOptions {
  /** Where the ledger of the run lies. */
  readonly directory: string
  /** Address of a process that takes requests now. */
  readonly address: () => Promise<string>
  /** Nothing more is to be sent. */
  readonly isOver: () => boolean
}

/** Sends the requests of orders, each twice, until they have been taken. */
export class Producer {
  readonly #options: ProducerOptions

  constructor(options: ProducerOptions) {
    this.#options = options
  }

  /** Sends a start twice, then a payment twice, again and again until the order is finished. */
  async produce(order: string, cancel: boolean): Promise<void> {
    const start = JSON.stringify({ order, items: ['a', 'b', 'c'], cancel })
    const headers = { 'content-type': 'application/json', 'idempotency-key': order }
    for (let sent = 0; sent < 2;) if (await this.#send('/order', headers, start, 201)) sent += 1
    const paid = { 'content-type': 'application/json', 'ce-specversion': '1.0', 'ce-id': `paid-${order}`, 'ce-source': 'shop', 'ce-type': 'order.paid', 'ce-order': order }
    while (!this.#has('finished', order) && !this.#options.isOver()) {
      for (let sent = 0; sent < 2 && this.#has('ready', order);) if (await this.#send('/', paid, JSON.stringify({ amount: 5 }), 202)) sent += 1
      await wait(250)
    }
  }

  #seen: Readonly<Record<'ready' | 'finished', ReadonlySet<string>>> = { ready: new Set(), finished: new Set() }
  #readAt = -Infinity

  #has(stage: 'ready' | 'finished', order: string): boolean {
    if (performance.now() - this.#readAt > 200) {
      this.#readAt = performance.now()
      const { effects, events } = readLedger(this.#options.directory)
      const ready = effects.filter(({ name }) => name === 'ready').map((effect) => effect.order)
      this.#seen = { ready: new Set(ready), finished: new Set(events.map(({ data }) => data.order)) }
    }
    return this.#seen[stage].has(order)
  }

  async #send(path: string, headers: Record<string, string>, body: string, expected: number): Promise<boolean> {
    const address = await this.#options.address()
    try {
      const answer = await fetch(new URL(path, address), { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) })
      await answer.text()
      if (answer.status === expected) return true
    } catch {
      // The process was killed under it: sent again to the next one.
    }
    await wait(50)
    return this.#options.isOver()
  }
}

/** Whether an order is one of those that are cancelled. */
export function isCancelled(index: number): boolean {
  return index % 3 === 2
}

/** Ends a wait that has lasted too long, and keeps no process alive for it. */
export function patience(milliseconds: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds).unref() })
}

/** Lets so many milliseconds pass. */
export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds) })
}

/** Mulberry32: a run can be repeated by its seed. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
