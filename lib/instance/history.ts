import type { Json, JsonObject } from '../common/index.ts'

/** What happened in a step of an instance. */
type StepType =
  | 'started' | 'stateEntered' | 'actionStarted' | 'actionCompleted' | 'actionFailed' | 'actionRetried' | 'timerFired'
  | 'eventConsumed' | 'eventProduced' | 'conditionTaken' | 'compensated' | 'completed' | 'failed' | 'aborted' | 'dataReplaced'

/** One step of an instance's history. */
export interface HistoryStep {
  /** Position in the history of the instance, from 0. */
  readonly sequence: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly type: StepType
  readonly nodeId?: string
  readonly state?: string
  readonly action?: string
  readonly branch?: string
  /** Workflow data at that moment, or what the step brought. */
  readonly data?: Json
  readonly detail?: JsonObject
}
