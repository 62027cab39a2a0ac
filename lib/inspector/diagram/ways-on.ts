import type { Continuation, Definition, ProducedEvent, State } from '../../definition/index.ts'
import type { EdgeRole } from './diagram.ts'

/** One way out of a state, as the definition writes it. */
export interface WayOn {
  readonly role: EdgeRole
  readonly label?: string
  /** Name of the next state; absent when the path ends. */
  readonly next?: string
  readonly ends: boolean
}

/**
 * Lists the ways out of a state in the order in which they are tried: conditions, the default, the transition, errors.
 *
 * Errors that lead to the same place are one way (S198).
 */
export function waysOn(state: State): readonly WayOn[] {
  return [...(state.type === 'switch' ? conditionsOf(state) : plain(state)), ...errorsOf(state)]
}

function plain(state: Exclude<State, { type: 'switch' }>): WayOn[] {
  return toWay('transition', '', state)
}

function conditionsOf(state: Extract<State, { type: 'switch' }>): WayOn[] {
  return [
    ...state.dataConditions.flatMap((condition) => toWay('condition', condition.name ?? withoutWrapper(condition.condition), condition)),
    ...state.eventConditions.flatMap((condition) => toWay('condition', condition.name ?? `✉ ${condition.eventRef}`, condition)),
    ...(state.defaultCondition === undefined ? [] : toWay('default', 'default', state.defaultCondition)),
  ]
}

function errorsOf(state: State): WayOn[] {
  const byTarget = new Map<string, { names: string[]; way: WayOn }>()
  for (const error of state.onErrors) {
    for (const way of toWay('error', error.errorRefs.join(', '), error)) {
      const place = way.next ?? ''
      const known = byTarget.get(place)
      if (known === undefined) byTarget.set(place, { names: [way.label ?? ''], way })
      else known.names.push(way.label ?? '')
    }
  }
  return [...byTarget.values()].map(({ names, way }) => ({ ...way, label: names.join(', ') }))
}

function toWay(role: EdgeRole, name: string, { transition, end }: Continuation): WayOn[] {
  const events = transition?.produceEvents ?? end?.produceEvents ?? []
  const remarks = [name, emits(events), transition?.compensate === true || end?.compensate === true ? '↩ compensates' : '', continuesAs(end)]
  const label = remarks.filter((text) => text !== '').join(' · ')
  const common = { role, ...(label === '' ? {} : { label }) }
  if (transition !== undefined) return [{ ...common, next: transition.nextState, ends: false }]
  return end === undefined ? [] : [{ ...common, ends: true }]
}

function emits(events: readonly ProducedEvent[]): string {
  return events.length === 0 ? '' : `✉ ${events.map(({ eventRef }) => eventRef).join(', ')}`
}

function continuesAs(end: Continuation['end']): string {
  return end?.continueAs === undefined ? '' : `→ ${end.continueAs.workflowId}`
}

/** Takes the `${ }` off an expression. */
export function withoutWrapper(expression: string): string {
  return /^\s*\$\{([\s\S]*)\}\s*$/u.exec(expression)?.[1]?.trim() ?? expression.trim()
}

/**
 * Finds the path of a run in which nothing fails: transitions and defaults from the start on; where a switch has neither to a state,
 * its first condition that goes on.
 */
export function happyPath(definition: Definition): readonly string[] {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const path: string[] = []
  const seen = new Set<string>()
  let name: string | undefined = definition.start.stateName
  while (name !== undefined && !seen.has(name)) {
    const state = states.get(name)
    if (state === undefined) break
    seen.add(name)
    path.push(name)
    name = happyWay(state)?.next
  }
  return path
}

/** The way that a run takes in which nothing fails. */
export function happyWay(state: State): WayOn | undefined {
  const ways = waysOn(state).filter(({ role }) => role !== 'error')
  return ways.find(({ role, next }) => role !== 'condition' && next !== undefined) ?? ways.find(({ next }) => next !== undefined) ?? ways[0]
}
