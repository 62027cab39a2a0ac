import { atPointer, isJsonObject, type JsonObject } from '../../common/index.ts'
import type { Definition, ForEachState, ParallelState, State } from '../types.ts'
import { actionsOf, statePointer } from '../walk.ts'
import type { SemanticScope } from './scope.ts'

/** Checks what each state type asks for beyond its form (G3–G12). */
export function checkStates(scope: SemanticScope): void {
  scope.definition.states.forEach((state, index) => {
    const pointer = statePointer(index)
    if (state.type === 'parallel') checkParallel(scope, state, pointer)
    if (state.type === 'foreach') checkForEach(scope, state, pointer)
    checkWritten(scope, state, pointer)
    checkActions(scope, state, pointer)
  })
}

/** What is told by the document as written only: normalising has no place for it. */
function checkWritten({ document, definition, report }: SemanticScope, state: State, pointer: string): void {
  const written = atPointer(document, pointer) as JsonObject
  if (written['eventTimeout'] !== undefined && definition.profile === 'spec') {
    report(
      `${pointer}/eventTimeout`,
      'additional property eventTimeout',
      'it moved to timeouts.eventTimeout; the profile sonataflow takes the old place too (S050)',
    )
  }
  if (state.type === 'inject' && definition.profile === 'spec' && !isJsonObject(state.data)) {
    report(
      `${pointer}/data`,
      'the data to inject is no object',
      'write an object (S070); the profile sonataflow takes any value',
    )
  }
  const { timeouts } = written
  if (isJsonObject(timeouts) && timeouts['workflowExecTimeout'] !== undefined) {
    report(
      `${pointer}/timeouts/workflowExecTimeout`,
      'a workflow timeout stands in a state',
      'move it to the top-level timeouts (S231)',
    )
  }
  if (state.type === 'switch') checkConditions(written, pointer, report)
}

function checkConditions({ dataConditions, eventConditions }: JsonObject, pointer: string, report: SemanticScope['report']): void {
  if (dataConditions !== undefined && eventConditions !== undefined) {
    report(
      pointer,
      'dataConditions and eventConditions exclude each other',
      'keep one of them, or split the state in two (S043)',
    )
  }
  if (dataConditions === undefined && eventConditions === undefined) {
    report(pointer, 'the switch has no conditions', 'give it dataConditions or eventConditions (S043)')
  }
}

function checkParallel({ report }: SemanticScope, { completionType, numCompleted, branches }: ParallelState, pointer: string): void {
  if (completionType === 'allOf') return
  const place = `${pointer}/numCompleted`
  if (numCompleted === undefined) {
    report(place, 'numCompleted is missing', 'completionType atLeast needs the number of branches (S060)')
  } else if (typeof numCompleted === 'number' && (!Number.isInteger(numCompleted) || numCompleted < 1 || numCompleted > branches.length)) {
    report(
      place,
      `numCompleted is ${String(numCompleted)}`,
      `write a whole number from 1 to ${String(branches.length)}, the number of branches, or an expression`,
    )
  }
}

function checkForEach({ report }: SemanticScope, { batchSize, iterationParam }: ForEachState, pointer: string): void {
  if (typeof batchSize === 'number' && (!Number.isInteger(batchSize) || batchSize < 1)) {
    report(
      `${pointer}/batchSize`,
      `batchSize is ${String(batchSize)}`,
      'write a whole number from 1, or leave it out to run all at once (A26)',
    )
  }
  if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(iterationParam)) {
    report(
      `${pointer}/iterationParam`,
      `${JSON.stringify(iterationParam)} is no name`,
      'write a name such as "item"; expressions read it as .item (S078)',
    )
  }
}

function checkActions({ definition, report }: SemanticScope, state: State, statePlace: string): void {
  for (const { action, branch, pointer } of actionsOf(state, statePlace)) {
    const kinds = (['functionRef', 'eventRef', 'subFlowRef'] as const).filter((kind) => action[kind] !== undefined)
    if (kinds.length === 0) {
      report(
        pointer,
        'the action does nothing',
        'give it one of functionRef, eventRef, subFlowRef (S099)',
      )
    }
    if (kinds.length > 1) report(pointer, `${kinds.join(' and ')} exclude each other`, 'split the action (S099)')
    if (branch !== undefined && action.subFlowRef !== undefined && isSelf(definition, action.subFlowRef)) {
      report(`${pointer}/subFlowRef`, `branch ${branch.name} calls its own workflow`, 'a branch may not (S063)')
    }
  }
}

function isSelf(definition: Definition, { workflowId, version }: { readonly workflowId: string; readonly version?: string }): boolean {
  return workflowId === definition.id && (version === undefined || version === definition.version)
}
