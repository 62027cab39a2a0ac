import type { Action, Definition, State, Timeouts } from '../definition/index.ts'
import type { DeployedWorkflow, Deployments } from './deployments.ts'

/** What an own look at a definition gives. */
interface Waits {
  readonly itself: boolean
  /** Ids and versions of the sub-flows that it starts. */
  readonly subflows: readonly { readonly workflowId: string; readonly version?: string }[]
}

const KNOWN = new WeakMap<DeployedWorkflow, Waits>()

/**
 * Tells whether instances of a definition can wait for anything but a function's answer: an event, a timer, or a sub-flow that can.
 *
 * Such instances are kept in a store unless settings say otherwise (`sonatina.store`).
 */
export function canWait(workflow: DeployedWorkflow, deployments: Deployments, seen = new Set<DeployedWorkflow>()): boolean {
  let waits = KNOWN.get(workflow)
  if (waits === undefined) {
    waits = look(workflow)
    KNOWN.set(workflow, waits)
  }
  if (waits.itself) return true
  if (waits.subflows.length === 0 || seen.has(workflow)) return false
  seen.add(workflow)
  return waits.subflows.some(({ workflowId, version }) => {
    const called = deployments.find(workflowId, version)
    return called !== undefined && canWait(called, deployments, seen)
  })
}

/**
 * Tells whether a definition by itself waits for an event or a timer; what its functions and sub-flows wait for is not looked at.
 */
export function waitsItself(definition: Definition): boolean {
  const delayed = new Set(definition.retries.filter(({ delay }) => delay > 0).map(({ name }) => name))
  return definition.timeouts.workflowExecTimeout !== undefined ||
    definition.start.schedule !== undefined ||
    definition.states.some((state) => waitsInState(state) || actionsOf(state).some((action) => waitsInAction(action, delayed)))
}

/** Tells whether instances of a definition may start sub-flows that end with them (S192). */
export function mayHaveDependents({ program }: DeployedWorkflow): boolean {
  return program.definition.states.some((state) => actionsOf(state).some(({ subFlowRef }) => subFlowRef !== undefined))
}

function look({ program }: DeployedWorkflow): Waits {
  const { definition } = program
  const actions = definition.states.flatMap(actionsOf)
  const itself = waitsItself(definition) || program.invokers.some(({ event }) => event?.kind === 'consumed')
  return { itself, subflows: actions.flatMap(({ subFlowRef }) => (subFlowRef === undefined ? [] : [subFlowRef])) }
}

function waitsInState(state: State): boolean {
  if (state.type === 'event' || state.type === 'callback' || state.type === 'sleep') return true
  if (state.type === 'switch' && state.eventConditions.length > 0) return true
  const branches = state.type === 'parallel' ? state.branches : []
  return isSet(state.timeouts) || branches.some(({ timeouts }) => isSet(timeouts))
}

function isSet(timeouts: Timeouts): boolean {
  return Object.values(timeouts).some((timeout) => timeout !== undefined)
}

function waitsInAction({ sleep, retryRef, eventRef }: Action, delayed: ReadonlySet<string>): boolean {
  return sleep.before !== undefined || sleep.after !== undefined || eventRef?.resultEventRef !== undefined || (retryRef !== undefined && delayed.has(retryRef))
}

function actionsOf(state: State): readonly Action[] {
  switch (state.type) {
    case 'operation': case 'foreach': return state.actions
    case 'parallel': return state.branches.flatMap(({ actions }) => actions)
    case 'event': return state.onEvents.flatMap(({ actions }) => actions)
    case 'callback': return [state.action]
    case 'inject': case 'sleep': case 'switch': return []
  }
}
