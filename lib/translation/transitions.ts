import type { JsonObject } from '../common/index.ts'
import type { Continuation, End, Transition } from '../definition/index.ts'
import type { Named, NodeConfig } from './machine-config.ts'
import { addStep, metaOf, stateTarget, targetOf, type PathScope } from './scope.ts'

/** How a state is left. */
export interface LeaveOptions {
  /** The state did its work: it counts for compensation (S241). */
  readonly completed: boolean
  /** Its output filter applies (S146; on error paths by profile, A11). */
  readonly output: boolean
}

/** Address of the continuation for the assigns that read it: which of a state's continuations is meant. */
type Leaving = JsonObject & { readonly state: number; readonly leave: string }

/**
 * Makes the nodes that leave a state by a continuation and gives the first target.
 *
 * In this order: output filter, compensation, events, then the move (S146, S245, S246, S278, A23).
 */
export function leave(path: PathScope, key: string, continuation: Continuation, options: LeaveOptions): string {
  const going = continuation.transition ?? continuation.end
  const params: Leaving = { state: path.address.state, leave: key }
  const before: Named[] = []
  if (options.output && path.state.stateDataFilter.output !== undefined) before.push({ type: 'applyOutput', params })
  if (options.completed && path.state.compensatedBy !== undefined) before.push({ type: 'recordCompleted', params })
  const events: Named[] = hasEvents(going) ? [{ type: 'prepareEvents', params }, { type: 'publishEvents', params }] : []
  if (going?.compensate !== true) {
    const destination = goingTo(path, key, continuation)
    const assigns = [...before, ...events]
    return assigns.length === 0 ? destination : once(path, key, assigns, destination)
  }
  const start: Named = { type: 'startCompensation', params: { ...params, returnTo: followUp(path, key, continuation, events) } }
  return once(path, key, [...before, start], '#compensation')
}

function followUp(path: PathScope, key: string, continuation: Continuation, events: readonly Named[]): string {
  const id = `${path.id}_${key}`
  if (path.followUps.some(({ node }) => node.id === id)) return id
  const nodes: Record<string, NodeConfig> = {}
  const scope: PathScope = { ...path, id, nodes }
  const destination = goingTo(scope, key, continuation)
  const target = events.length === 0 ? destination : once(scope, 'events', events, destination)
  nodes['begin'] = { always: [{ target }], meta: metaOf(path, 'step') }
  path.followUps.push({ state: path.address.state, node: { id, initial: 'begin', states: nodes, meta: metaOf(path, 'step') } })
  return id
}

function once(path: PathScope, key: string, assigns: readonly Named[], destination: string): string {
  // Several error sources of one state share the nodes of a handler.
  if (path.nodes[key] !== undefined) return targetOf(path, key)
  return addStep({ ...path, onFailure: path.onLeavingFailure }, key, assigns, [{ target: destination }], destination)
}

function hasEvents(going: Transition | End | undefined): boolean {
  return going !== undefined && going.produceEvents.length > 0
}

function goingTo(path: PathScope, key: string, { transition, end }: Continuation): string {
  if (path.state.usedForCompensation) {
    // The end of a compensation state is ignored: the chain goes back to the dispatcher (S240, S242).
    return transition === undefined ? '#compensation' : stateTarget(path, transition.nextState)
  }
  if (transition !== undefined) return stateTarget(path, transition.nextState)
  if (end?.continueAs !== undefined) {
    return once(path, `${key}_continue`, [{ type: 'prepareContinuation', params: { state: path.address.state, leave: key } }], '#completed')
  }
  if (!path.definition.keepActive || end?.terminate === true) return '#completed'
  // A kept instance takes further events where it began (A13); without such a state it rests until its time is up (S271).
  const start = path.definition.start.stateName
  const begins = path.definition.states.find(({ name }) => name === start)
  return begins?.type === 'event' ? stateTarget(path, start) : '#idle'
}
