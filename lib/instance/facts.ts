import type { Json, JsonObject } from '../common/index.ts'

/** What is known of an instance from its start and never changes. */
export interface InstanceFacts {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly input: Json
  readonly startedAt: number
  /** Headers of the request or attributes of the event that started it, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly identity?: string
  readonly businessKey?: string
  readonly referenceId?: string
  readonly parent?: ParentLink
  /** Variables of the loop that started it: a sub-flow sees them as its caller does. */
  readonly variables?: JsonObject
  /** Overrides the definition's workflow timeout (S273). */
  readonly timeout?: number
}

/** The action of another instance that started this one as a sub-flow. */
export interface ParentLink {
  /** How many workflows stand above: 1 below a root. @default 1 */
  readonly depth?: number
  readonly instanceId: string
  readonly workflowId: string
  readonly rootInstanceId: string
  readonly rootWorkflowId: string
  /** Effect of the parent that waits for the result; absent when it does not wait. */
  readonly token?: string
  readonly onParentComplete: 'terminate' | 'continue'
}
