import { compact, type Json, type JsonObject } from '../common/index.ts'
import type { Action, Definition, State } from '../definition/index.ts'
import type { HistoryStep, InstanceStatus } from '../hosts/index.ts'

/** How a part of an instance stands. */
export type PartStatus = 'active' | 'done' | 'failed' | 'handled' | 'cancelled'

/** An action of a visit, with all its attempts. */
interface ActionEntry {
  readonly action: string
  readonly branch?: string
  /** Function, sub-flow or event that it calls. */
  readonly calls?: string
  readonly startedAt: number
  endedAt?: number
  /** Place of its last step in the history: settles which of two was first in one millisecond. */
  lastStep?: number
  status: PartStatus
  /** Attempts so far, from 1. */
  attempts: number
  result?: Json
  error?: JsonObject
}

/** One stay of an instance in a state. */
export interface StateVisit {
  readonly state: string
  readonly type?: string
  readonly startedAt: number
  endedAt?: number
  status: PartStatus
  readonly actions: ActionEntry[]
  /** Name of the condition that a switch took. */
  condition?: string
  conditionIndex?: number
  /** Data that the state began with. */
  readonly before?: Json
  /** Data that the next state began with, or the output. */
  after?: Json
  readonly events: { readonly at: number; readonly kind: 'consumed' | 'produced' | 'timer'; readonly name: string }[]
}

/**
 * Arranges the steps of an instance as visits of states with their actions.
 *
 * The last visit is open while the instance lives; an action that fails and whose state is left is handled (S198).
 */
export function toTimeline(steps: readonly HistoryStep[], status: InstanceStatus, definition: Definition | undefined): readonly StateVisit[] {
  const visits: StateVisit[] = []
  for (const step of steps) {
    const visit = step.state === undefined ? visits.at(-1) : visits.findLast(({ state }) => state === step.state) ?? visits.at(-1)
    take(step, visit, { visits, definition })
  }
  const last = visits.at(-1)
  if (last !== undefined && last.endedAt === undefined) {
    last.status = status === 'error' ? 'failed' : status === 'aborted' ? 'cancelled' : last.status
  }
  return visits
}

interface Visiting {
  readonly visits: StateVisit[]
  readonly definition: Definition | undefined
}

function take(step: HistoryStep, visit: StateVisit | undefined, { visits, definition }: Visiting): void {
  switch (step.type) {
    case 'stateEntered':
      leave(visits.at(-1), step)
      visits.push(newVisit(step, definition))
      return
    case 'completed':
    case 'aborted':
      leave(visits.at(-1), step)
      return
    case 'failed':
      if (visit !== undefined) { visit.status = 'failed'; visit.endedAt ??= step.at }
      return
    case 'conditionTaken':
      if (visit !== undefined) takeCondition(visit, step)
      return
    case 'eventConsumed':
    case 'eventProduced':
      visit?.events.push({ at: step.at, kind: step.type === 'eventConsumed' ? 'consumed' : 'produced', name: textOf(step.detail?.['type']) })
      return
    case 'timerFired':
      visit?.events.push({ at: step.at, kind: 'timer', name: step.action ?? 'timer' })
      return
    default:
      if (visit !== undefined) takeAction(visit, step, definition)
  }
}

function newVisit(step: HistoryStep, definition: Definition | undefined): StateVisit {
  const type = definition?.states.find(({ name }) => name === step.state)?.type
  return { state: step.state ?? '', startedAt: step.at, status: 'active', actions: [], events: [], ...compact({ type, before: step.data }) }
}

function leave(visit: StateVisit | undefined, { at, data, type }: HistoryStep): void {
  if (visit === undefined) return
  visit.endedAt ??= at
  if (data !== undefined) visit.after ??= data
  const failed = visit.actions.some((action) => action.status === 'failed')
  if (visit.status === 'active') visit.status = type === 'aborted' ? 'cancelled' : failed ? 'handled' : 'done'
  for (const action of visit.actions) {
    if (action.status !== 'active') continue
    action.status = 'cancelled'
    action.endedAt = at
  }
}

function takeCondition(visit: StateVisit, { detail }: HistoryStep): void {
  visit.condition = textOf(detail?.['condition'])
  visit.conditionIndex = Number(detail?.['index'] ?? -1)
}

function takeAction(visit: StateVisit, step: HistoryStep, definition: Definition | undefined): void {
  if (step.action === undefined) return
  const open = visit.actions.findLast(({ action, branch, status }) => action === step.action && branch === step.branch && (status === 'active' || step.type === 'actionRetried'))
  if (step.type === 'actionStarted') {
    const again = visit.actions.findLast(({ action, branch, status, endedAt }) => action === step.action && branch === step.branch && status === 'active' && endedAt !== undefined)
    if (again === undefined) visit.actions.push(newAction(step, definition))
    else delete again.endedAt
  } else if (open !== undefined) {
    settle(open, step)
  }
}

function settle(action: ActionEntry, { type, at, data, detail, sequence }: HistoryStep): void {
  action.lastStep = sequence
  if (type === 'actionCompleted') {
    action.status = 'done'
    action.endedAt = at
    if (data !== undefined) action.result = data
  } else if (type === 'actionFailed') {
    action.status = 'failed'
    action.endedAt = at
    if (detail !== undefined) action.error = detail
  } else if (type === 'actionRetried') {
    // It failed, and is waiting for its next attempt.
    action.status = 'active'
    action.endedAt ??= at
    action.attempts += 1
  }
}

function newAction({ action = '', branch, at, state }: HistoryStep, definition: Definition | undefined): ActionEntry {
  const calls = definition === undefined ? undefined : calledBy({ action, branch, state }, definition)
  return { action, startedAt: at, status: 'active', attempts: 1, ...compact({ branch, calls }) }
}

interface ActionPlace {
  readonly action: string
  readonly branch: string | undefined
  readonly state: string | undefined
}

function calledBy(place: ActionPlace, definition: Definition): string | undefined {
  const state = definition.states.find(({ name }) => name === place.state)
  const actions = state === undefined ? [] : actionsOf(state, place.branch)
  const named = actions.find(({ name, functionRef, subFlowRef }) => (name ?? functionRef?.refName ?? subFlowRef?.workflowId) === place.action)
  const action = named ?? (actions.length === 1 ? actions[0] : undefined)
  if (action?.subFlowRef !== undefined) return `sub-flow ${action.subFlowRef.workflowId}`
  if (action?.eventRef !== undefined) return `event ${action.eventRef.triggerEventRef}`
  const called = definition.functions.find((each) => each.name === action?.functionRef?.refName)
  return called === undefined ? undefined : `${called.type} ${called.name}`
}

function actionsOf(state: State, branch: string | undefined): readonly Action[] {
  switch (state.type) {
    case 'parallel': return state.branches.filter(({ name }) => name === branch).flatMap(({ actions }) => actions)
    case 'event': return state.onEvents.flatMap(({ actions }) => actions)
    case 'callback': return [state.action]
    default: return 'actions' in state ? state.actions : []
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** One line of the sequence of messages: who told whom what. */
export interface Message {
  readonly at: number
  readonly from: string
  readonly to: string
  readonly text: string
  readonly kind: 'call' | 'return' | 'error' | 'event'
  /** Milliseconds since the call, on a return. */
  readonly duration?: number
}

/** Tells an instance as messages between caller, workflow, functions and event bus, in order of time. */
export function toMessages(steps: readonly HistoryStep[], timeline: readonly StateVisit[]): readonly Message[] {
  const ends = steps.flatMap((step): Message[] => {
    if (step.type === 'started') return [{ at: step.at, from: 'caller', to: 'workflow', text: 'starts', kind: 'call' }]
    if (step.type === 'completed') return [{ at: step.at, from: 'workflow', to: 'caller', text: 'completed', kind: 'return' }]
    if (step.type === 'failed') return [{ at: step.at, from: 'workflow', to: 'caller', text: textOf(step.detail?.['message']), kind: 'error' }]
    return step.type === 'aborted' ? [{ at: step.at, from: 'caller', to: 'workflow', text: 'aborts', kind: 'call' }] : []
  })
  const calls = timeline.flatMap(({ actions }) => actions.flatMap((action): Message[] => {
    const from = action.branch === undefined ? 'workflow' : `branch ${action.branch}`
    const to = action.calls ?? action.action
    const call: Message = { at: action.startedAt, from, to, text: action.action, kind: 'call' }
    if (action.endedAt === undefined) return [call]
    const duration = action.endedAt - action.startedAt
    const back = { at: action.endedAt, from: to, to: from, duration }
    if (action.status === 'failed') return [call, { ...back, kind: 'error', text: textOf(action.error?.['message']) }]
    return [call, { ...back, kind: 'return', text: action.status }]
  }))
  const events = timeline.flatMap((visit) => visit.events.map(({ at, kind, name }): Message => (kind === 'produced'
    ? { at, from: 'workflow', to: 'event bus', text: name, kind: 'event' }
    : { at, from: kind === 'timer' ? 'clock' : 'event bus', to: 'workflow', text: name, kind: 'event' })))
  const order = (message: Message): number => (message.from === 'caller' ? 0 : message.to === 'caller' ? 2 : 1)
  return [...ends, ...calls, ...events].sort((left, right) => left.at - right.at || order(left) - order(right))
}
