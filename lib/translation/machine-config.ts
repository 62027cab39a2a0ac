import type { JsonObject } from '../common/index.ts'

/**
 * An XState machine config as plain JSON: guards, assigns and actors are names that `instance/implementations.ts` supplies.
 *
 * Equal definitions give deeply equal configs, so they can be compared, drawn and stored.
 */
export interface MachineConfig extends NodeConfig {
  readonly id: string
  readonly initial: string
  readonly states: Readonly<Record<string, NodeConfig>>
}

/** A state node. */
export interface NodeConfig {
  readonly id?: string
  readonly type?: 'final'
  readonly initial?: string
  readonly states?: Readonly<Record<string, NodeConfig>>
  readonly entry?: readonly Named[]
  readonly exit?: readonly Named[]
  readonly always?: readonly TransitionConfig[]
  readonly on?: Readonly<Record<string, readonly TransitionConfig[]>>
  readonly invoke?: readonly InvokeConfig[]
  readonly tags?: readonly string[]
  readonly meta?: NodeMeta
}

/** A guard or assign by name, with what it is about. */
export interface Named {
  readonly type: string
  readonly params?: JsonObject
}

/** A way on: its target, when it is taken, and what happens then. */
export interface TransitionConfig {
  readonly target?: string
  readonly guard?: Named
  readonly actions?: readonly Named[]
  readonly meta?: TransitionMeta
}

/** An invoked service: an action, a wait, a timer, or a child machine. */
export interface InvokeConfig {
  readonly id: string
  readonly src: string
  readonly input: JsonObject
  readonly onDone: readonly TransitionConfig[]
  readonly onError?: readonly TransitionConfig[]
}

/** What a node stands for in the definition; inspectors and diagrams draw that, not the plumbing. */
export interface NodeMeta {
  readonly role: 'state' | 'step' | 'action' | 'sleep' | 'retry' | 'wait' | 'fork' | 'failed' | 'end' | 'branch'
  readonly state?: string
  readonly branch?: string
  readonly action?: string
}

/** What a transition stands for. */
interface TransitionMeta {
  readonly role: 'transition' | 'condition' | 'default' | 'error' | 'timeout' | 'retry'
  /** Name of the condition or error. */
  readonly name?: string
}

/** The machine of a definition with the machines of its spawned paths: branches, iterations, parallel actions. */
export interface WorkflowMachines {
  readonly root: MachineConfig
  /** By the `src` under which they are invoked or spawned. */
  readonly children: Readonly<Record<string, MachineConfig>>
}

/** Where an action stands in the definition, as indexes. */
export interface Address {
  readonly state: number
  /** Branch of a parallel state, or entry of `onEvents`. */
  readonly branch?: number
  readonly action?: number
}

/** Types of machine events besides XState's own. */
export const MACHINE_EVENTS = {
  /** A shared branch hands the result of an action to the workflow data. */
  resultForwarded: 'swf.result.forwarded',
  /** An operator replaced the workflow data. */
  dataReplaced: 'swf.data.replaced',
  retriggered: 'swf.node.retriggered',
  skipped: 'swf.node.skipped',
  /** An operator enters a state. */
  stateTriggered: 'swf.state.triggered',
  aborted: 'swf.instance.aborted',
} as const

/** Tag of nodes in which an instance rests after an error that nothing handled. */
export const FAILED_TAG = 'error'
