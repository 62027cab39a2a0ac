import type { Cancel, Cancellation } from '../common/index.ts'
import type { HostError } from '../errors/index.ts'
import type { Command, Continuation, HistoryStep, Instance, InstanceFacts, RecordedFailure, SubflowCommand, WorkflowError } from '../instance/index.ts'
import type { InstanceFailure, InstanceRecord, InstanceStatus, WaitRecord } from './host.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Journal } from './journal.ts'

/** A step before it has its place in the history. */
export type UnplacedStep = Omit<HistoryStep, 'sequence' | 'at'>

/** A caller that waits for an answer; an error tells it that what it asked for could not be kept. */
type Waiter = (live: LiveInstance, error?: HostError) => void

/** An instance that a host holds in memory, with what belongs to it outside of its machine. */
export interface LiveInstance {
  readonly instance: Instance
  readonly facts: InstanceFacts
  readonly workflow: DeployedWorkflow
  readonly timers: Map<string, Cancel>
  readonly calls: Map<string, Cancellation>
  /** Sub-flows that it waits for and that have not begun yet, by token. */
  readonly starting: Set<string>
  /** Sub-flows that it waits for, by the token of the effect. */
  readonly subflows: Map<string, AwaitedSubflow>
  /** Ids of sub-flows that end with it (S192). */
  readonly dependents: Set<string>
  /** Callers that wait for an answer. */
  waiters: Waiter[]
  /** Its commands are being carried out; further turns are taken up by the loop that does it. */
  pumping: boolean
  /** Records a step where somebody wants to know. */
  readonly report?: (step: UnplacedStep) => void
  /** What belongs to it where it outlives the process. */
  readonly durable?: DurableLife
  /** Nothing has ever belonged to it: no timer, call or sub-flow. */
  readonly isAlone?: boolean
  endedAt?: number
  /** How callers see it once it has ended: made once. */
  record?: InstanceRecord
  /** Why it failed although its machine came to an end: its output is not valid. */
  failure?: InstanceFailure
}

/** What an instance of this process is made with. */
type Made = Pick<LiveInstance, 'instance' | 'facts' | 'workflow' | 'report' | 'durable'>

/** An instance with its belongings made when the first of a kind comes: most instances never have any. */
export class OwnInstance implements LiveInstance {
  readonly instance: LiveInstance['instance']
  readonly facts: InstanceFacts
  readonly workflow: DeployedWorkflow
  readonly report?: (step: UnplacedStep) => void
  readonly durable?: DurableLife
  waiters: Waiter[] = []
  pumping = false
  endedAt?: number
  record?: InstanceRecord
  failure?: InstanceFailure
  #timers: Map<string, Cancel> | undefined
  #calls: Map<string, Cancellation> | undefined
  #starting: Set<string> | undefined
  #subflows: Map<string, AwaitedSubflow> | undefined
  #dependents: Set<string> | undefined

  constructor({ instance, facts, workflow, report, durable }: Made) {
    this.instance = instance
    this.facts = facts
    this.workflow = workflow
    if (report !== undefined) this.report = report
    if (durable !== undefined) this.durable = durable
  }

  get timers(): Map<string, Cancel> {
    return this.#timers ??= new Map()
  }

  get calls(): Map<string, Cancellation> {
    return this.#calls ??= new Map()
  }

  get starting(): Set<string> {
    return this.#starting ??= new Set()
  }

  get subflows(): Map<string, AwaitedSubflow> {
    return this.#subflows ??= new Map()
  }

  get dependents(): Set<string> {
    return this.#dependents ??= new Set()
  }

  get isAlone(): boolean {
    return (this.#timers ?? this.#calls ?? this.#starting ?? this.#subflows ?? this.#dependents) === undefined
  }
}

/** What an instance hands its turns to when it outlives the process. */
export interface Keeper {
  /** A turn was made: it is committed, and has its effects when that is safe. */
  moved(live: LiveInstance): void
  /** Whether an instance has moved and that is not safe yet: nobody is told of it. */
  isPending(live: LiveInstance): boolean
  /** A sub-flow is given up by its parent, or ends with it. */
  stopping(live: LiveInstance, childId: string): void
  /** Takes a step of its history. */
  note(live: LiveInstance, step: HistoryStep): void
}

/** What is known of the stored form of an instance, and what is not written yet. */
export interface DurableLife {
  readonly keeper: Keeper
  /** There is a row of it, or was until it ended. */
  stored: boolean
  /** No other rows belong to it: no timer, wait, history or received event. */
  isBare: boolean
  /** Steps that do not stand in the history yet, and the place of the next one. */
  steps: HistoryStep[]
  nextStep: number
  /** Under which idempotency key it was started; the body until that is stored. */
  place?: { readonly key: string; readonly body?: string }
  /** Commands to carry out, each when the turn that asks for it is safe. */
  commands: Command[]
  /** Timers as they are stored: due instants by token. */
  timers: ReadonlyMap<string, number>
  /** Keys of its waits as they are stored. */
  waits: readonly string[]
  /** Further writes that belong to its next commit. */
  alongside: ((journal: Journal) => void)[]
  /** The store may know sub-flows that end with it. */
  hasDependents: boolean
}

/** A sub-flow that an action waits for. */
interface AwaitedSubflow {
  readonly command: SubflowCommand
  readonly childId: string
}

/** How a sub-flow came to rest, as its parent needs it. */
export interface SubflowEnd {
  readonly id: string
  readonly status: InstanceStatus
  readonly data: InstanceRecord['data']
  readonly failure?: InstanceFailure | RecordedFailure
  readonly continuation?: Continuation
}

/** Finds a live instance by its id. */
export type FindLive = (id: string) => LiveInstance | undefined

/** Status for callers and lists. */
export function statusOf(live: LiveInstance): InstanceStatus {
  return live.failure === undefined ? live.instance.status : 'error'
}

/** No call is under way in it, nor in a sub-flow that it waits for (http-contract.md §2). What is not in memory is quiet. */
export function isQuiet(live: LiveInstance, find: FindLive): boolean {
  if (!live.instance.isQuiet) return false
  if (live.isAlone === true) return true
  if (live.starting.size > 0) return false
  for (const { childId } of live.subflows.values()) {
    const child = find(childId)
    if (child !== undefined && !isQuiet(child, find)) return false
  }
  return true
}

/** The instance as callers see it. */
export function recordOf(live: LiveInstance): InstanceRecord {
  if (live.record !== undefined) return live.record
  const record = makeRecord(live)
  if (record.endedAt !== undefined) live.record = record
  return record
}

function makeRecord(live: LiveInstance): InstanceRecord {
  const { facts, instance, endedAt } = live
  const failure = live.failure ?? failureOf(instance.failure)
  return {
    id: facts.id,
    workflowId: facts.workflowId,
    version: facts.version,
    status: statusOf(live),
    data: instance.data,
    startedAt: facts.startedAt,
    ...(failure === undefined ? {} : { failure }),
    ...(facts.businessKey === undefined ? {} : { businessKey: facts.businessKey }),
    ...(facts.parent === undefined ? {} : { parentInstanceId: facts.parent.instanceId, rootInstanceId: facts.parent.rootInstanceId }),
    ...(endedAt === undefined ? { waitingFor: waitsOf(live) } : { endedAt }),
  }
}

/** How a sub-flow stands, for its parent. */
export function subflowEndOf(live: LiveInstance): SubflowEnd {
  const failure = live.failure ?? live.instance.failure
  const { continuation } = live.instance
  return {
    id: live.facts.id,
    status: statusOf(live),
    data: live.instance.data,
    ...(failure === undefined ? {} : { failure }),
    ...(continuation === undefined ? {} : { continuation }),
  }
}

function failureOf(failure: RecordedFailure | undefined): InstanceFailure | undefined {
  return failure === undefined ? undefined : toFailure(failure, failure.failedNodeId)
}

/** Keeps of a workflow error what callers may see. */
export function toFailure(error: WorkflowError, failedNodeId: string): InstanceFailure {
  const { name, code, message, status } = error
  return { failedNodeId, name, code, message, ...(status === undefined ? {} : { status }) }
}

function waitsOf({ instance, subflows }: LiveInstance): readonly WaitRecord[] {
  return [...instance.pending].map(([token, { input }]): WaitRecord => {
    const common = { nodeId: instance.nodeIdOf(token), nodeInstanceId: token, since: input.since }
    const subflow = subflows.get(token)
    if (subflow !== undefined) return { kind: 'subflow', ...common, names: [subflow.childId] }
    if (input.effect === 'timer') return { kind: 'timer', ...common, timer: timerKind(input), dueAt: input.dueAt ?? input.since }
    const events = instance.waits.find((wait) => wait.token === token)?.events
    if (events === undefined) return { kind: 'function', ...common }
    return { kind: 'event', ...common, names: events.map(({ definition }) => definition.type) }
  })
}

function timerKind(input: Readonly<Record<string, unknown>>): NonNullable<WaitRecord['timer']> {
  if (input['timeout'] !== undefined) return 'timeout'
  return input['retryOf'] === undefined ? 'sleep' : 'retry'
}
