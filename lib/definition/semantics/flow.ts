import { isJsonObject } from '../../common/index.ts'
import { suggest } from '../suggest.ts'
import type { Definition, State } from '../types.ts'
import { continuationsOf, reachableFrom, statePointer, successorsOf } from '../walk.ts'
import type { SemanticScope } from './scope.ts'

/** Checks start, transitions and ends (G22–G24, S096). */
export function checkFlow(scope: SemanticScope): void {
  const { definition, document, report } = scope
  const names = definition.states.map(({ name }) => name)
  const { stateName } = definition.start
  if (document['start'] !== undefined && !names.includes(stateName)) {
    report(
      isJsonObject(document['start']) ? '/start/stateName' : '/start',
      `start state ${stateName} does not exist`,
      suggest(stateName, names),
    )
  }
  definition.states.forEach((state, index) => {
    for (const { pointer, holder, continuation: { transition, end } } of continuationsOf(state, statePointer(index))) {
      if (transition !== undefined && !names.includes(transition.nextState)) {
        report(
          `${pointer}/transition`,
          `transition to ${transition.nextState}, which is no state`,
          suggest(transition.nextState, names),
        )
      }
      if (transition !== undefined && end !== undefined && !state.usedForCompensation) {
        report(pointer, 'transition and end exclude each other', 'keep one of them')
      }
      if (transition === undefined && end === undefined && !(holder === 'state' && state.usedForCompensation)) {
        report(pointer, 'neither transition nor end is given', 'write "transition": "<state>" or "end": true')
      }
    }
  })
  // SonataFlow refuses what the specification is silent about; there it is a warning.
  if (definition.profile === 'sonataflow') {
    for (const { pointer, message } of findUnconnected(definition)) {
      report(
        pointer,
        message,
        'add a transition to it, or remove it',
      )
    }
  }
}

/** Finds states that no path reaches; compensation and timeout paths count as paths. */
export function findUnconnected(definition: Definition): readonly { readonly pointer: string; readonly message: string }[] {
  const { runBefore } = definition.timeouts.workflowExecTimeout ?? {}
  const reached = reachableFrom(definition, [definition.start.stateName, ...(runBefore === undefined ? [] : [runBefore])], withCompensation)
  return definition.states.flatMap(({ name }, index) => reached.has(name)
    ? []
    : [{ pointer: statePointer(index), message: `the state is not connected: no transition leads to it` }])
}

function withCompensation(state: State): readonly string[] {
  return state.compensatedBy === undefined ? successorsOf(state) : [...successorsOf(state), state.compensatedBy]
}

/** Checks the state that runs before a workflow timeout ends the instance (S230). */
export function checkRunBefore({ definition, checkName, report }: SemanticScope): void {
  const runBefore = definition.timeouts.workflowExecTimeout?.runBefore
  if (runBefore === undefined) return
  const pointer = '/timeouts/workflowExecTimeout/runBefore'
  checkName(pointer, { kind: 'state', name: runBefore }, definition.states.map(({ name }) => name))
  const state = definition.states.find(({ name }) => name === runBefore)
  if (state === undefined) return
  const sources = definition.states.filter((other) => successorsOf(other).includes(runBefore))
  if (sources.length > 0) {
    report(
      pointer,
      `state ${runBefore} has incoming transitions (from ${sources.map(({ name }) => name).join(', ')})`,
      'a runBefore state is outside of the flow (S230)',
    )
  }
  if (runBefore === definition.start.stateName) {
    report(
      pointer,
      `state ${runBefore} is the start state`,
      'a runBefore state is outside of the flow (S230)',
    )
  }
  if (state.usedForCompensation) {
    report(
      pointer,
      `state ${runBefore} is used for compensation`,
      'it cannot be both (S230)',
    )
  }
  const main = reachableFrom(definition, [definition.start.stateName])
  const own = reachableFrom(definition, [runBefore])
  const shared = [...own].filter((name) => name !== runBefore && main.has(name))
  if (shared.length > 0) {
    report(
      pointer,
      `state ${runBefore} leads to ${shared.join(', ')} of the main flow`,
      'it may only lead to states outside of it (S230)',
    )
  }
  const ends = definition.states.some((other) => own.has(other.name) && continuationsOf(other, '').some(({ continuation: { end } }) => end !== undefined))
  if (!ends) report(pointer, `state ${runBefore} reaches no end`, 'add "end": true (S230)')
}

/** No transition crosses the border between the flow and compensation. */
function checkCompensationBorder({ definition, report }: Pick<SemanticScope, 'definition' | 'report'>, state: State, pointer: string): void {
  for (const { pointer: place, holder, continuation: { transition } } of continuationsOf(state, pointer)) {
    const target = definition.states.find(({ name }) => name === transition?.nextState)
    if (target === undefined || target.usedForCompensation === state.usedForCompensation) continue
    if (!state.usedForCompensation) {
      report(
        `${place}/transition`,
        `transition to compensation state ${target.name}`,
        'compensation states have no incoming transitions; name it in compensatedBy (S240)',
      )
    } else if (holder !== 'error' || definition.profile === 'spec') {
      // SonataFlow lets the handler of a failed compensation be any state.
      report(
        `${place}/transition`,
        `a compensation state leads to ${target.name}, which is none`,
        'lead only to states used for compensation (S240)',
      )
    }
  }
}

/** Checks compensation states (S240). */
export function checkCompensation({ definition, checkName, report }: SemanticScope): void {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  definition.states.forEach((state, index) => {
    const pointer = statePointer(index)
    if (state.compensatedBy !== undefined) {
      checkName(`${pointer}/compensatedBy`, { kind: 'state', name: state.compensatedBy }, [...states.keys()])
      const target = states.get(state.compensatedBy)
      if (target !== undefined && !target.usedForCompensation) {
        const hint = target.type === 'event' ? 'an event state cannot compensate (S240)' : 'add "usedForCompensation": true to it (S240)'
        report(`${pointer}/compensatedBy`, `state ${target.name} is not used for compensation`, hint)
      }
      if (state.usedForCompensation) {
        report(
          `${pointer}/compensatedBy`,
          'a compensation state is compensated itself',
          'remove compensatedBy (S240)',
        )
      }
    }
    checkCompensationBorder({ definition, report }, state, pointer)
    if (state.usedForCompensation && definition.start.stateName === state.name) {
      report(
        pointer,
        'the start state is used for compensation',
        'start with another state (S240)',
      )
    }
  })
}
