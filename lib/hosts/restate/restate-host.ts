import type { JsonObject } from '../../common/index.ts'
import { HostError, InstanceError } from '../../errors/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import { versionOf, type HistoryStep, type InstanceFacts } from '../../instance/index.ts'
import { asError } from '../as-error.ts'
import { validateInput } from '../births.ts'
import type { DeployedWorkflow } from '../deployments.ts'
import type { Delivery, Host, InstancePage, InstanceQuery, InstanceRecord, StartRequest } from '../host.ts'
import { bodyOf } from '../journal.ts'
import { keyConflict } from '../kernel.ts'
import { instanceNotFound } from '../operators.ts'
import type { KernelOptions } from '../parts.ts'
import type { RunningHost } from '../running-host.ts'
import type { Engine } from './engine.ts'
import type { Head } from './life.ts'
import { listInstances } from './list.ts'
import type { Operation, Reply, StartMessage } from './messages.ts'
import { digestOf, idFrom, type ServiceNames } from './names.ts'
import { Schedules } from './schedules.ts'
import type { Worker } from './worker.ts'
import type { Workflows } from './workflows.ts'

/** What the front of the engine is made from. */
export interface RestateHostParts {
  readonly options: KernelOptions
  readonly engine: Engine
  readonly names: ServiceNames
  readonly workflows: Workflows
  /** Starts the worker of this process; absent where it is a front only. */
  readonly startWorker?: () => Promise<Worker>
  /** Whether it takes requests; a process may be a worker only. */
  readonly isFront: boolean
}

/** Milliseconds for which a sign of life of the engine counts. */
const ALIVE_FOR = 1000

/**
 * Executes instances through the distributed engine: this process hands requests over and waits for answers; any worker takes them.
 *
 * It keeps nothing: any number of such processes may stand beside one another, and any may end at any time.
 */
export class RestateHost implements RunningHost {
  readonly #parts: RestateHostParts
  readonly #underWay = new Set<Promise<unknown>>()
  readonly schedules: Schedules
  #worker: Worker | undefined
  #closing = false
  #aliveAt = -Infinity

  constructor(parts: RestateHostParts) {
    this.#parts = parts
    this.schedules = new Schedules(parts)
  }

  async recover(): Promise<void> {
    const { startWorker, options: { deployments } } = this.#parts
    this.#worker = await startWorker?.()
    await this.schedules.load(deployments.list())
  }

  // --- starting ---

  async start(request: StartRequest): Promise<InstanceRecord> {
    this.#admit()
    const { workflows, options: { clock } } = this.#parts
    const workflow = workflows.inService(request.workflowId, request.version)
    validateInput(workflow, request.input)
    await workflows.hold(workflow)
    const message = this.#startMessage(workflow, request)
    const { facts } = message.settled
    const answer = this.#ask(facts.id, 'start', message, request)
    if (request.answerTimeout === undefined) return answer
    const { answerTimeout } = request
    return new Promise((resolve, reject) => {
      const cancel = clock.at(clock.now() + answerTimeout, () => { this.#underWayRecord(facts).then(resolve, reject) })
      answer.finally(cancel).then(resolve, reject)
    })
  }

  #startMessage(workflow: DeployedWorkflow, { workflowId, input, headers = {}, idempotencyKey, startFrom, respondAsync, ...rest }: StartRequest): StartMessage & Required<Pick<StartMessage, 'settled'>> {
    const { clock, ids } = this.#parts.options
    const { identity, businessKey, referenceId } = rest
    const at = clock.now()
    const facts: InstanceFacts = {
      id: idempotencyKey === undefined ? ids.next() : idFrom('key', workflowId, idempotencyKey),
      workflowId,
      version: versionOf(workflow.program, input),
      input,
      headers,
      startedAt: at,
      ...(identity === undefined ? {} : { identity }),
      ...(businessKey === undefined ? {} : { businessKey }),
      ...(referenceId === undefined ? {} : { referenceId }),
    }
    return {
      kind: 'start',
      at,
      settled: { facts, definition: workflow.loaded.source.hash },
      ...(startFrom === undefined ? {} : { startFrom }),
      ...(idempotencyKey === undefined ? {} : { startedBy: digestOf(bodyOf(input)) }),
      ...(respondAsync === true ? { atOnce: true } : {}),
    }
  }

  /** What can be said of an instance whose answer takes longer than its caller waits. */
  async #underWayRecord(facts: InstanceFacts): Promise<InstanceRecord> {
    const { id, workflowId, version, input, startedAt, businessKey } = facts
    return await this.find(workflowId, id) ?? { id, workflowId, version, status: 'active', data: input, startedAt, ...(businessKey === undefined ? {} : { businessKey }) }
  }

  /** Hands a message over and gives the record once nothing is under way. */
  async #ask(id: string, handler: string, message: unknown, request?: StartRequest): Promise<InstanceRecord> {
    const { names, engine, options: { clock } } = this.#parts
    const target = { service: names.instance, key: id }
    const { refusal, record, quiet } = await this.#track(engine.call<Reply>({ ...target, handler }, message))
    if (refusal?.code === 'INSTANCE_CONFLICT' && request?.idempotencyKey !== undefined) throw keyConflict(request, request.idempotencyKey)
    if (refusal !== undefined) throw new InstanceError({ ...refusal, code: refusal.code as InstanceError['code'] })
    if (record === undefined) throw instanceNotFound(request?.workflowId ?? '', id)
    if (quiet || request?.respondAsync === true) return record
    return await this.#track(engine.wait<InstanceRecord | null>({ ...target, handler: 'answer' }, { at: clock.now() })) ?? record
  }

  async #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
    }
  }

  #admit(): void {
    if (this.#closing) throw new HostError({ code: 'HOST_CLOSED', message: 'The host is closing and starts nothing new; try another replica' })
    if (!this.#parts.isFront) throw new HostError({ code: 'HOST_CLOSED', message: 'This process is a worker only (sonatina.restate.role); send requests to a front' })
  }

  // --- reading ---

  async #read(workflowId: string, id: string): Promise<{ readonly record: InstanceRecord; readonly head: Head | null } | undefined> {
    const { names, engine } = this.#parts
    const found = await engine.look<{ record: InstanceRecord; head: Head | null } | null>({ service: names.instance, key: id, handler: 'get' }, {})
    return found?.record.workflowId === workflowId ? found : undefined
  }

  async get(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const record = (await this.#read(workflowId, instanceId))?.record
    return record?.endedAt === undefined ? record : undefined
  }

  async find(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const found = await this.#read(workflowId, instanceId)
    if (found === undefined) return undefined
    return found.record.endedAt === undefined || this.#parts.options.clock.now() < (found.head?.visibleUntil ?? 0) ? found.record : undefined
  }

  list(query: InstanceQuery): Promise<InstancePage> {
    return listInstances(this.#parts, query)
  }

  async history(workflowId: string, instanceId: string): Promise<readonly HistoryStep[]> {
    if (await this.find(workflowId, instanceId) === undefined) return []
    const { names, engine } = this.#parts
    return engine.look<readonly HistoryStep[]>({ service: names.history, key: instanceId, handler: 'read' }, {})
  }

  // --- operators ---

  #operate(workflowId: string, id: string, operation: Operation): Promise<InstanceRecord> {
    return this.#ask(id, 'operate', { kind: 'operate', at: this.#parts.options.clock.now(), workflowId, operation })
  }

  replaceData: Host['replaceData'] = (workflowId, id, data) => this.#operate(workflowId, id, { name: 'replaceData', data })
  mergeData: Host['mergeData'] = (workflowId, id, data: JsonObject) => this.#operate(workflowId, id, { name: 'mergeData', data })
  abort: Host['abort'] = (workflowId, id) => this.#ask(id, 'abort', { at: this.#parts.options.clock.now(), workflowId })
  retrigger: Host['retrigger'] = (workflowId, id) => this.#operate(workflowId, id, { name: 'retrigger' })
  skip: Host['skip'] = (workflowId, id) => this.#operate(workflowId, id, { name: 'skip' })
  trigger: Host['trigger'] = (workflowId, id, nodeId) => this.#operate(workflowId, id, { name: 'trigger', nodeId })
  retriggerNode: Host['retriggerNode'] = (workflowId, id, nodeInstanceId) => this.#operate(workflowId, id, { name: 'retriggerNode', nodeInstanceId })
  cancelNode: Host['cancelNode'] = (workflowId, id, nodeInstanceId) => this.#operate(workflowId, id, { name: 'cancelNode', nodeInstanceId })
  reschedule: Host['reschedule'] = (workflowId, id, nodeInstanceId, dueAt) => this.#operate(workflowId, id, { name: 'reschedule', nodeInstanceId, dueAt })

  // --- events ---

  deliver(event: CloudEventRecord): Promise<Delivery> {
    try {
      this.#admit()
    } catch (error) {
      return Promise.reject(asError(error))
    }
    return this.#route(event)
  }

  #route(event: CloudEventRecord): Promise<Delivery> {
    const { names, engine, options: { clock } } = this.#parts
    return this.#track(engine.call<Delivery>({ service: names.router, handler: 'deliver' }, { event, at: clock.now() }))
  }

  emit(event: CloudEventRecord): void {
    const { options } = this.#parts
    options.publish(event)
    if (options.loopback) this.#route(event).catch((error: unknown) => { options.log.error({ event: event.id, error }, 'event could not be handed in again') })
  }

  // --- the host itself ---

  async readiness(): Promise<{ readonly ready: boolean; readonly reason?: string }> {
    if (this.#closing) return { ready: false, reason: 'the host is closing' }
    if (this.#worker?.problem !== undefined) return { ready: false, reason: this.#worker.problem.message }
    const { engine, options: { clock } } = this.#parts
    if (clock.now() - this.#aliveAt < ALIVE_FOR) return { ready: true }
    if (!await engine.isAlive()) return { ready: false, reason: 'the engine cannot be reached (sonatina.restate.ingress-url)' }
    this.#aliveAt = clock.now()
    return { ready: true }
  }

  async quiet(): Promise<void> {
    const { engine, names } = this.#parts
    const services = Object.values(names).map((name: string) => `'${name}'`).join(', ')
    const sql = `select count(*) as busy from sys_invocation where target_service_name in (${services}) and target_handler_name <> 'answer' ` +
      // What has been tried often waits for something outside.
      'and (status in (\'pending\', \'ready\', \'running\', \'suspended\') or (status = \'backing-off\' and retry_count <= 4))'
    // What one object has sent to another is seen nowhere for a moment.
    for (let quietTimes = 0; quietTimes < 4;) {
      await new Promise<void>((resolve) => { setImmediate(resolve) })
      const [row] = engine.underWay > 0 ? [] : await engine.query(sql)
      quietTimes = Number(row?.['busy'] ?? 1) === 0 && engine.underWay === 0 ? quietTimes + 1 : 0
    }
  }

  async close(graceMilliseconds = 0): Promise<void> {
    this.#closing = true
    const { clock } = this.#parts.options
    if (graceMilliseconds > 0 && this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = clock.at(clock.now() + graceMilliseconds, resolve)
        void Promise.allSettled([...this.#underWay]).then(() => { cancel(); resolve() })
      })
    }
    await this.#worker?.close(graceMilliseconds)
    this.#parts.engine.close()
  }
}
