import { compact, type Json, type JsonObject } from '../common/index.ts'
import type { Definition } from '../definition/index.ts'
import type { HistoryStep, InstanceRecord, InstanceStatus, WaitRecord } from '../hosts/index.ts'
import { createDiagram } from './diagram/draw.ts'
import { toPath, type Path } from './path.ts'
import type { Recording } from './recorder.ts'
import type { Redact } from './redact.ts'
import { toMessages, toTimeline, type Message, type StateVisit } from './timeline.ts'

/** An instance as the list shows it. */
export interface InstanceSummary {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly status: InstanceStatus
  readonly startedAt: number
  readonly endedAt?: number
  readonly businessKey?: string
  readonly parentInstanceId?: string
}

/** Everything that is known of an instance: what the page shows and the download holds. */
export interface InstanceView extends InstanceSummary {
  readonly input: Json
  readonly output: Json
  readonly error?: Json
  readonly waitingFor: readonly WaitRecord[]
  readonly steps: readonly HistoryStep[]
  /** Steps that are no longer kept. */
  readonly dropped: number
  readonly timeline: readonly StateVisit[]
  readonly messages: readonly Message[]
  readonly path: Path
  /** Sub-flow instances that it started, as far as they are known. */
  readonly children: readonly { readonly id: string; readonly workflowId: string; readonly status: InstanceStatus }[]
}

/** An instance where it was found: in the recorder, in the host, or in both. */
export interface FoundInstance {
  readonly summary: InstanceSummary
  readonly recording: Recording | undefined
  readonly record: InstanceRecord | undefined
}

/** What a view is made from. */
export interface InstanceFacts extends FoundInstance {
  readonly steps: readonly HistoryStep[]
  /** Steps that are no longer kept. */
  readonly dropped: number
  readonly definition: Definition | undefined
}

/** Shows an instance, secrets taken out. */
export function toView(facts: InstanceFacts, redact: Redact): Omit<InstanceView, 'children'> {
  const { summary, steps, definition, dropped, record, recording } = facts
  const timeline = toTimeline(steps, summary.status, definition)
  return {
    ...summary,
    ...outcomeOf(facts, redact),
    waitingFor: record?.waitingFor ?? recording?.waitingFor ?? [],
    steps: steps.map((step) => shownStep(step, redact)),
    dropped,
    timeline: timeline.map((visit) => shownVisit(visit, redact)),
    messages: toMessages(steps, timeline).map((message) => ({ ...message, text: textFor(message.text, redact) })),
    path: definition === undefined ? { nodes: {}, edges: [] } : toPath(createDiagram(definition), timeline, summary.status),
  }
}

/** What it began with and what came of it. */
function outcomeOf({ steps, record, recording }: InstanceFacts, redact: Redact): Pick<InstanceView, 'input' | 'output' | 'error'> {
  const input = steps.find(({ type }) => type === 'started')?.data
  const output = steps.findLast(({ type }) => type === 'completed')?.data ?? record?.data
  const failure = record?.failure ?? recording?.failure ?? steps.findLast(({ type }) => type === 'failed')?.detail
  return compact({ input: redact(input ?? null), output: redact(output ?? null), error: shownWords(failure, redact) })
}

function shownStep(step: HistoryStep, redact: Redact): HistoryStep {
  return { ...step, ...compact({ data: shownData(step.data, redact), detail: shownWords(step.detail, redact) as JsonObject | undefined }) }
}

function shownVisit(visit: StateVisit, redact: Redact): StateVisit {
  return {
    ...visit,
    ...compact({ before: shownData(visit.before, redact), after: shownData(visit.after, redact) }),
    actions: visit.actions.map((action) => ({
      ...action,
      ...compact({ result: shownData(action.result, redact), error: shownWords(action.error, redact) as JsonObject | undefined }),
    })),
  }
}

function shownData(data: Json | undefined, redact: Redact): Json | undefined {
  return data === undefined ? undefined : redact(data)
}

function shownWords(words: unknown, redact: Redact): Json | undefined {
  return words === undefined ? undefined : redact.words(words)
}

function textFor(text: string, redact: Redact): string {
  const shown = redact.words(text)
  return typeof shown === 'string' ? shown : ''
}
