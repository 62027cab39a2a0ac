import cluster, { type Worker } from 'node:cluster'
import { TurnoverMap, keepAlive, type Clock } from '../common/index.ts'
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
type Answer = Extract<ClusterMessage, { cluster: 'answer' }>

/** One life of the worker of a slot. */
interface Life {
  readonly number: number
  readonly worker: Worker
  readonly startedAt: number
  /** Milliseconds before it is started again, should it end soon. */
  readonly wait: number
  isReady: boolean
}

/** A call that is not answered: the number that its caller gave it says nothing to whoever comes in the caller's place. */
interface Passed {
  readonly caller: Life
  readonly target: Life
  readonly call: Call
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
  readonly #lives = new Map<number, Life>()
  readonly #passed = new TurnoverMap<number, Passed>()
  #lastCall = 0
  #isStopping = false
  #wasReady = false
  #code = 0
  #finish: (code: number) => void = () => undefined

  constructor(options: PrimaryOptions) {
    this.#options = options
  }

  run(): Promise<number> {
    const done = new Promise<number>((resolve) => { this.#finish = resolve })
    // While all workers wait to be started again, nothing else does.
    const release = keepAlive()
    for (let number = 0; number < this.#options.count; number += 1) this.#fork(number, 0)
    void this.#options.stopped.then(() => { this.#stop(0) })
    return done.finally(release)
  }

  #fork(number: number, wait: number): void {
    cluster.setupPrimary({ args: [...this.#options.argumentsOf(number)], serialization: 'json' })
    const worker = cluster.fork()
    const life: Life = { number, worker, startedAt: this.#options.clock.now(), isReady: false, wait }
    this.#lives.set(number, life)
    worker.on('message', (message: unknown) => { if (isClusterMessage(message)) this.#take(life, message) })
    worker.on('error', ({ message }) => { this.#options.warn(`worker ${String(number)}: ${message}`) })
    worker.once('exit', (code: number, signal: string | null) => { this.#ended(life, signal ?? `exit code ${String(code)}`, code) })
  }

  #take(life: Life, message: ClusterMessage): void {
    switch (message.cluster) {
      case 'ready': this.#ready(life, message.lines); return
      case 'call': this.#pass(life, message); return
      case 'answer': this.#answer(message); return
      case 'stop':
    }
  }

  #ready(life: Life, lines: readonly string[]): void {
    if (!life.isReady) for (const [id, { target, call }] of this.#passed) if (target === life) send(life, { ...call, id })
    life.isReady = true
    if (!this.#wasReady) for (const line of lines) this.#options.tell(line)
    this.#wasReady = true
  }

  #pass(caller: Life, call: Call): void {
    const target = this.#lives.get(call.to)
    if (target?.worker.isConnected() !== true) {
      refuse(caller, call)
      return
    }
    const id = ++this.#lastCall
    this.#passed.set(id, { caller, target, call })
    // What is sent to a worker that does not listen yet is lost, and its caller would wait for ever: it is sent once it is ready.
    if (target.isReady) send(target, { ...call, id })
  }

  #answer(answer: Answer): void {
    const passed = this.#passed.get(answer.id)
    this.#passed.delete(answer.id)
    if (passed !== undefined) send(passed.caller, { ...answer, id: passed.call.id })
  }

  #forget(life: Life): void {
    for (const [id, { caller, target, call }] of this.#passed) {
      if (caller !== life && target !== life) continue
      this.#passed.delete(id)
      if (target === life) refuse(caller, call)
    }
  }

  #ended(life: Life, how: string, code: number): void {
    this.#forget(life)
    if (this.#isStopping || !this.#wasReady) this.#endedForGood(life, how, code)
    else this.#startAgain(life, how)
  }

  #endedForGood({ number, isReady }: Life, how: string, code: number): void {
    this.#lives.delete(number)
    if (!this.#isStopping) this.#stop(code === 0 ? 1 : code)
    else if (code !== 0 && isReady) {
      this.#options.warn(`worker ${String(number)} did not stop cleanly (${how})`)
      this.#code ||= 1
    }
    if (this.#lives.size === 0) this.#finish(this.#code)
  }

  #startAgain({ number, startedAt, wait: next }: Life, how: string): void {
    const { clock, warn } = this.#options
    const wait = clock.now() - startedAt > STABLE ? 0 : next
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
    for (const life of this.#lives.values()) {
      // One that is being started has no requests to finish, and does not listen yet.
      if (life.isReady) send(life, { cluster: 'stop' })
      else life.worker.process.kill('SIGTERM')
    }
    clock.at(clock.now() + patience, () => { for (const { worker } of this.#lives.values()) worker.process.kill('SIGKILL') })
    // A slot that waits to be started again has no process left.
    for (const [number, { worker }] of this.#lives) if (worker.isDead()) this.#lives.delete(number)
    if (this.#lives.size === 0) this.#finish(this.#code)
  }
}

/** Sends what is lost when the worker has just died: its exit, which follows, settles what it was asked. */
function send({ worker }: Life, message: ClusterMessage): void {
  // Without a callback Node.js reports a broken channel as an error of the process.
  if (worker.isConnected()) worker.process.send(message, () => undefined)
}

function refuse(caller: Life, { from, to, id }: Call): void {
  const error = { name: 'HostError', code: 'HOST_BUSY', message: `The process that has this instance (worker ${String(to)}) has ended or is being started; its instances ended with it. Try again` }
  send(caller, { cluster: 'answer', from: to, to: from, id, error })
}
