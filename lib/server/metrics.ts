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
  const tallies = new Map<string, WorkflowTally>()
  const running = new Map<string, Running>()

  const tallyOf = (step: StepObservation): WorkflowTally => {
    const key = `${step.workflowId}\n${step.version}`
    let tally = tallies.get(key)
    if (tally === undefined) tallies.set(key, tally = createWorkflowTally(step))
    return tally
  }
  const start = (step: StepObservation): void => {
    const tally = tallyOf(step)
    tally.started++
    tally.running++
    if (running.size >= REMEMBERED) {
      const oldest = running.keys().next()
      if (oldest.done !== true) running.delete(oldest.value)
    }
    running.set(step.instanceId, { startedAt: step.at, actions: new Map() })
  }
  const recordNode = (step: StepObservation, node: string, since: number): void => {
    const { nodes } = tallyOf(step)
    let tally = nodes.get(node)
    if (tally === undefined) nodes.set(node, tally = createTally(NODE_BOUNDS))
    record(tally, NODE_BOUNDS, step.at - since)
  }
  // A workflow is in one state at a time: entering the next one, or ending, leaves the present one.
  const enter = (step: StepObservation, name: string | undefined): void => {
    const known = running.get(step.instanceId)
    if (known === undefined) return
    if (known.state !== undefined) recordNode(step, known.state.name, known.state.since)
    if (name === undefined) delete known.state
    else known.state = { name, since: step.at }
  }
  const finishAction = (step: StepObservation): void => {
    const actions = running.get(step.instanceId)?.actions
    const since = step.nodeId === undefined ? undefined : actions?.get(step.nodeId)
    if (step.nodeId === undefined || since === undefined) return
    actions?.delete(step.nodeId)
    recordNode(step, step.nodeId, since)
  }
  const end = (step: StepObservation, status: string): void => {
    enter(step, undefined)
    const tally = tallyOf(step)
    tally.running = Math.max(0, tally.running - 1)
    add(tally.ended, status)
    const known = running.get(step.instanceId)
    if (known === undefined) return
    running.delete(step.instanceId)
    record(tally.duration, DURATION_BOUNDS, (step.at - known.startedAt) / 1000)
  }
  return {
    observe(step) {
      switch (step.type) {
        case 'started': start(step); break
        case 'stateEntered': enter(step, step.state ?? step.nodeId); break
        case 'actionStarted':
          if (step.nodeId !== undefined) running.get(step.instanceId)?.actions.set(step.nodeId, step.at)
          break
        case 'actionCompleted':
        case 'actionFailed': finishAction(step); break
        case 'completed': end(step, 'Completed'); break
        case 'aborted': end(step, 'Aborted'); break
        case 'failed': add(tallyOf(step).errors, codeOf(step)); break
        default: break
      }
    },
    tallies: () => tallies.values(),
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
