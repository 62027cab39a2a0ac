import type { Json, JsonObject } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { HistoryStep } from '../instance/index.ts'

/** Status of an instance; waiting counts as Active towards callers (decisions.md 15). */
export type InstanceStatus = 'active' | 'waiting' | 'completed' | 'aborted' | 'error'

/** Why an instance is in status error, as plain data. */
export interface InstanceFailure {
  /** `<state>` or `<state>/<branch>/<action>`. */
  readonly failedNodeId: string
  /** Error class, or the name a host function threw. */
  readonly name: string
  /** Error code of the product, or the code of the thrown error. */
  readonly code: string
  readonly message: string
  /** HTTP status of a remote answer. */
  readonly status?: number
}

/** An instance as callers see it. */
export interface InstanceRecord {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly status: InstanceStatus
  /** Data of the workflow now, or its output when completed. */
  readonly data: Json
  readonly failure?: InstanceFailure
  readonly businessKey?: string
  readonly parentInstanceId?: string
  readonly rootInstanceId?: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt?: number
  /** What a waiting instance waits for: event types, timers. */
  readonly waitingFor?: readonly WaitRecord[]
}

/** One thing that an instance waits for. */
export interface WaitRecord {
  readonly kind: 'event' | 'timer' | 'subflow' | 'function'
  /** `<state>` or `<state>/<branch>/<action>`. */
  readonly nodeId: string
  /** Id of the node instance: stable while it waits. */
  readonly nodeInstanceId: string
  /** Event types, or the id of the sub-flow instance. */
  readonly names?: readonly string[]
  /** Due instant of a timer, milliseconds since the epoch. */
  readonly dueAt?: number
  /** What a timer is for: only a timeout ends something that may end by itself before. */
  readonly timer?: 'sleep' | 'retry' | 'timeout'
  readonly since: number
}

/** What starts an instance. */
export interface StartRequest {
  readonly workflowId: string
  readonly version?: string
  readonly input: Json
  readonly businessKey?: string
  readonly referenceId?: string
  /** Name of the state to begin with instead of the definition's. */
  readonly startFrom?: string
  /** Inbound headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Identity of the caller, for `$WORKFLOW.identity`. */
  readonly identity?: string
  /** A second start with the same key gives the first instance. */
  readonly idempotencyKey?: string
  /** Answer after so many milliseconds even when the instance is not quiet. */
  readonly answerTimeout?: number
  /** Answer as soon as the instance exists (`Prefer: respond-async`). */
  readonly respondAsync?: boolean
}

/** Which instances to list. */
export interface InstanceQuery {
  readonly workflowId?: string
  readonly status?: readonly InstanceStatus[]
  readonly businessKey?: string
  readonly startedAfter?: number
  readonly startedBefore?: number
  readonly limit: number
  /** Opaque, from the page before. */
  readonly cursor?: string
}

/** A page of instances, newest first. */
export interface InstancePage {
  readonly instances: readonly InstanceRecord[]
  readonly cursor?: string
}

/** A node of a definition, as the management addresses list them. */
export interface NodeRecord {
  readonly id: string
  readonly name: string
  /** State type, or `action`. */
  readonly type: string
  readonly metadata: { readonly state: string; readonly branch?: string; readonly action?: string }
}

/** What became of a delivered event. */
export interface Delivery {
  /** Instances that were signalled or started; empty when nothing waited for it. */
  readonly instances: readonly string[]
}

/**
 * What executes instances: starts them, carries out their commands, keeps them, hands them events.
 *
 * Every host passes the same contract suite (`test/contract/host`). Instances are addressed by definition and id together.
 *
 * All methods reject with {@link HostError} when the host is closed or its store is unavailable.
 */
export interface Host {
  /**
   * Starts an instance and answers when it is done, failed without a handler, or quiet (http-contract.md §2).
   *
   * @throws {@link DefinitionError} `DEFINITION_NOT_FOUND`
   * @throws {@link DataInputError} when the input violates the schema; nothing was started
   * @throws {@link InstanceError} `INSTANCE_CONFLICT` when the idempotency key was used with another body
   */
  start(request: StartRequest): Promise<InstanceRecord>
  /** Gives a live instance (active, waiting or in error); `undefined` once it has ended. */
  get(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined>
  /** Gives an instance whatever its status, as long as the host keeps it. */
  find(workflowId: string, instanceId: string): Promise<InstanceRecord | undefined>
  list(query: InstanceQuery): Promise<InstancePage>
  /** Replaces the workflow data of a live instance between steps. @throws {@link InstanceError} `INSTANCE_NOT_FOUND` */
  replaceData(workflowId: string, instanceId: string, data: Json): Promise<InstanceRecord>
  /** Merges into the workflow data: objects deeply, everything else replaces. @throws {@link InstanceError} `INSTANCE_NOT_FOUND` */
  mergeData(workflowId: string, instanceId: string, data: JsonObject): Promise<InstanceRecord>
  /** Aborts a live instance, compensating first when asked by the definition. @throws {@link InstanceError} `INSTANCE_NOT_FOUND` */
  abort(workflowId: string, instanceId: string): Promise<InstanceRecord>
  /** Runs the failed node of an instance in error again. @throws {@link InstanceError} */
  retrigger(workflowId: string, instanceId: string): Promise<InstanceRecord>
  /** Goes on after the failed node of an instance in error. @throws {@link InstanceError} */
  skip(workflowId: string, instanceId: string): Promise<InstanceRecord>
  /** Enters a node of a live instance; for operators. @throws {@link InstanceError} */
  trigger(workflowId: string, instanceId: string, nodeId: string): Promise<InstanceRecord>
  /** Runs a waiting node instance again. @throws {@link InstanceError} */
  retriggerNode(workflowId: string, instanceId: string, nodeInstanceId: string): Promise<InstanceRecord>
  /** Ends a waiting node instance and goes on behind it. @throws {@link InstanceError} */
  cancelNode(workflowId: string, instanceId: string, nodeInstanceId: string): Promise<InstanceRecord>
  /** Moves the due instant of a waiting timer. @throws {@link InstanceError} */
  reschedule(workflowId: string, instanceId: string, nodeInstanceId: string, dueAt: number): Promise<InstanceRecord>
  /** The recorded steps of an instance, oldest first; empty where none are kept. */
  history(workflowId: string, instanceId: string): Promise<readonly HistoryStep[]>
  /** Hands an event to every instance that waits for it and starts those that begin with it (http-contract.md §5). */
  deliver(event: CloudEventRecord): Promise<Delivery>
  /** Whether instances can be started now; the reason when not. */
  readiness(): Promise<{ readonly ready: boolean; readonly reason?: string }>
  /** Takes no new work, lets running work finish within so many milliseconds, then stops. */
  close(graceMilliseconds?: number): Promise<void>
}
