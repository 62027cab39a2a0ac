import type { Json } from '../../common/index.ts'
import type { HistoryStep, InstanceFacts, PersistedInstance } from '../../instance/index.ts'
import type { InstanceRecord, InstanceStatus } from '../host.ts'
import type { StoredInstance } from '../journal.ts'

/** Form of the text that this release writes; a reader refuses what it does not know. */
export const PASSING_FORM = 1

/** A step without its names; what it lacks at its end is left out. */
type ShortStep = readonly [
  type: HistoryStep['type'],
  sequence: number,
  /** Milliseconds since the instance started. */
  at: number,
  nodeId?: string | null,
  state?: string | null,
  /** Index in the list of all data. */
  data?: number | null,
  action?: string | null,
  detail?: HistoryStep['detail'] | null,
  branch?: string | null,
]

/** What the text of an instance under way says. */
export interface PassingText {
  readonly form: number
  readonly facts: InstanceFacts
  readonly status: InstanceStatus
  readonly nextStep: number
  readonly waitingFor?: InstanceRecord['waitingFor']
  /** Data of the steps, each once: most states hand on what they were given. */
  readonly data: readonly Json[]
  readonly steps: readonly ShortStep[]
  readonly state: PersistedInstance
}

/** An instance that a text can hold. */
export type PassingInstance = StoredInstance & Required<Pick<StoredInstance, 'state' | 'steps'>>

/**
 * Whether an instance is under way: it has something to do that does not come from outside, and its row goes when that is done. One that is
 * looked up by more than its id, or has failed, is no such instance.
 */
export function isPassing(instance: StoredInstance): instance is PassingInstance {
  const { steps, state, place, continuation, facts, record } = instance
  return steps !== undefined && state !== undefined && place === undefined && continuation === undefined && facts.parent === undefined && record.failure === undefined
}

/** The text of an instance under way, as short as it can be made quickly: it is written for each call of each instance. */
export function passingText({ facts, status, nextStep, record: { waitingFor }, steps, state }: PassingInstance): string {
  const data: Json[] = []
  const short = steps.map((step) => shortened(step, facts.startedAt, data))
  return JSON.stringify({ form: PASSING_FORM, facts, status, nextStep, waitingFor, data, steps: short, state } satisfies PassingText)
}

function shortened({ type, sequence, at, nodeId, state, data, action, detail, branch }: HistoryStep, startedAt: number, all: Json[]): ShortStep {
  const index = data === undefined ? null : indexIn(all, data)
  const short = [type, sequence, at - startedAt, nodeId ?? null, state ?? null, index, action ?? null, detail ?? null, branch ?? null] as const
  let length: number = short.length
  while (short[length - 1] === null) length -= 1
  return short.slice(0, length) as unknown as ShortStep
}

// The same object, not an equal one: data is only ever replaced.
function indexIn(all: Json[], data: Json): number {
  const index = all.indexOf(data)
  return index === -1 ? all.push(data) - 1 : index
}

/** The instance of a text. @throws TypeError for a text of another shape */
export function passingOf({ facts, status, nextStep, waitingFor, data, steps, state }: PassingText, definition: string): PassingInstance {
  const { context } = state.snapshot as unknown as { readonly context: { readonly data: Json } }
  return {
    facts,
    definition,
    status,
    nextStep,
    record: {
      id: facts.id,
      workflowId: facts.workflowId,
      version: facts.version,
      status,
      data: context.data,
      startedAt: facts.startedAt,
      ...(facts.businessKey === undefined ? {} : { businessKey: facts.businessKey }),
      ...(waitingFor === undefined ? {} : { waitingFor }),
    },
    busy: true,
    undelivered: false,
    dependent: false,
    steps: steps.map((step) => lengthened(step, facts.startedAt, data)),
    state,
  }
}

function lengthened([type, sequence, at, nodeId, state, index, action, detail, branch]: ShortStep, startedAt: number, all: readonly Json[]): HistoryStep {
  const data = typeof index === 'number' ? all[index] : undefined
  return {
    type,
    sequence,
    at: startedAt + at,
    ...(data === undefined ? {} : { data }),
    ...(typeof nodeId === 'string' ? { nodeId } : {}),
    ...(typeof state === 'string' ? { state } : {}),
    ...(typeof action === 'string' ? { action } : {}),
    ...(typeof branch === 'string' ? { branch } : {}),
    ...(detail === undefined || detail === null ? {} : { detail }),
  }
}
