import type { Json, JsonObject } from '../../../lib/common/index.ts'
import type { Host, InstanceFailure, InstanceStatus } from '../../../lib/hosts/index.ts'
import type { ObservedStep } from '../../../lib/runtime-options.ts'

/** An instance as it stands, or as it ended. */
export interface WatchedInstance {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly status: InstanceStatus
  readonly data: Json
  readonly failure?: InstanceFailure
}

const ENDS: Readonly<Partial<Record<ObservedStep['type'], InstanceStatus>>> = { completed: 'completed', failed: 'error', aborted: 'aborted' }

/** The steps of all instances, seen from outside: a host need not keep what has ended. */
export class InstanceWatch {
  readonly steps: ObservedStep[] = []

  /** Takes a step; given to the product as its `onStep`. */
  readonly observe = (step: ObservedStep): void => {
    this.steps.push(step)
  }

  /** Instances of a workflow, in the order in which they started. */
  started(workflowId: string): readonly ObservedStep[] {
    return this.steps.filter((step) => step.type === 'started' && step.workflowId === workflowId)
  }

  /** Gives an instance: alive from the host, ended from its steps; `undefined` when it never was. */
  async find(host: Host, instanceId: string): Promise<WatchedInstance | undefined> {
    const own = this.steps.filter((step) => step.instanceId === instanceId)
    const [first] = own
    if (first === undefined) return undefined
    const found = await host.find(first.workflowId, instanceId)
    if (found !== undefined) return found
    const last = own.findLast(({ type }) => type in ENDS)
    if (last === undefined) return undefined
    const { workflowId, version, data = null } = last
    const failure = last.detail as unknown as InstanceFailure | undefined
    const status = ENDS[last.type] ?? 'active'
    return { id: instanceId, workflowId, version, status, data, ...(status === 'error' && failure !== undefined ? { failure } : {}) }
  }

  /** What an instance continued as; `undefined` when it did not. */
  continuation(instanceId: string): JsonObject | undefined {
    const completed = this.steps.find((step) => step.type === 'completed' && step.instanceId === instanceId)
    return completed?.detail?.['continueAs'] as JsonObject | undefined
  }
}
