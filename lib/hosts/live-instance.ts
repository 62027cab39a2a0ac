import type { Cancel } from '../common/index.ts'
import type { HistoryStep, Instance, InstanceFacts, RecordedFailure, WorkflowError } from '../instance/index.ts'
import type { InstanceFailure, InstanceRecord, InstanceStatus, WaitRecord } from './host.ts'
import type { DeployedWorkflow } from './deployments.ts'

/** An instance that a host holds in memory, with what belongs to it outside of its machine. */
export interface LiveInstance {
  readonly instance: Instance
  readonly facts: InstanceFacts
  readonly workflow: DeployedWorkflow
  readonly timers: Map<string, Cancel>
  readonly calls: Map<string, AbortController>
  /** Sub-flows that it waits for and that have not begun yet, by token. */
  readonly starting: Set<string>
  /** Sub-flows that it waits for, by the token of the effect. */
  readonly awaited: Map<string, LiveInstance>
  /** Sub-flows that end with it (S192). */
  readonly dependents: Set<LiveInstance>
  readonly parent?: LiveInstance
  /** Callers that wait for an answer. */
  waiters: ((live: LiveInstance) => void)[]
  /** Its commands are being carried out; further turns are taken up by the loop that does it. */
  pumping: boolean
  /** Records a step where somebody wants to know. */
  readonly report?: (step: Omit<HistoryStep, 'sequence' | 'at'>) => void
  endedAt?: number
  /** Why it failed although its machine came to an end: its output is not valid. */
  failure?: InstanceFailure
}

/** Status for callers and lists. */
export function statusOf(live: LiveInstance): InstanceStatus {
  return live.failure === undefined ? live.instance.status : 'error'
}

/** No call is under way in it, nor in a sub-flow that it waits for (http-contract.md §2). */
export function isQuiet(live: LiveInstance): boolean {
  return live.instance.isQuiet && live.starting.size === 0 && [...live.awaited.values()].every(isQuiet)
}

/** The instance as callers see it. */
export function recordOf(live: LiveInstance): InstanceRecord {
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

function failureOf(failure: RecordedFailure | undefined): InstanceFailure | undefined {
  return failure === undefined ? undefined : toFailure(failure, failure.failedNodeId)
}

/** Keeps of a workflow error what callers may see. */
export function toFailure(error: WorkflowError, failedNodeId: string): InstanceFailure {
  const { name, code, message, status } = error
  return { failedNodeId, name, code, message, ...(status === undefined ? {} : { status }) }
}

function waitsOf({ instance, awaited }: LiveInstance): readonly WaitRecord[] {
  return [...instance.pending].map(([token, { input }]): WaitRecord => {
    const common = { nodeId: instance.nodeIdOf(token), nodeInstanceId: token, since: input.since }
    const child = awaited.get(token)
    if (child !== undefined) return { kind: 'subflow', ...common, names: [child.facts.id] }
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
