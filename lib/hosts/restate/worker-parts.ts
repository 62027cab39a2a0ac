import type { CloudEventRecord } from '../../events/index.ts'
import type { InstanceFacts } from '../../instance/index.ts'
import { forgetOldest } from '../lives.ts'
import type { KernelOptions } from '../parts.ts'
import type { Engine } from './engine.ts'
import type { ServiceNames } from './names.ts'
import type { Sdk } from './sdk.ts'
import type { Workflows } from './workflows.ts'

/** What the host of the engine needs beside what every host does. */
export interface KeepOptions {
  /** Sends a produced event out; false when it could not be delivered and has to be sent again. */
  readonly forward: (event: CloudEventRecord) => Promise<boolean>
  /** Headers of an instance that may be stored. */
  readonly storedHeaders: (headers: InstanceFacts['headers']) => InstanceFacts['headers']
  /** Milliseconds for which received events and idempotency keys are known. */
  readonly inboxRetention: number
  /** Whether steps are kept. */
  readonly history: boolean
  /** Timers are kept by the process's own clock, which is not the engine's: for tests that move time. */
  readonly ownTimers: boolean
}

/** The parts of a worker, as its handlers see them. */
export interface WorkerParts {
  readonly sdk: Sdk
  readonly names: ServiceNames
  readonly options: KernelOptions
  readonly keep: KeepOptions
  readonly engine: Engine
  readonly workflows: Workflows
  readonly calls: OpenCalls
  readonly headers: HeaderMemory
  readonly observer: Observer
}

/** Calls that this process carries out: what is given up here is aborted. */
export class OpenCalls {
  readonly #open = new Map<string, AbortController>()

  /** Carries a call out; its signal ends when it is given up. */
  async run<Result>(instanceId: string, token: string, carryOut: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const place = `${instanceId} ${token}`
    const controller = new AbortController()
    this.#open.set(place, controller)
    try {
      return await carryOut(controller.signal)
    } finally {
      if (this.#open.get(place) === controller) this.#open.delete(place)
    }
  }

  giveUp(instanceId: string, token: string): void {
    this.#open.get(`${instanceId} ${token}`)?.abort()
  }

  get size(): number {
    return this.#open.size
  }

  /** Aborts all. */
  close(): void {
    for (const controller of this.#open.values()) controller.abort()
    this.#open.clear()
  }
}

/** Entries kept at most of what belongs to instances and invocations that may end elsewhere. */
const MOST_REMEMBERED = 10_000

/** Headers that must not be stored, of instances that this process has started. */
export class HeaderMemory {
  readonly #headers = new Map<string, InstanceFacts['headers']>()

  put(id: string, headers: InstanceFacts['headers']): void {
    this.#headers.set(id, headers)
    forgetOldest(this.#headers, MOST_REMEMBERED)
  }

  get(facts: InstanceFacts): InstanceFacts['headers'] {
    return this.#headers.get(facts.id) ?? facts.headers
  }

  delete(id: string): void {
    this.#headers.delete(id)
  }
}

/** Tells those who look on, once: an invocation that is taken again takes the same steps again. */
export class Observer {
  readonly #told = new Map<string, number>()

  /** Gives how many of the steps of an invocation have not been told. */
  untold(invocation: string, count: number): number {
    const before = this.#told.get(invocation) ?? 0
    this.#told.set(invocation, Math.max(before, count))
    forgetOldest(this.#told, MOST_REMEMBERED)
    return Math.max(0, count - before)
  }

  /** The invocation is over. */
  forget(invocation: string): void {
    this.#told.delete(invocation)
  }
}
