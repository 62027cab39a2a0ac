import { InstanceError, type HostError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { HistoryStep } from '../instance/index.ts'
import { asError } from './as-error.ts'
import { createBirths, validateInput } from './births.ts'
import { DurableLives } from './durable-lives.ts'
import { createEnds } from './ends.ts'
import { EventStarts } from './event-starts.ts'
import type { Delivery, Host, InstancePage, InstanceQuery, InstanceRecord, StartRequest } from './host.ts'
import { bodyOf } from './journal.ts'
import { recordOf, type LiveInstance } from './live-instance.ts'
import { forgetOldest, Lives, pageOf } from './lives.ts'
import { createOperators, hasEnded, type Operators } from './operators.ts'
import type { KernelOptions, Parts, Router } from './parts.ts'
import { createRouter } from './router.ts'
import type { RunningHost } from './running-host.ts'
import { createSubflows } from './subflows.ts'
import { createTurns } from './turns.ts'
import { WaitIndex } from './wait-index.ts'
import { WorkQueue } from './work-queue.ts'

const REMEMBERED_KEYS = 10_000

/**
 * Executes instances in this process: what hosts have in common.
 *
 * One event loop is the only writer: a turn of an instance runs to the end before the next begins, of whichever instance. Where
 * instances outlive the process, a turn is safe before it has effects.
 */
export class Kernel implements RunningHost {
  readonly #parts: Parts
  readonly #starts: EventStarts
  readonly #operators: Operators
  readonly #durables: DurableLives | undefined
  readonly #idempotent = new Map<string, { readonly body: string; readonly record: Promise<InstanceRecord> }>()
  #closing = false

  constructor(options: KernelOptions) {
    this.#starts = new EventStarts(options.clock, options.ids)
    const parts = { options, lives: new Lives(options.clock, options.retention ?? 0), queue: new WorkQueue(), waits: new WaitIndex() } as Parts
    const { durability } = options
    this.#durables = durability === undefined ? undefined : new DurableLives(parts, durability, this.#starts)
    this.#parts = Object.assign(parts, {
      births: createBirths(parts, () => this.#closing),
      turns: createTurns(parts),
      subflows: createSubflows(parts),
      ends: createEnds(parts),
      router: createRouter(parts, this.#starts),
      ...(this.#durables === undefined ? {} : { durables: this.#durables }),
    })
    this.#operators = createOperators(this.#parts)
  }

  /**
   * Takes up what a process before left in the store: definitions, calls under way, timers that became due, events not sent.
   *
   * Without a store it does nothing.
   *
   * @throws {@link HostError} `STORE_UNAVAILABLE`, `STORE_LOCKED`, `SNAPSHOT_INCOMPATIBLE`
   */
  async recover(): Promise<void> {
    await this.#durables?.recover()
  }

  /** Keeps what schedules have started, where there is a store. */
  get schedules(): DurableLives['schedules'] | undefined {
    return this.#durables?.schedules
  }

  // --- starting ---

  start(request: StartRequest): Promise<InstanceRecord> {
    return request.idempotencyKey === undefined ? this.#start(request) : this.#startOnce(request, request.idempotencyKey)
  }

  #start(request: StartRequest): Promise<InstanceRecord> {
    const { births, queue } = this.#parts
    return new Promise((resolve, reject) => {
      // What is thrown here rejects.
      births.admit()
      const workflow = births.workflow(request.workflowId, request.version)
      validateInput(workflow, request.input)
      queue.add(() => {
        try {
          const live = births.create({ workflow, input: request.input, headers: request.headers ?? {}, request })
          if (request.respondAsync !== true) this.#awaitAnswer(live, request, resolve, reject)
          births.begin(live, request.startFrom === undefined ? {} : { startFrom: request.startFrom })
          if (request.respondAsync === true) this.#answerAtOnce(live, resolve, reject)
        } catch (error) {
          reject(asError(error))
        }
      })
    })
  }

  // A second start with one key gives the first instance; another body under the same key is a mistake (http-contract.md §2).
  #startOnce(request: StartRequest, key: string): Promise<InstanceRecord> {
    const place = `${request.workflowId}\n${key}`
    const body = bodyOf(request.input)
    const first = this.#idempotent.get(place)
    if (first !== undefined) return first.body === body ? first.record.then((record) => this.#current(record, place)) : Promise.reject(keyConflict(request, key))
    const kept = this.#durables?.startOf(place)
    if (kept !== undefined && kept.body !== body) return Promise.reject(keyConflict(request, key))
    const record = kept === undefined ? this.#start(request) : this.#again(kept.instanceId, kept.record)
    this.#idempotent.set(place, { body, record })
    // What was never started may be tried again under the same key.
    record.catch(() => this.#idempotent.delete(place))
    forgetOldest(this.#idempotent, REMEMBERED_KEYS)
    return record
  }

  /** How an instance stands that was started under a key; `record` is the answer to its first start. */
  async #current(record: InstanceRecord, place: string): Promise<InstanceRecord> {
    return await this.get(record.workflowId, record.id) ?? this.#parts.lives.finished(record.id) ?? this.#durables?.startOf(place)?.record ?? record
  }

  /** The answer to a start that a process before has taken. */
  #again(instanceId: string, ended: InstanceRecord | undefined): Promise<InstanceRecord> {
    if (ended !== undefined) return Promise.resolve(ended)
    return new Promise((resolve, reject) => {
      this.#parts.queue.add(() => {
        if (this.#durables?.problem !== undefined) {
          reject(this.#durables.problem)
          return
        }
        const live = this.#durables?.find(instanceId)
        if (live === undefined) {
          reject(new InstanceError({ code: 'INSTANCE_NOT_FOUND', message: `Instance ${instanceId} that this key started is no longer kept`, details: { processInstanceId: instanceId } }))
          return
        }
        live.waiters.push((_, error) => { if (error === undefined) resolve(recordOf(live)); else reject(error) })
        this.#parts.turns.turn(live, () => undefined)
      })
    })
  }

  /** The instance exists when its first turn is over, or safe. */
  #answerAtOnce(live: LiveInstance, resolve: (record: InstanceRecord) => void, reject: (error: Error) => void): void {
    if (live.durable === undefined) {
      this.#parts.queue.add(() => { resolve(recordOf(live)) })
      return
    }
    this.#tellWhenSafe(live, resolve, reject)
  }

  /** Tells how an instance stands now, as soon as that cannot be lost any more: it may have moved on by then. */
  #tellWhenSafe(live: LiveInstance, resolve: (record: InstanceRecord) => void, reject: (error: HostError) => void): void {
    const record = recordOf(live)
    const ended = hasEnded(live)
    if (live.durable === undefined) resolve(record)
    // The instant of an end is known when it is written.
    else this.#durables?.whenSafe(() => { resolve(ended ? recordOf(live) : record) }, reject)
  }

  #awaitAnswer(live: LiveInstance, request: StartRequest, resolve: (record: InstanceRecord) => void, reject: (error: Error) => void): void {
    const { options } = this.#parts
    const answer = (): void => { resolve(recordOf(live)) }
    live.waiters.push((_, error) => { if (error === undefined) answer(); else reject(error) })
    if (request.answerTimeout === undefined) return
    const cancel = options.clock.at(options.clock.now() + request.answerTimeout, () => { this.#tellWhenSafe(live, resolve, reject) })
    live.waiters.push(cancel)
  }

  // --- reading ---

  async get(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const record = await this.#safeRecord(instanceId)
    return record?.workflowId === workflowId && record.endedAt === undefined ? record : undefined
  }

  // Nobody is told of what could still be lost.
  async #safeRecord(id: string): Promise<InstanceRecord | undefined> {
    const durables = this.#durables
    const live = this.#parts.lives.get(id)
    if (live === undefined) return durables?.record(id)
    if (live.durable?.keeper.isPending(live) !== true) return recordOf(live)
    // While the store fails nothing becomes safe, and what it holds can be read.
    if (durables?.problem !== undefined) return durables.record(id)
    return new Promise((resolve) => { this.#tellWhenSafe(live, resolve, () => { resolve(durables?.record(id)) }) })
  }

  async find(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const found = await this.get(workflowId, instanceId)
    if (found !== undefined) return found
    const finished = this.#parts.lives.finished(instanceId) ?? this.#durables?.record(instanceId)
    return finished?.workflowId === workflowId ? finished : undefined
  }

  async list(query: InstanceQuery): Promise<InstancePage> {
    if (this.#durables === undefined) return pageOf(this.#parts.lives.matching(query), query)
    return this.#durables.list(query)
  }

  async history(workflowId: string, instanceId: string): Promise<readonly HistoryStep[]> {
    return (await this.find(workflowId, instanceId)) === undefined ? [] : this.#durables?.history(instanceId) ?? []
  }

  // --- operators ---

  replaceData: Host['replaceData'] = (...args) => this.#operators.replaceData(...args)
  mergeData: Host['mergeData'] = (...args) => this.#operators.mergeData(...args)
  abort: Host['abort'] = (...args) => this.#operators.abort(...args)
  retrigger: Host['retrigger'] = (...args) => this.#operators.retrigger(...args)
  skip: Host['skip'] = (...args) => this.#operators.skip(...args)
  trigger: Host['trigger'] = (...args) => this.#operators.trigger(...args)
  retriggerNode: Host['retriggerNode'] = (...args) => this.#operators.retriggerNode(...args)
  cancelNode: Host['cancelNode'] = (...args) => this.#operators.cancelNode(...args)
  reschedule: Host['reschedule'] = (...args) => this.#operators.reschedule(...args)

  // --- events ---

  async deliver(event: CloudEventRecord): Promise<Delivery> {
    const { births, queue, router } = this.#parts
    births.admit()
    return new Promise((resolve, reject) => {
      queue.add(() => {
        try {
          const delivery = router.deliver(event)
          if (this.#durables === undefined) resolve(delivery)
          else this.#durables.whenSafe(() => { resolve(delivery) }, reject)
        } catch (error) {
          reject(asError(error))
        }
      })
    })
  }

  /** Takes one step of a delivery that several processes share. */
  async share<Result>(step: (router: Router) => Result): Promise<Result> {
    const { births, queue, router } = this.#parts
    births.admit()
    return new Promise((resolve, reject) => {
      queue.add(() => {
        try {
          resolve(step(router))
        } catch (error) {
          reject(asError(error))
        }
      })
    })
  }

  /** Sends an event out, and back in where produced events come back. */
  emit(event: CloudEventRecord): void {
    this.#parts.router.emit(event)
  }

  // --- the host itself ---

  readiness(): Promise<{ readonly ready: boolean; readonly reason?: string }> {
    const reason = this.#closing ? 'the host is closing' : this.#durables?.problem?.message
    return Promise.resolve(reason === undefined ? { ready: true } : { ready: false, reason })
  }

  /** Resolves when no instance has anything to do but wait. */
  async quiet(): Promise<void> {
    const { queue, lives } = this.#parts
    while (!queue.isEmpty || this.#durables?.isIdle === false || lives.all().some((live) => live.calls.size > 0)) {
      await new Promise<void>((resolve) => { setImmediate(resolve) })
    }
  }

  async close(graceMilliseconds = 0): Promise<void> {
    this.#closing = true
    if (graceMilliseconds > 0) await this.#running(graceMilliseconds)
    this.#starts.forget()
    this.#durables?.close()
    for (const live of this.#parts.lives.all()) {
      this.#parts.ends.drop(live)
      this.#parts.turns.release(live)
    }
  }

  // Instances that only wait cannot be waited for; those with a call under way get their time.
  #running(milliseconds: number): Promise<void> {
    const { lives, options: { clock } } = this.#parts
    const isDone = (): boolean => lives.all().every((live) => live.calls.size === 0)
    const durables = this.#durables
    return new Promise((resolve) => {
      const cancel = clock.at(clock.now() + milliseconds, resolve)
      const check = (): void => {
        // A call begins, and an end is one, when the turn before is safe.
        if (durables?.isSafe === false) durables.whenSafe(check, check)
        else if (isDone()) { cancel(); resolve() } else lives.whenEmpty(check)
      }
      check()
    })
  }
}

/** An idempotency key that was used with another body. */
export function keyConflict({ workflowId }: StartRequest, key: string): InstanceError {
  const message = `Idempotency-Key "${key}" was used for "${workflowId}" with another body; take a fresh key for another request`
  return new InstanceError({ code: 'INSTANCE_CONFLICT', message })
}
