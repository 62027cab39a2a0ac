import { TurnoverMap } from '../common/index.ts'
import type { HistoryStep } from '../hosts/index.ts'
import { isErrorCode } from './problem.ts'

/** What is counted of a step. */
export type StepObservation = Pick<HistoryStep, 'type' | 'at' | 'nodeId' | 'state' | 'detail'>

/** The instance that took a step. */
interface ObservedInstance {
  readonly id: string
  readonly workflowId: string
  readonly version: string
}

/** Counts in buckets; each bound is the upper end of a bucket, the last one is open. */
export interface Tally {
  readonly counts: number[]
  sum: number
  count: number
}

/** What has been counted for one version of a definition. */
export interface WorkflowTally {
  readonly workflowId: string
  readonly version: string
  started: number
  running: number
  /** By outward status word. */
  readonly ended: Map<string, number>
  /** By error code: messages may hold data, and would make labels without end. */
  readonly errors: Map<string, number>
  /** Seconds from start to end. */
  readonly duration: Tally
  /** Milliseconds in a state or action, by node id. */
  readonly nodes: Map<string, Tally>
}

/**
 * Counts what instances do, for `/q/metrics`.
 *
 * Counting touches plain numbers only; Prometheus text is made when it is asked for.
 */
export interface ServerMetrics {
  /** Takes a step of an instance into account. */
  observe(step: StepObservation, instance: ObservedInstance): void
  /** Gives what has been counted, one entry for each version of a definition seen. */
  tallies(): Iterable<WorkflowTally>
}

/** Upper ends of the buckets for the duration of instances, in seconds. */
export const DURATION_BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 86_400]
/** Upper ends of the buckets for the duration of nodes, in milliseconds. */
export const NODE_BOUNDS = [0.1, 1, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 60_000]

/** Instances whose start is remembered; beyond it the durations of the oldest are not counted. */
const REMEMBERED = 10_000

interface Running {
  readonly startedAt: number
  readonly tally: WorkflowTally
  /** When the present state was entered. */
  state: { readonly name: string; readonly since: number } | undefined
  /** When actions under way began, by node; made when there is one. */
  actions: Map<string, number> | undefined
}

/** Creates empty counters. */
export function createServerMetrics(): ServerMetrics {
  return new Counters()
}

class Counters implements ServerMetrics {
  readonly #tallies = new Map<string, WorkflowTally>()
  readonly #running = new TurnoverMap<string, Running>()

  tallies(): Iterable<WorkflowTally> {
    return this.#tallies.values()
  }

  // Called for every step of every instance: looks the instance up once and copies nothing.
  observe(step: StepObservation, instance: ObservedInstance): void {
    if (step.type === 'started') {
      this.#start(step, instance)
      return
    }
    const running = this.#running.get(instance.id)
    switch (step.type) {
      case 'stateEntered': if (running !== undefined) enter(running, step.state ?? step.nodeId, step.at); break
      case 'actionStarted': if (running !== undefined && step.nodeId !== undefined) (running.actions ??= new Map()).set(step.nodeId, step.at); break
      case 'actionCompleted':
      case 'actionFailed': if (running !== undefined) finishAction(running, step); break
      case 'completed': this.#end(step, instance, 'Completed'); break
      case 'aborted': this.#end(step, instance, 'Aborted'); break
      case 'failed': add((running?.tally ?? this.#tallyOf(instance)).errors, codeOf(step)); break
      default: break
    }
  }

  #tallyOf({ workflowId, version }: ObservedInstance): WorkflowTally {
    const key = `${workflowId}\n${version}`
    let tally = this.#tallies.get(key)
    if (tally === undefined) this.#tallies.set(key, tally = createWorkflowTally(workflowId, version))
    return tally
  }

  #start(step: StepObservation, instance: ObservedInstance): void {
    const tally = this.#tallyOf(instance)
    tally.started++
    tally.running++
    if (this.#running.size >= REMEMBERED) {
      const [oldest] = this.#running
      if (oldest !== undefined) this.#running.delete(oldest[0])
    }
    this.#running.set(instance.id, { startedAt: step.at, tally, state: undefined, actions: undefined })
  }

  #end(step: StepObservation, instance: ObservedInstance, status: string): void {
    const running = this.#running.get(instance.id)
    const tally = running?.tally ?? this.#tallyOf(instance)
    tally.running = Math.max(0, tally.running - 1)
    add(tally.ended, status)
    if (running === undefined) return
    enter(running, undefined, step.at)
    this.#running.delete(instance.id)
    record(tally.duration, DURATION_BOUNDS, (step.at - running.startedAt) / 1000)
  }
}

// A workflow is in one state at a time: entering the next one, or ending, leaves the present one.
function enter(running: Running, name: string | undefined, at: number): void {
  if (running.state !== undefined) recordNode(running.tally, running.state.name, at - running.state.since)
  running.state = name === undefined ? undefined : { name, since: at }
}

function finishAction({ tally, actions }: Running, { nodeId, at }: StepObservation): void {
  const since = nodeId === undefined ? undefined : actions?.get(nodeId)
  if (nodeId === undefined || since === undefined) return
  actions?.delete(nodeId)
  recordNode(tally, nodeId, at - since)
}

function recordNode({ nodes }: WorkflowTally, node: string, milliseconds: number): void {
  let tally = nodes.get(node)
  if (tally === undefined) nodes.set(node, tally = createTally(NODE_BOUNDS))
  record(tally, NODE_BOUNDS, milliseconds)
}

function createWorkflowTally(workflowId: string, version: string): WorkflowTally {
  return {
    workflowId,
    version,
    started: 0,
    running: 0,
    ended: new Map(),
    errors: new Map(),
    duration: createTally(DURATION_BOUNDS),
    nodes: new Map(),
  }
}

function createTally(bounds: readonly number[]): Tally {
  return { counts: new Array<number>(bounds.length + 1).fill(0), sum: 0, count: 0 }
}

function record(tally: Tally, bounds: readonly number[], value: number): void {
  const amount = Math.max(0, value)
  let index = 0
  while (index < bounds.length && amount > (bounds[index] as number)) index += 1
  tally.counts[index] = (tally.counts[index] ?? 0) + 1
  tally.sum += amount
  tally.count++
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function codeOf(step: StepObservation): string {
  const code = step.detail?.['code']
  return typeof code === 'string' && isErrorCode(code) ? code : 'FUNCTION_FAILED'
}
