import type { IdSource, Json } from '../../common/index.ts'
import { HostError } from '../../errors/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import type { Delivery, Host, InstancePage, InstanceQuery, InstanceRecord, StartRequest } from '../host.ts'
import { Kernel } from '../kernel.ts'
import { pageOf } from '../lives.ts'
import type { KernelOptions, Signalled } from '../parts.ts'
import type { RunningHost } from '../running-host.ts'
import { ownerOf, type ClusterLink } from './link.ts'

/** Methods that name an instance: its process answers them. */
type InstanceMethod = 'get' | 'find' | 'history' | 'replaceData' | 'mergeData' | 'abort' | 'retrigger' | 'skip' | 'trigger' | 'retriggerNode' | 'cancelNode' | 'reschedule'

/**
 * Creates the host of one of several processes on one machine, each with its instances in memory.
 *
 * Together they behave like one memory host: an instance is reached through any of them, an event reaches those that wait in all of
 * them and begins each definition once, and a start with an idempotency key happens once. An instance ends with its process.
 */
export function createClusterHost(options: KernelOptions, link: ClusterLink): RunningHost {
  return new ClusterHost(options, link)
}

class ClusterHost implements RunningHost {
  readonly schedules = undefined
  readonly #link: ClusterLink
  readonly #local: Kernel
  readonly #log: KernelOptions['log']
  readonly #clock: KernelOptions['clock']
  readonly #answers: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

  constructor(options: KernelOptions, link: ClusterLink) {
    this.#link = link
    this.#log = options.log
    this.#clock = options.clock
    this.#local = new Kernel({
      ...options,
      ids: ownIds(options.ids, link),
      begins: (workflowId) => this.begins(workflowId),
      // What comes back may be waited for in any process.
      loopback: false,
      publish: (event) => {
        options.publish(event)
        if (options.loopback) this.deliver(event).catch((error: unknown) => { this.#log.error({ event: event.id, type: event.type, error }, 'a produced event did not come back') })
      },
    })
    this.#answers = {
      ...Object.fromEntries(INSTANCE_METHODS.map((method) => [method, (...args: never[]) => this.#here(method, args)])),
      start: (request: StartRequest) => this.#local.start(request),
      list: (query: InstanceQuery) => this.#local.list(query),
      isCorrelated: (event: CloudEventRecord) => this.#local.share((router) => router.isCorrelated(event)),
      signal: (event: CloudEventRecord, onlyCorrelated: boolean) => this.#local.share((router) => router.signal(event, onlyCorrelated)),
      begin: (event: CloudEventRecord, taken: readonly string[]) => this.#local.share((router) => router.begin(event, taken)),
    }
    link.serve((method, args) => this.#answer(method, args) as Promise<Json | undefined>)
  }

  get: Host['get'] = (...args) => this.#at('get', args)
  find: Host['find'] = (...args) => this.#at('find', args)
  history: Host['history'] = (...args) => this.#at('history', args)
  replaceData: Host['replaceData'] = (...args) => this.#at('replaceData', args)
  mergeData: Host['mergeData'] = (...args) => this.#at('mergeData', args)
  abort: Host['abort'] = (...args) => this.#at('abort', args)
  retrigger: Host['retrigger'] = (...args) => this.#at('retrigger', args)
  skip: Host['skip'] = (...args) => this.#at('skip', args)
  trigger: Host['trigger'] = (...args) => this.#at('trigger', args)
  retriggerNode: Host['retriggerNode'] = (...args) => this.#at('retriggerNode', args)
  cancelNode: Host['cancelNode'] = (...args) => this.#at('cancelNode', args)
  reschedule: Host['reschedule'] = (...args) => this.#at('reschedule', args)

  /** A process starts what it is asked for; equal keys meet in one of them. */
  start(request: StartRequest): Promise<InstanceRecord> {
    const { workflowId, idempotencyKey } = request
    if (idempotencyKey === undefined) return this.#local.start(request)
    return this.#ask<InstanceRecord>(ownerOf(`${workflowId}\n${idempotencyKey}`, this.#link.count), 'start', [request])
  }

  async list(query: InstanceQuery): Promise<InstancePage> {
    const { cursor: _all, ...rest } = query
    const pages = await this.#askAll<InstancePage>('list', [{ ...rest, limit: Number.MAX_SAFE_INTEGER }])
    // Oldest first, as one process would have them.
    return pageOf(pages.flatMap(({ instances }) => [...instances].reverse()).sort((left, right) => left.startedAt - right.startedAt), query)
  }

  /** In the order of one process: who asks for just this event, else who waits for any, else who begins with it. */
  async deliver(event: CloudEventRecord): Promise<Delivery> {
    const isCorrelated = (await this.#askAll<boolean>('isCorrelated', [event])).includes(true)
    const signalled = await this.#askAll<Signalled>('signal', [event, isCorrelated])
    const instances = signalled.flatMap((each) => each.instances)
    if (signalled.every(({ mayBegin }) => mayBegin)) {
      const begun = await this.#askAll<readonly string[]>('begin', [event, signalled.flatMap(({ taken }) => taken)])
      instances.push(...begun.flat())
    }
    if (instances.length === 0) this.#log.debug({ event: event.id, type: event.type }, 'event ignored: nothing waits for it')
    return { instances }
  }

  begins(workflowId: string): boolean {
    return ownerOf(workflowId, this.#link.count) === this.#link.slot
  }

  emit(event: CloudEventRecord): void {
    this.#local.emit(event)
  }

  recover(): Promise<void> {
    return this.#local.recover()
  }

  readiness(): ReturnType<Host['readiness']> {
    return this.#local.readiness()
  }

  quiet(): Promise<void> {
    return this.#local.quiet()
  }

  close(graceMilliseconds?: number): Promise<void> {
    return this.#local.close(graceMilliseconds)
  }

  #at<Method extends InstanceMethod>(method: Method, args: Parameters<Host[Method]>): ReturnType<Host[Method]> {
    return this.#ask(ownerOf(args[1], this.#link.count), method, args) as ReturnType<Host[Method]>
  }

  #here(method: InstanceMethod, args: readonly unknown[]): Promise<unknown> {
    return (this.#local[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
  }

  async #ask<Result>(slot: number, method: string, args: readonly unknown[]): Promise<Result> {
    if (slot === this.#link.slot) return await this.#answer(method, args) as Result
    const answer = this.#link.call(slot, method, args as readonly Json[])
    return await (LOOKS.has(method) ? this.#inTime(answer, slot) : answer) as Result
  }

  #inTime<Value>(answer: Promise<Value>, slot: number): Promise<Value> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.at(this.#clock.now() + PATIENCE, () => {
        reject(new HostError({ code: 'HOST_BUSY', message: `Worker ${String(slot)}, which was asked, does not answer; try again` }))
      })
      answer.finally(cancel).then(resolve, reject)
    })
  }

  #askAll<Result>(method: string, args: readonly unknown[]): Promise<readonly Result[]> {
    return Promise.all(Array.from({ length: this.#link.count }, (_, slot) => this.#ask<Result>(slot, method, args)))
  }

  #answer(method: string, args: readonly unknown[]): Promise<unknown> {
    const answer = this.#answers[method] as ((...args: readonly unknown[]) => Promise<unknown>) | undefined
    return answer === undefined ? Promise.resolve(undefined) : answer(...args)
  }
}

/** What is answered at once by a process that is well; anything else may have to wait for functions. */
const LOOKS: ReadonlySet<string> = new Set(['get', 'find', 'history', 'list', 'isCorrelated'])

/** Milliseconds for which the answer to a look is waited for. */
const PATIENCE = 10_000

const INSTANCE_METHODS: readonly InstanceMethod[] = ['get', 'find', 'history', 'replaceData', 'mergeData', 'abort', 'retrigger', 'skip', 'trigger', 'retriggerNode', 'cancelNode', 'reschedule']

/** Takes only ids that belong to this process, so that everybody knows from an id whom to ask. */
function ownIds(ids: IdSource, { slot, count }: ClusterLink): IdSource {
  return {
    random: () => ids.random(),
    next() {
      let id = ids.next()
      while (ownerOf(id, count) !== slot) id = ids.next()
      return id
    },
  }
}
