import type { Clock, IdSource, Json, JsonObject, Logger } from '../common/index.ts'
import { mergeObjects } from '../expressions/index.ts'
import { DataInputError, DefinitionError, HostError, InstanceError } from '../errors/index.ts'
import type { CloudEventRecord, CorrelationValues } from '../events/index.ts'
import { Instance, toWorkflowError, versionOf, type CallCommand, type Command, type HistoryStep, type InstanceFacts, type ParentLink, type Result, type SecretReader, type SubflowCommand } from '../instance/index.ts'
import type { Delivery, Host, InstancePage, InstanceQuery, InstanceRecord, StartRequest } from './host.ts'
import type { DeployedWorkflow, Deployments } from './deployments.ts'
import { EventStarts, type EventStart } from './event-starts.ts'
import { isQuiet, recordOf, statusOf, toFailure, type LiveInstance } from './live-instance.ts'
import { WaitIndex } from './wait-index.ts'
import { WorkQueue } from './work-queue.ts'

/** What a host of instances needs. */
export interface KernelOptions {
  readonly deployments: Deployments
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  readonly secrets: SecretReader
  /** Sends a produced event to where it belongs outside. */
  readonly publish: (event: CloudEventRecord) => void
  /** Produced events come back as incoming ones. */
  readonly loopback: boolean
  /** @default 100000 */
  readonly maxSteps?: number
  /** Produced events carry the attributes in the spelling of Kogito too. @default false */
  readonly kogitoAttributes?: boolean
  /** Most instances alive at a time; unlimited when absent. */
  readonly maxActive?: number
  /** Milliseconds for which ended instances can still be found. @default 0 */
  readonly retention?: number
  /** Called in place of starting a sub-flow of that id. */
  readonly subflows?: ReadonlyMap<string, (input: Json, signal: AbortSignal, version?: string) => Json | Promise<Json>>
  /** Receives every step of every instance. */
  readonly onStep?: (step: HistoryStep, instance: InstanceFacts) => void
  /** Told when an instance rests: it waits, failed, or ended. */
  readonly onRest?: (record: InstanceRecord, instance: InstanceFacts) => void
}

/** A step before it has its place in the history. */
export type UnplacedStep = Omit<HistoryStep, 'sequence' | 'at'>

interface NewInstance {
  readonly workflow: DeployedWorkflow
  readonly input: Json
  readonly headers: Readonly<Record<string, string>>
  readonly request?: StartRequest
  readonly parent?: { readonly live: LiveInstance; readonly link: ParentLink }
  readonly variables?: JsonObject
  readonly events?: readonly CloudEventRecord[]
  readonly correlation?: CorrelationValues
  readonly timeout?: number
}

/**
 * Executes instances in this process: the part that hosts have in common.
 *
 * One event loop is the only writer: a turn of an instance runs to the end before the next begins, of whichever instance.
 */
export class Kernel implements Host {
  readonly #options: KernelOptions
  readonly #live = new Map<string, LiveInstance>()
  readonly #finished = new Map<string, InstanceRecord>()
  readonly #waits = new WaitIndex()
  readonly #starts: EventStarts
  readonly #queue = new WorkQueue()
  readonly #idempotent = new Map<string, { readonly body: string; readonly record: Promise<InstanceRecord> }>()
  #closing = false
  #whenIdle: (() => void)[] = []

  constructor(options: KernelOptions) {
    this.#options = options
    this.#starts = new EventStarts(options.clock)
  }

  // --- Host: instances ---

  start(request: StartRequest): Promise<InstanceRecord> {
    return request.idempotencyKey === undefined ? this.#start(request) : this.#startOnce(request, request.idempotencyKey)
  }

  async #start(request: StartRequest): Promise<InstanceRecord> {
    this.#admit()
    const workflow = this.#workflow(request.workflowId, request.version)
    validateInput(workflow, request.input)
    return new Promise((resolve, reject) => {
      this.#queue.add(() => {
        try {
          const live = this.#create({ workflow, input: request.input, headers: request.headers ?? {}, request })
          this.#awaitAnswer(live, request, resolve)
          this.#begin(live, request.startFrom)
        } catch (error) {
          reject(error instanceof Error ? error : new HostError({ code: 'HOST_CLOSED', message: 'The instance could not be started', cause: error }))
        }
      })
    })
  }

  // A second start with one key gives the first instance; another body under the same key is a mistake (http-contract.md §2).
  #startOnce(request: StartRequest, key: string): Promise<InstanceRecord> {
    const place = `${request.workflowId}\n${key}`
    const body = JSON.stringify(request.input)
    const first = this.#idempotent.get(place)
    if (first !== undefined) {
      if (first.body === body) return first.record.then((record) => this.#current(record))
      const message = `Idempotency-Key "${key}" was used for "${request.workflowId}" with another body; take a fresh key for another request`
      return Promise.reject(new InstanceError({ code: 'INSTANCE_CONFLICT', message }))
    }
    const record = this.#start(request)
    this.#idempotent.set(place, { body, record })
    // What was never started may be tried again under the same key.
    record.catch(() => this.#idempotent.delete(place))
    forgetOldest(this.#idempotent, REMEMBERED_KEYS)
    return record
  }

  #current(record: InstanceRecord): InstanceRecord {
    const live = this.#live.get(record.id)
    return live === undefined ? record : recordOf(live)
  }

  #admit(): void {
    if (this.#closing) throw new HostError({ code: 'HOST_CLOSED', message: 'The host is closing and starts nothing new; try another replica' })
    const { maxActive } = this.#options
    if (maxActive !== undefined && this.#live.size >= maxActive) {
      throw new HostError({ code: 'HOST_BUSY', message: `There are ${String(maxActive)} active instances (sonatina.instances.max-active); try again later` })
    }
  }

  #workflow(id: string, version?: string): DeployedWorkflow {
    const workflow = this.#options.deployments.find(id, version)
    if (workflow !== undefined) return workflow
    const which = version === undefined ? `"${id}"` : `"${id}" in version ${version}`
    throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `There is no workflow ${which}` })
  }

  #awaitAnswer(live: LiveInstance, request: StartRequest, resolve: (record: InstanceRecord) => void): void {
    const answer = (): void => { resolve(recordOf(live)) }
    if (request.respondAsync === true) {
      // The instance exists when its first turn is over.
      this.#queue.add(answer)
      return
    }
    live.waiters.push(answer)
    if (request.answerTimeout === undefined) return
    const cancel = this.#options.clock.at(this.#options.clock.now() + request.answerTimeout, answer)
    live.waiters.push(cancel)
  }

  async get(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const live = this.#live.get(instanceId)
    return live?.facts.workflowId === workflowId ? recordOf(live) : undefined
  }

  async find(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined> {
    const finished = this.#finished.get(instanceId)
    return await this.get(workflowId, instanceId) ?? (finished?.workflowId === workflowId ? finished : undefined)
  }

  async list(query: InstanceQuery): Promise<InstancePage> {
    const all = [...this.#finished.values(), ...[...this.#live.values()].map(recordOf)]
    return pageOf(all.filter((record) => fitsQuery(record, query)), query)
  }

  replaceData(workflowId: string, instanceId: string, data: Json): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, ({ instance }) => { instance.replaceData(data) })
  }

  mergeData(workflowId: string, instanceId: string, data: JsonObject): Promise<InstanceRecord> {
    // Arrays replace, whatever the profile: this is an operator's patch, not the result of an action.
    return this.#operate(workflowId, instanceId, ({ instance }) => { instance.replaceData(mergeObjects((instance.data ?? {}) as JsonObject, data, 'sonataflow')) })
  }

  abort(workflowId: string, instanceId: string): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, ({ instance }) => { instance.abort() })
  }

  retrigger(workflowId: string, instanceId: string): Promise<InstanceRecord> {
    return this.#repair(workflowId, instanceId, ({ instance }) => { instance.retrigger() })
  }

  skip(workflowId: string, instanceId: string): Promise<InstanceRecord> {
    return this.#repair(workflowId, instanceId, ({ instance }) => { instance.skip() })
  }

  trigger(workflowId: string, instanceId: string, nodeId: string): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, ({ instance, workflow }) => {
      const state = workflow.program.stateIndex.get(nodeId.split('/')[0] ?? '')
      if (state === undefined) throw nodeNotFound(nodeId)
      instance.trigger(state)
    })
  }

  retriggerNode(workflowId: string, instanceId: string, nodeInstanceId: string): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, ({ instance }) => {
      assertPending(instance, nodeInstanceId)
      instance.repeat(nodeInstanceId)
    })
  }

  cancelNode(workflowId: string, instanceId: string, nodeInstanceId: string): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, (live) => {
      const effect = assertPending(live.instance, nodeInstanceId)
      if (effect === 'timer') live.instance.fire(nodeInstanceId)
      else live.instance.settle(nodeInstanceId, { output: {} })
    })
  }

  reschedule(workflowId: string, instanceId: string, nodeInstanceId: string, dueAt: number): Promise<InstanceRecord> {
    return this.#operate(workflowId, instanceId, (live) => {
      if (assertPending(live.instance, nodeInstanceId) !== 'timer') throw nodeNotFound(nodeInstanceId)
      live.instance.reschedule(nodeInstanceId, dueAt)
    })
  }

  async history(): Promise<readonly HistoryStep[]> {
    return []
  }

  /** Makes a turn of a live instance and answers when it is quiet again. */
  #operate(workflowId: string, instanceId: string, move: (live: LiveInstance) => void): Promise<InstanceRecord> {
    const live = this.#live.get(instanceId)
    if (live?.facts.workflowId !== workflowId) return Promise.reject(instanceNotFound(workflowId, instanceId))
    return new Promise((resolve, reject) => {
      this.#queue.add(() => {
        try {
          this.#turn(live, () => {
            move(live)
            live.waiters.push(() => { resolve(recordOf(live)) })
          })
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  #repair(workflowId: string, instanceId: string, move: (live: LiveInstance) => void): Promise<InstanceRecord> {
    const live = this.#live.get(instanceId)
    if (live?.facts.workflowId === workflowId && statusOf(live) !== 'error') {
      const message = `Instance ${instanceId} of "${workflowId}" is not in error; only failed instances can be retriggered or skipped`
      return Promise.reject(new InstanceError({ code: 'INSTANCE_NOT_FAILED', message, details: { processInstanceId: instanceId } }))
    }
    return this.#operate(workflowId, instanceId, move)
  }

  // --- Host: events ---

  async deliver(event: CloudEventRecord): Promise<Delivery> {
    this.#admit()
    return new Promise((resolve) => { this.#queue.add(() => { resolve(this.#deliver(event)) }) })
  }

  /** Sends an event out, and back in where produced events come back. */
  emit(event: CloudEventRecord): void {
    this.#options.publish(event)
    if (this.#options.loopback) this.#queue.add(() => { this.#deliver(event) })
  }

  /** Routes by http-contract.md §5: instances that wait, the instance or business key named, definitions that begin with it. */
  #deliver(event: CloudEventRecord): Delivery {
    const reference = textOf(event, 'wfprocrefid', 'kogitoprocrefid')
    const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
    const matches = this.#waits.find(event)
    const correlated = matches.filter(({ correlation }) => Object.keys(correlation).length > 0)
    const chosen = correlated.length > 0 ? correlated : matches.filter(({ live }) =>
      (reference === undefined || live.facts.id === reference) && (businessKey === undefined || live.facts.businessKey === businessKey))
    const instances: string[] = []
    const atStart = chosen.filter(({ live, token }) => isAtStart(live, token)).map(({ live }) => live.workflow)
    for (const { live, token, entry, correlation } of chosen) {
      this.#turn(live, () => {
        if (live.instance.receive(token, entry, event, correlation)) instances.push(live.facts.id)
      })
    }
    if (correlated.length === 0 && reference === undefined && (businessKey === undefined || instances.length === 0)) {
      // An instance that waits where its definition begins takes the event itself; it does not begin another.
      const others = this.#options.deployments.list().filter((workflow) => !atStart.includes(workflow))
      for (const begun of this.#starts.take(others, event)) instances.push(this.#beginByEvents(begun, event, businessKey))
    }
    if (instances.length === 0) this.#options.log.info({ event: event.id, type: event.type }, 'event ignored: nothing waits for it')
    return { instances }
  }

  #beginByEvents({ workflow, events, correlation }: EventStart, event: CloudEventRecord, businessKey: string | undefined): string {
    const referenceId = textOf(event, 'wfprocinstanceid', 'kogitoprocinstanceid')
    const startFrom = textOf(event, 'wfprocstartfrom', 'kogitoprocstartfrom')
    const request: StartRequest = {
      workflowId: workflow.program.definition.id,
      input: {},
      ...(businessKey === undefined ? {} : { businessKey }),
      ...(referenceId === undefined ? {} : { referenceId }),
    }
    const live = this.#create({ workflow, input: {}, headers: attributesOf(event), request, events, correlation })
    this.#begin(live, startFrom, events, correlation)
    return live.facts.id
  }

  // --- lives ---

  #create({ workflow, input, headers, request, parent, variables, timeout }: NewInstance): LiveInstance {
    const { definition } = workflow.program
    const facts: InstanceFacts = {
      id: this.#options.ids.next(),
      workflowId: definition.id,
      version: versionOf(workflow.program, input),
      input,
      headers,
      startedAt: this.#options.clock.now(),
      ...(request?.identity === undefined ? {} : { identity: request.identity }),
      ...(request?.businessKey === undefined ? {} : { businessKey: request.businessKey }),
      ...(request?.referenceId === undefined ? {} : { referenceId: request.referenceId }),
      ...(parent === undefined ? {} : { parent: parent.link }),
      ...(variables === undefined ? {} : { variables }),
      ...(timeout === undefined ? {} : { timeout }),
    }
    const { clock, ids, log, secrets, maxSteps = 100_000, kogitoAttributes = false, onStep } = this.#options
    const report = onStep === undefined ? undefined : stepReporter(clock, facts, onStep)
    const environment = {
      clock,
      ids,
      log: log.child({ instance: facts.id, workflow: facts.workflowId }),
      secrets,
      maxSteps,
      kogitoAttributes,
      withdraw: (_instance: Instance, token: string): void => { this.#withdraw(live, token) },
      ...(report === undefined ? {} : { report: (_instance: Instance, step: UnplacedStep): void => { report(step) } }),
    }
    const live: LiveInstance = {
      instance: new Instance(facts, workflow, environment),
      facts,
      workflow,
      timers: new Map(),
      calls: new Map(),
      starting: new Set(),
      awaited: new Map(),
      dependents: new Set(),
      waiters: [],
      pumping: false,
      ...(report === undefined ? {} : { report }),
      ...(parent === undefined ? {} : { parent: parent.live }),
    }
    this.#live.set(facts.id, live)
    return live
  }

  #begin(live: LiveInstance, startFrom?: string, events: readonly CloudEventRecord[] = [], correlation?: CorrelationValues): void {
    const state = startFrom === undefined ? undefined : live.workflow.program.stateIndex.get(startFrom)
    if (startFrom !== undefined && state === undefined) {
      this.#live.delete(live.facts.id)
      throw new InstanceError({ code: 'INSTANCE_START_INVALID', message: `Workflow "${live.facts.workflowId}" has no state "${startFrom}" to start from` })
    }
    this.#turn(live, () => {
      live.instance.begin({ ...(state === undefined ? {} : { startFrom: state }), ...(correlation === undefined ? {} : { correlation }) })
      for (const event of events) {
        this.#waits.update(live)
        const match = this.#waits.find(event).find((candidate) => candidate.live === live)
        if (match !== undefined) live.instance.receive(match.token, match.entry, event, match.correlation)
      }
    })
  }

  /** Moves an instance on, then carries out what it asks for until it rests. */
  #turn(live: LiveInstance, move: () => void): void {
    move()
    if (live.pumping) return
    live.pumping = true
    try {
      for (let commands = live.instance.takeCommands(); commands.length > 0; commands = live.instance.takeCommands()) {
        for (const command of commands) this.#execute(live, command)
      }
    } finally {
      live.pumping = false
    }
    this.#rest(live)
  }

  #rest(live: LiveInstance): void {
    const status = live.instance.status
    if (status === 'completed' || status === 'aborted') this.#end(live)
    else if (status === 'error') this.#fail(live)
    else {
      this.#waits.update(live)
      if (this.#options.onRest !== undefined && live.instance.isQuiet) this.#options.onRest(recordOf(live), live.facts)
      this.#answer(live)
    }
  }

  #answer(live: LiveInstance): void {
    if (!isQuiet(live)) return
    this.#release(live)
    // A parent that waits for this sub-flow may be quiet now too.
    if (live.parent !== undefined) this.#answer(live.parent)
  }

  #release(live: LiveInstance): void {
    const waiters = live.waiters
    live.waiters = []
    for (const waiter of waiters) waiter(live)
  }

  #execute(live: LiveInstance, command: Command): void {
    switch (command.kind) {
      case 'call': this.#call(live, command); return
      case 'timer':
        live.timers.set(command.token, this.#options.clock.at(command.dueAt, () => {
          live.timers.delete(command.token)
          this.#queue.add(() => { this.#turn(live, () => { live.instance.fire(command.token) }) })
        }))
        return
      case 'publish': this.emit(command.event); return
      case 'subflow':
        if (!command.detached) live.starting.add(command.token)
        this.#queue.add(() => { this.#startSubflow(live, command) })
    }
  }

  #call(live: LiveInstance, command: CallCommand): void {
    const controller = new AbortController()
    live.calls.set(command.token, controller)
    const outcome = command.run(controller.signal)
    const done = (result: Awaited<typeof outcome>): void => {
      live.calls.delete(command.token)
      if (!command.detached) live.instance.settle(command.token, result)
      else if ('error' in result) this.#options.log.warn({ instance: live.facts.id, error: result.error }, 'asynchronous function failed')
    }
    if (!(outcome instanceof Promise)) done(outcome)
    else void outcome.then((result) => { this.#queue.add(() => { this.#turn(live, () => { done(result) }) }) })
  }

  #withdraw(live: LiveInstance, token: string): void {
    live.timers.get(token)?.()
    live.timers.delete(token)
    live.calls.get(token)?.abort()
    live.calls.delete(token)
    const child = live.awaited.get(token)
    live.awaited.delete(token)
    if (child !== undefined) this.#queue.add(() => { this.#stop(child) })
  }

  // --- sub-flows ---

  #startSubflow(live: LiveInstance, command: SubflowCommand): void {
    live.starting.delete(command.token)
    if (!command.detached && !live.instance.pending.has(command.token)) return
    const replacement = this.#options.subflows?.get(command.workflowId)
    if (replacement !== undefined) {
      const run = async (signal: AbortSignal): Promise<Result> => {
        try {
          const outcome = await command.finish(await replacement(command.input, signal, command.version))
          return outcome as Result
        } catch (error) {
          return { error: toWorkflowError(error) }
        }
      }
      this.#turn(live, () => { this.#call(live, { kind: 'call', token: command.token, detached: command.detached, run }) })
      return
    }
    try {
      const workflow = this.#workflow(command.workflowId, command.version)
      validateInput(workflow, command.input)
      this.#beginSubflow(live, command, workflow, command.input)
    } catch (error) {
      this.#turn(live, () => { live.instance.settle(command.token, { error: toWorkflowError(error) }) })
    }
  }

  #beginSubflow(parent: LiveInstance, command: SubflowCommand, workflow: DeployedWorkflow, input: Json, timeout?: number): void {
    const link: ParentLink = {
      instanceId: parent.facts.id,
      workflowId: parent.facts.workflowId,
      rootInstanceId: parent.facts.parent?.rootInstanceId ?? parent.facts.id,
      rootWorkflowId: parent.facts.parent?.rootWorkflowId ?? parent.facts.workflowId,
      onParentComplete: command.onParentComplete,
      ...(command.detached ? {} : { token: command.token }),
    }
    const child = this.#create({
      workflow,
      input,
      headers: parent.facts.headers,
      parent: { live: parent, link },
      ...(command.variables === undefined ? {} : { variables: command.variables }),
      ...(timeout === undefined ? {} : { timeout }),
    })
    child.waiters.push(() => { this.#subflowMoved(parent, command, child) })
    if (command.detached && command.onParentComplete === 'terminate') parent.dependents.add(child)
    if (!command.detached) parent.awaited.set(command.token, child)
    this.#begin(child)
  }

  /** A sub-flow rests, failed or ended: what it gave is the action's result, its error the action's error (S187, S193). */
  #subflowMoved(parent: LiveInstance, command: SubflowCommand, child: LiveInstance): void {
    const status = statusOf(child)
    if (status === 'active' || status === 'waiting') {
      child.waiters.push(() => { this.#subflowMoved(parent, command, child) })
      return
    }
    parent.dependents.delete(child)
    if (command.detached) return
    parent.awaited.delete(command.token)
    const { continuation } = child.instance
    // The parent sees one invocation, however often its sub-flow continues as another (S194).
    parent.starting.add(command.token)
    if (status === 'completed' && continuation !== undefined) {
      this.#queue.add(() => { this.#continueSubflow(parent, command, continuation) })
      return
    }
    this.#queue.add(() => {
      this.#turn(parent, () => { this.#settleSubflow(parent, command, child, status) })
    })
  }

  #continueSubflow(parent: LiveInstance, command: SubflowCommand, continuation: NonNullable<Instance['continuation']>): void {
    parent.starting.delete(command.token)
    try {
      const workflow = this.#workflow(continuation.workflowId, continuation.version)
      this.#beginSubflow(parent, command, workflow, continuation.input, continuation.timeout)
    } catch (error) {
      this.#turn(parent, () => { parent.instance.settle(command.token, { error: toWorkflowError(error) }) })
    }
  }

  #settleSubflow(parent: LiveInstance, command: SubflowCommand, child: LiveInstance, status: string): void {
    parent.starting.delete(command.token)
    if (status !== 'completed') {
      const failure = child.failure ?? child.instance.failure
      const error = failure ?? { name: 'InstanceError', code: 'INSTANCE_ABORTED', message: `Sub-flow "${command.workflowId}" was aborted` }
      this.#drop(child)
      parent.instance.settle(command.token, { error })
      return
    }
    const outcome = command.finish(child.instance.data)
    if (outcome instanceof Promise) this.#call(parent, { kind: 'call', token: command.token, detached: false, run: () => outcome })
    else parent.instance.settle(command.token, outcome)
  }

  // --- ends ---

  #fail(live: LiveInstance): void {
    this.#waits.update(live)
    const record = recordOf(live)
    live.report?.({ type: 'failed', ...(record.failure === undefined ? {} : { nodeId: record.failure.failedNodeId, detail: { ...record.failure } }), data: record.data })
    this.#options.log.error({ instance: live.facts.id, workflow: live.facts.workflowId, failure: record.failure }, 'instance failed')
    this.#options.onRest?.(record, live.facts)
    this.#release(live)
  }

  #end(live: LiveInstance): void {
    this.#checkOutput(live)
    live.endedAt = this.#options.clock.now()
    this.#drop(live)
    for (const child of live.dependents) this.#stop(child)
    const { continuation } = live.instance
    if (continuation !== undefined && live.parent === undefined) this.#queue.add(() => { this.#continue(live, continuation) })
    const record = recordOf(live)
    live.report?.(endStep(record, continuation))
    this.#options.log.debug({ instance: live.facts.id, status: record.status }, 'instance ended')
    this.#options.onRest?.(record, live.facts)
    this.#release(live)
  }

  /** Removes an instance from what is alive. */
  #drop(live: LiveInstance): void {
    for (const cancel of live.timers.values()) cancel()
    for (const call of live.calls.values()) call.abort()
    live.timers.clear()
    live.calls.clear()
    this.#waits.remove(live)
    if (!this.#live.delete(live.facts.id)) return
    const { retention = 0 } = this.#options
    if (retention > 0) {
      this.#finished.set(live.facts.id, recordOf(live))
      this.#forgetEnded(retention)
    }
    if (this.#live.size === 0) this.#idle()
  }

  #forgetEnded(retention: number): void {
    const oldest = this.#options.clock.now() - retention
    for (const [id, { endedAt }] of this.#finished) {
      if (endedAt !== undefined && endedAt >= oldest) break
      this.#finished.delete(id)
    }
    forgetOldest(this.#finished, MOST_ENDED)
  }

  #stop(live: LiveInstance): void {
    if (this.#live.has(live.facts.id)) this.#turn(live, () => { live.instance.abort() })
  }

  /** The output schema, and the message with which a state says that the whole came to nothing (http-contract.md §4). */
  #checkOutput(live: LiveInstance): void {
    if (live.instance.status !== 'completed') return
    const { program, validateOutput } = live.workflow
    const { data } = live.instance
    const state = program.states[live.instance.context.state ?? 0]
    const violations = validateOutput?.(data) ?? []
    if (violations.length > 0) {
      const message = `The output violates its schema: ${violations.map(({ pointer, message: reason }) => `${pointer || '/'} ${reason}`).join('; ')}`
      live.failure = toFailure({ name: 'DataInputError', code: 'DATA_OUTPUT_INVALID', message }, state?.state.name ?? '')
      return
    }
    const text = state?.errorMessage?.evaluate(data, live.instance.bindings(live.instance.context))
    if (typeof text === 'string' && text.trim() !== '') {
      live.failure = toFailure({ name: 'InstanceError', code: 'INSTANCE_FAILED', message: text }, state?.state.name ?? '')
    }
  }

  /** S276: another instance goes on with the data. */
  #continue(live: LiveInstance, continuation: NonNullable<Instance['continuation']>): void {
    try {
      const workflow = this.#workflow(continuation.workflowId, continuation.version)
      validateInput(workflow, continuation.input)
      const { timeout } = continuation
      this.#begin(this.#create({ workflow, input: continuation.input, headers: live.facts.headers, ...(timeout === undefined ? {} : { timeout }) }))
    } catch (error) {
      this.#options.log.error({ instance: live.facts.id, error: toWorkflowError(error) }, 'workflow could not continue as another')
    }
  }

  // --- the host itself ---

  async readiness(): Promise<{ readonly ready: boolean; readonly reason?: string }> {
    return this.#closing ? { ready: false, reason: 'the host is closing' } : { ready: true }
  }

  /** Resolves when no instance has anything to do but wait. */
  async quiet(): Promise<void> {
    while (!this.#queue.isEmpty || [...this.#live.values()].some((live) => live.calls.size > 0)) {
      await new Promise<void>((resolve) => { setImmediate(resolve) })
    }
  }

  async close(graceMilliseconds = 0): Promise<void> {
    this.#closing = true
    if (graceMilliseconds > 0) await this.#running(graceMilliseconds)
    this.#starts.close()
    for (const live of [...this.#live.values()]) {
      this.#drop(live)
      this.#release(live)
    }
  }

  // Instances that only wait cannot be waited for; those with a call under way get their time.
  #running(milliseconds: number): Promise<void> {
    const isDone = (): boolean => [...this.#live.values()].every((live) => live.calls.size === 0)
    return new Promise((resolve) => {
      if (isDone()) { resolve(); return }
      const cancel = this.#options.clock.at(this.#options.clock.now() + milliseconds, resolve)
      const check = (): void => {
        if (isDone()) { cancel(); resolve() } else this.#whenIdle.push(check)
      }
      this.#whenIdle.push(check)
    })
  }

  #idle(): void {
    const callbacks = this.#whenIdle
    this.#whenIdle = []
    for (const callback of callbacks) callback()
  }
}

const REMEMBERED_KEYS = 10_000
/** Ended instances kept in memory at most, however long they may stay. */
const MOST_ENDED = 100_000

function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

function stepReporter(clock: Clock, facts: InstanceFacts, onStep: NonNullable<KernelOptions['onStep']>): (step: UnplacedStep) => void {
  let sequence = 0
  return (step) => { onStep({ ...step, sequence: sequence++, at: clock.now() }, facts) }
}

function endStep({ status, data, failure }: InstanceRecord, continuation: Instance['continuation']): UnplacedStep {
  if (failure !== undefined) return { type: 'failed', nodeId: failure.failedNodeId, detail: { ...failure }, data }
  if (status !== 'completed') return { type: 'aborted', data }
  if (continuation === undefined) return { type: 'completed', data }
  const { workflowId, version, input } = continuation
  return { type: 'completed', data, detail: { continueAs: { workflowId, data: input, ...(version === undefined ? {} : { version }) } } }
}

/** @throws {@link DataInputError} `DATA_INPUT_INVALID`, listing each violation (S023–S025) */
function validateInput({ validateInput: check, program }: DeployedWorkflow, input: Json): void {
  const violations = check?.(input) ?? []
  if (violations.length === 0) return
  const list = violations.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join('; ')
  throw new DataInputError({
    code: 'DATA_INPUT_INVALID',
    message: `The input does not fit the schema of "${program.definition.id}": ${list}`,
    details: { violations },
  })
}

function isAtStart({ instance, workflow }: LiveInstance, token: string): boolean {
  const { program } = workflow
  return Number(instance.pending.get(token)?.input['state']) === program.stateIndex.get(program.definition.start.stateName)
}

function instanceNotFound(workflowId: string, instanceId: string): InstanceError {
  const message = `Workflow "${workflowId}" has no live instance ${instanceId}; it may have ended`
  return new InstanceError({ code: 'INSTANCE_NOT_FOUND', message, details: { processInstanceId: instanceId } })
}

function nodeNotFound(nodeId: string): InstanceError {
  return new InstanceError({ code: 'NODE_NOT_FOUND', message: `There is no node or waiting node instance "${nodeId}"`, details: { nodeId } })
}

function assertPending(instance: Instance, token: string): string {
  const effect = instance.pending.get(token)
  if (effect === undefined) throw nodeNotFound(token)
  return effect.input.effect
}

function textOf(event: CloudEventRecord, ...names: readonly string[]): string | undefined {
  const name = names.find((candidate) => typeof event[candidate] === 'string' && event[candidate] !== '')
  return name === undefined ? undefined : String(event[name])
}

function attributesOf(event: CloudEventRecord): Record<string, string> {
  const attributes = Object.entries(event).filter(([name, value]) => name !== 'data' && name !== 'data_base64' && value !== null && typeof value !== 'object')
  return Object.fromEntries(attributes.map(([name, value]) => [name.toLowerCase(), String(value)]))
}

function fitsQuery(record: InstanceRecord, query: InstanceQuery): boolean {
  return (query.workflowId === undefined || record.workflowId === query.workflowId) &&
    (query.status === undefined || query.status.includes(record.status)) &&
    (query.businessKey === undefined || record.businessKey === query.businessKey) &&
    (query.startedAfter === undefined || record.startedAt >= query.startedAfter) &&
    (query.startedBefore === undefined || record.startedAt <= query.startedBefore)
}

// Newest first; the cursor is the last record of the page before.
function pageOf(records: readonly InstanceRecord[], { limit, cursor }: InstanceQuery): InstancePage {
  const sorted = [...records].reverse().sort((left, right) => right.startedAt - left.startedAt)
  const after = cursor === undefined ? 0 : sorted.findIndex(({ id }) => id === cursor) + 1
  const instances = sorted.slice(after, after + limit)
  const last = instances.at(-1)
  return after + limit < sorted.length && last !== undefined ? { instances, cursor: last.id } : { instances }
}
