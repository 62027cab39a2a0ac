import type { HistoryStep } from '../hosts/index.ts'
import { isErrorCode } from './problem.ts'

/** A step with the instance that took it. */
export interface StepObservation extends Pick<HistoryStep, 'type' | 'at' | 'nodeId' | 'state' | 'detail'> {
  readonly instanceId: string
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
  observe(step: StepObservation): void
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
  /** When the present state was entered. */
  state?: { readonly name: string; readonly since: number }
  /** When actions under way began, by node. */
  readonly actions: Map<string, number>
}

/** Creates empty counters. */
export function createServerMetrics(): ServerMetrics {
  return new Counters()
}

class Counters implements ServerMetrics {
  readonly #tallies = new Map<string, WorkflowTally>()
  readonly #running = new Map<string, Running>()

  tallies(): Iterable<WorkflowTally> {
    return this.#tallies.values()
  }

  observe(step: StepObservation): void {
    switch (step.type) {
      case 'started': this.#start(step); break
      case 'stateEntered': this.#enter(step, step.state ?? step.nodeId); break
      case 'actionStarted': this.#beginAction(step); break
      case 'actionCompleted':
      case 'actionFailed': this.#finishAction(step); break
      case 'completed': this.#end(step, 'Completed'); break
      case 'aborted': this.#end(step, 'Aborted'); break
      case 'failed': add(this.#tallyOf(step).errors, codeOf(step)); break
      default: break
    }
  }

  #tallyOf(step: StepObservation): WorkflowTally {
    const key = `${step.workflowId}\n${step.version}`
    let tally = this.#tallies.get(key)
    if (tally === undefined) this.#tallies.set(key, tally = createWorkflowTally(step))
    return tally
  }

  #start(step: StepObservation): void {
    const tally = this.#tallyOf(step)
    tally.started++
    tally.running++
    if (this.#running.size >= REMEMBERED) {
      const oldest = this.#running.keys().next()
      if (oldest.done !== true) this.#running.delete(oldest.value)
    }
    this.#running.set(step.instanceId, { startedAt: step.at, actions: new Map() })
  }

  // A workflow is in one state at a time: entering the next one, or ending, leaves the present one.
  #enter(step: StepObservation, name: string | undefined): void {
    const known = this.#running.get(step.instanceId)
    if (known === undefined) return
    if (known.state !== undefined) this.#recordNode(step, known.state.name, known.state.since)
    if (name === undefined) delete known.state
    else known.state = { name, since: step.at }
  }

  #beginAction(step: StepObservation): void {
    if (step.nodeId !== undefined) this.#running.get(step.instanceId)?.actions.set(step.nodeId, step.at)
  }

  #finishAction(step: StepObservation): void {
    const actions = this.#running.get(step.instanceId)?.actions
    const since = step.nodeId === undefined ? undefined : actions?.get(step.nodeId)
    if (step.nodeId === undefined || since === undefined) return
    actions?.delete(step.nodeId)
    this.#recordNode(step, step.nodeId, since)
  }

  #recordNode(step: StepObservation, node: string, since: number): void {
    const { nodes } = this.#tallyOf(step)
    let tally = nodes.get(node)
    if (tally === undefined) nodes.set(node, tally = createTally(NODE_BOUNDS))
    record(tally, NODE_BOUNDS, step.at - since)
  }

  #end(step: StepObservation, status: string): void {
    this.#enter(step, undefined)
    const tally = this.#tallyOf(step)
    tally.running = Math.max(0, tally.running - 1)
    add(tally.ended, status)
    const known = this.#running.get(step.instanceId)
    if (known === undefined) return
    this.#running.delete(step.instanceId)
    record(tally.duration, DURATION_BOUNDS, (step.at - known.startedAt) / 1000)
  }
}

function createWorkflowTally(step: StepObservation): WorkflowTally {
  return {
    workflowId: step.workflowId,
    version: step.version,
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
  const bucket = bounds.findIndex((bound) => amount <= bound)
  const index = bucket === -1 ? bounds.length : bucket
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
