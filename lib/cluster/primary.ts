import cluster, { type Worker } from 'node:cluster'
import type { Clock } from '../common/index.ts'
import { isClusterMessage, type ClusterMessage } from './messages.ts'

/** How the processes of a cluster are run. */
export interface PrimaryOptions {
  readonly count: number
  /** Arguments of the program for the worker of a slot. */
  readonly argumentsOf: (slot: number) => readonly string[]
  readonly clock: Clock
  /** Tells a line to the user. */
  readonly tell: (line: string) => void
  /** Tells that something went wrong. */
  readonly warn: (line: string) => void
  /** Resolves when all are to stop. */
  readonly stopped: Promise<unknown>
  /** Milliseconds after which a worker that does not stop is ended. */
  readonly patience: number
}

/** Milliseconds before a worker is started again: the first time, and at most. */
const BACKOFF = { first: 100, most: 10_000 }

/** A worker that has lived so long, in milliseconds, is started again at once. */
const STABLE = 30_000

type Call = Extract<ClusterMessage, { cluster: 'call' }>

interface Slot {
  worker: Worker
  startedAt: number
  isReady: boolean
  wait: number
  /** Calls that its worker has not answered. */
  readonly calls: Map<string, Call>
}

/**
 * Runs workers that share their ports until all are to stop: passes calls between them, starts one that died again, stops them in
 * order.
 *
 * A worker that ends before any was ready has nothing to be started again for: its exit code is that of all.
 *
 * @returns the exit code
 */
export function runPrimary(options: PrimaryOptions): Promise<number> {
  return new Primary(options).run()
}

class Primary {
  readonly #options: PrimaryOptions
  readonly #slots = new Map<number, Slot>()
  #isStopping = false
  #wasReady = false
  #code = 0
  #finish: (code: number) => void = () => undefined

  constructor(options: PrimaryOptions) {
    this.#options = options
  }

  run(): Promise<number> {
    const done = new Promise<number>((resolve) => { this.#finish = resolve })
    for (let slot = 0; slot < this.#options.count; slot += 1) this.#fork(slot, 0)
    void this.#options.stopped.then(() => { this.#stop(0) })
    return done
  }

  #fork(number: number, wait: number): void {
    cluster.setupPrimary({ args: [...this.#options.argumentsOf(number)], serialization: 'json' })
    const worker = cluster.fork()
    const slot: Slot = { worker, startedAt: this.#options.clock.now(), isReady: false, wait, calls: new Map() }
    this.#slots.set(number, slot)
    worker.on('message', (message: unknown) => { if (isClusterMessage(message)) this.#take(slot, message) })
    worker.once('error', ({ message }) => { this.#options.warn(`worker ${String(number)}: ${message}`) })
    worker.once('exit', (code: number, signal: string | null) => { this.#ended(number, slot, signal ?? `exit code ${String(code)}`, code) })
  }

  #take(slot: Slot, message: ClusterMessage): void {
    switch (message.cluster) {
      case 'ready':
        if (!slot.isReady) for (const call of slot.calls.values()) slot.worker.send(call)
        slot.isReady = true
        if (!this.#wasReady) for (const line of message.lines) this.#options.tell(line)
        this.#wasReady = true
        return
      case 'call': this.#pass(message); return
      case 'answer':
        slot.calls.delete(keyOf(message.to, message.id))
        this.#slots.get(message.to)?.worker.send(message)
        return
      case 'stop':
    }
  }

  #pass(call: Call): void {
    const target = this.#slots.get(call.to)
    if (target === undefined || !target.worker.isConnected()) {
      this.#refuse(call)
      return
    }
    target.calls.set(keyOf(call.from, call.id), call)
    // What is sent to a worker that does not listen yet is lost, and its caller would wait for ever: it is sent once it is ready.
    if (target.isReady) target.worker.send(call)
  }

  #refuse({ from, to, id }: Call): void {
    const error = { name: 'HostError', code: 'HOST_BUSY', message: `The process that has this instance (worker ${String(to)}) has ended or is being started; its instances ended with it. Try again` }
    const caller = this.#slots.get(from)?.worker
    if (caller?.isConnected() === true) caller.send({ cluster: 'answer', from: to, to: from, id, error } satisfies ClusterMessage)
  }

  #ended(number: number, slot: Slot, how: string, code: number): void {
    for (const call of slot.calls.values()) this.#refuse(call)
    const { clock, warn } = this.#options
    if (this.#isStopping || !this.#wasReady) {
      this.#slots.delete(number)
      if (this.#isStopping && code !== 0) warn(`worker ${String(number)} did not stop cleanly (${how})`)
      if (!this.#isStopping) this.#stop(code === 0 ? 1 : code)
      else if (code !== 0) this.#code ||= 1
      if (this.#slots.size === 0) this.#finish(this.#code)
      return
    }
    const wait = clock.now() - slot.startedAt > STABLE ? 0 : slot.wait
    warn(`worker ${String(number)} ended (${how}); it is started again${wait === 0 ? '' : ` in ${String(wait)} ms`}`)
    const again = (): void => { if (!this.#isStopping) this.#fork(number, Math.min(Math.max(wait * 2, BACKOFF.first), BACKOFF.most)) }
    if (wait === 0) again()
    else clock.at(clock.now() + wait, again)
  }

  #stop(code: number): void {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#code = code
    const { clock, patience } = this.#options
    for (const { worker } of this.#slots.values()) if (worker.isConnected()) worker.send({ cluster: 'stop' } satisfies ClusterMessage)
    clock.at(clock.now() + patience, () => { for (const { worker } of this.#slots.values()) worker.process.kill('SIGKILL') })
    // A slot that waits to be started again has no process left.
    for (const [number, { worker }] of this.#slots) if (worker.isDead()) this.#slots.delete(number)
    if (this.#slots.size === 0) this.#finish(this.#code)
  }
}

function keyOf(from: number, id: number): string {
  return `${String(from)}/${String(id)}`
}
