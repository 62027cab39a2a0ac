import type { Action, Definition, State, StateType } from '../../definition/index.ts'
import { shorten } from './diagram.ts'

/** Longest line in a box; the whole text is in the table and in the definition. */
const LONGEST_LINE = 46

type Lines<Type extends StateType> = (state: Extract<State, { type: Type }>, definition: Definition) => readonly string[]

const LINES: { readonly [Type in StateType]: Lines<Type> } = {
  operation: ({ actions, actionMode }, definition) => [
    ...(actionMode === 'parallel' && actions.length > 1 ? ['all at once'] : []),
    ...actions.map((action, index) => actionLine(action, index, definition)),
  ],
  switch: ({ eventConditions }) => (eventConditions.length === 0 ? [] : ['waits for an event']),
  inject: ({ data }) => [`sets ${keysOf(data)}`],
  sleep: ({ duration }) => [`⏱ ${wordDuration(duration)}`],
  parallel: ({ completionType, numCompleted }) => [completionType === 'allOf' ? 'until all are done' : `until ${String(numCompleted ?? 1)} are done`],
  event: ({ onEvents, exclusive }, definition) => onEvents.flatMap(({ eventRefs, actions }) => [
    `✉ ${eventRefs.join(exclusive ? ' or ' : ' and ')}`,
    ...actions.map((action, index) => actionLine(action, index, definition)),
  ]),
  foreach: ({ inputCollection, iterationParam, mode, batchSize, actions }, definition) => [
    `∀ ${iterationParam} of ${inputCollection}`,
    mode === 'sequential' ? 'one after another' : batchSize === undefined ? 'all at once' : `${String(batchSize)} at once`,
    ...actions.map((action, index) => actionLine(action, index, definition)),
  ],
  callback: ({ action, eventRef }, definition) => [actionLine(action, 0, definition), `✉ waits for ${eventRef}`],
}

/** Tells what a state does, a line for each action or fact (G3–G10). */
export function stateLines(state: State, definition: Definition): readonly string[] {
  const lines = LINES[state.type] as (of: State, definition: Definition) => readonly string[]
  return lines(state, definition).map((line) => shorten(line, LONGEST_LINE))
}

/** Name of an action: its own, else that of what it calls (S099). */
export function nameOfAction(action: Action, index: number): string {
  return action.name ?? action.functionRef?.refName ?? action.subFlowRef?.workflowId ?? action.eventRef?.triggerEventRef ?? `action ${String(index + 1)}`
}

/** Tells what an action does: name, and kind and name of what it calls. */
export function actionLine(action: Action, index: number, definition: Definition): string {
  const name = nameOfAction(action, index)
  const called = calledBy(action, definition)
  const condition = action.condition === undefined ? '' : ' if …'
  return `▸ ${name}${called === undefined || called === name ? '' : ` · ${called}`}${condition}`
}

function calledBy({ functionRef, subFlowRef, eventRef }: Action, { functions }: Definition): string | undefined {
  if (functionRef !== undefined) {
    const called = functions.find(({ name }) => name === functionRef.refName)
    if (called === undefined) return functionRef.refName
    return called.type === 'custom' ? /^([^:]*)/u.exec(called.operation)?.[1] : called.type
  }
  if (subFlowRef !== undefined) return `sub-flow ${subFlowRef.workflowId}`
  return eventRef === undefined ? undefined : `emits ${eventRef.triggerEventRef}`
}

function keysOf(data: unknown): string {
  if (data === undefined) return ''
  if (typeof data !== 'object' || data === null) return JSON.stringify(data)
  const keys = Object.keys(data)
  return keys.length === 0 ? 'nothing' : keys.join(', ')
}

const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]] as const

/** Words a duration given in milliseconds: `1 h 30 min`. */
export function wordDuration(milliseconds: number): string {
  const parts: string[] = []
  let left = milliseconds
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${String(count)} ${unit}`)
  }
  if (left > 0 || parts.length === 0) parts.push(`${String(left)} ms`)
  return parts.slice(0, 2).join(' ')
}
