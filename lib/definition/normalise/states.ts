import { compact, type JsonObject } from '../../common/index.ts'
import type {
  Branch, Continuation, DataCondition, EventCondition, OnEvents, ParallelState, State, StateCommon, StateType, Timeouts,
} from '../types.ts'
import { normaliseAction, normaliseActions, normaliseEventDataFilter } from './actions.ts'
import { normaliseContinuation, normaliseOnErrors } from './continuation.ts'
import {
  readFlag, readJson, readMilliseconds, readName, readNames, readNumberOrExpression, readObject, readObjects, readText, readWord,
  type ReadContext,
} from './read.ts'
import { inheritTimeouts, readTimeouts, TIMEOUTS_OF_BRANCH, TIMEOUTS_OF_STATE } from './timeouts.ts'

type StateNormaliser<Type extends StateType> = (
  source: JsonObject,
  common: StateCommon & Continuation,
  context: StateContext,
) => Extract<State, { type: Type }>

/** What the readers of states share. */
export interface StateContext extends ReadContext {
  /** Timeouts of the top level. */
  readonly inherited: Timeouts
}

const MODES = ['sequential', 'parallel'] as const

const NORMALISERS: { readonly [Type in StateType]: StateNormaliser<Type> } = {
  operation: (source, common, context) => ({
    ...common,
    type: 'operation',
    actionMode: readWord(source['actionMode'], MODES, 'sequential'),
    actions: normaliseActions(source['actions'], context),
  }),
  switch: (source, common, context) => ({
    ...withoutContinuation(common),
    type: 'switch',
    dataConditions: readObjects(source['dataConditions']).map((condition) => normaliseDataCondition(condition, context)),
    eventConditions: readObjects(source['eventConditions']).map((condition) => normaliseEventCondition(condition, context)),
    ...(source['defaultCondition'] === undefined
      ? {}
      : { defaultCondition: normaliseContinuation(source['defaultCondition'], context) }),
  }),
  inject: (source, common) => ({ ...common, type: 'inject', data: readJson(source['data']) ?? {} }),
  parallel: normaliseParallel,
  event: (source, common, context) => ({
    ...common,
    type: 'event',
    exclusive: readFlag(source['exclusive'], true),
    onEvents: readObjects(source['onEvents']).map((entry): OnEvents => ({
      eventRefs: readNames(entry['eventRefs']),
      actionMode: readWord(entry['actionMode'], MODES, 'sequential'),
      actions: normaliseActions(entry['actions'], context),
      eventDataFilter: normaliseEventDataFilter(entry['eventDataFilter']),
    })),
  }),
  sleep: (source, common, context) => ({ ...common, type: 'sleep', duration: readMilliseconds(source['duration'], context) ?? 0 }),
  foreach: (source, common, context) => compact({
    ...common,
    type: 'foreach',
    inputCollection: readText(source['inputCollection']) ?? '',
    outputCollection: readText(source['outputCollection']),
    iterationParam: readIterationParam(source['iterationParam']),
    batchSize: readNumberOrExpression(source['batchSize']),
    mode: readWord(source['mode'], MODES, 'parallel'),
    actions: normaliseActions(source['actions'], context),
  }),
  callback: (source, common, context) => ({
    ...common,
    type: 'callback',
    action: normaliseAction(source['action'], context),
    eventRef: readName(source['eventRef']) ?? '',
    eventDataFilter: normaliseEventDataFilter(source['eventDataFilter']),
  }),
}

/** Writes out a state: defaults, short forms, and the timeouts it inherits from the top level (S224). */
export function normaliseState(source: JsonObject, context: StateContext): State {
  const type = source['type'] as StateType
  const filter = readObject(source['stateDataFilter'])
  const common: StateCommon & Continuation = compact({
    id: readName(source['id']),
    name: readName(source['name']) ?? '',
    stateDataFilter: compact({ input: readText(filter['input']), output: readText(filter['output']) }),
    onErrors: normaliseOnErrors(source['onErrors'], context),
    timeouts: inheritTimeouts(readStateTimeouts(source, context), context.inherited, kindsOf(source, type)),
    compensatedBy: readName(source['compensatedBy']),
    usedForCompensation: readFlag(source['usedForCompensation'], false),
    metadata: readObject(source['metadata']),
    ...normaliseContinuation(source, context),
  })
  return NORMALISERS[type](source, common, context)
}

// A switch goes on by its conditions only (S051).
function withoutContinuation(common: StateCommon & Continuation): StateCommon {
  return Object.fromEntries(Object.entries(common).filter(([key]) => key !== 'transition' && key !== 'end')) as unknown as StateCommon
}

// A data switch never waits, so an inherited event timeout means nothing to it (S052).
function kindsOf(source: JsonObject, type: StateType): readonly (keyof Timeouts)[] {
  const kinds = TIMEOUTS_OF_STATE[type]
  return type === 'switch' && readObjects(source['eventConditions']).length === 0 ? kinds.filter((kind) => kind !== 'eventTimeout') : kinds
}

// The old place of the event timeout is the state itself (S050).
function readStateTimeouts(source: JsonObject, context: ReadContext): Timeouts {
  const timeouts = readTimeouts(source['timeouts'], context)
  const old = readMilliseconds(source['eventTimeout'], context)
  return old === undefined || timeouts.eventTimeout !== undefined ? timeouts : { ...timeouts, eventTimeout: old }
}

function normaliseParallel(source: JsonObject, common: StateCommon & Continuation, context: StateContext): ParallelState {
  // Branches inherit from the state, and the state from the top level (S225); action timeouts skip the state, which has
  // none (S068).
  const fromState = { ...context.inherited, ...common.timeouts }
  const choice = readObject(source['metadata'])['branchData'] ?? source['branchData']
  return compact({
    ...common,
    type: 'parallel',
    completionType: readWord(source['completionType'], ['allOf', 'atLeast'], 'allOf'),
    numCompleted: readNumberOrExpression(source['numCompleted']),
    branchData: readWord(choice, ['shared', 'isolated'], context.branchData),
    branches: readObjects(source['branches']).map((branch, index): Branch => ({
      name: readName(branch['name']) ?? `branch-${String(index + 1)}`,
      actions: normaliseActions(branch['actions'], context),
      timeouts: inheritTimeouts(readTimeouts(branch['timeouts'], context), fromState, TIMEOUTS_OF_BRANCH),
    })),
  })
}

function normaliseDataCondition(source: JsonObject, context: ReadContext): DataCondition {
  return compact({
    name: readName(source['name']),
    condition: readText(source['condition']) ?? '',
    metadata: readObject(source['metadata']),
    ...normaliseContinuation(source, context),
  })
}

function normaliseEventCondition(source: JsonObject, context: ReadContext): EventCondition {
  return compact({
    name: readName(source['name']),
    eventRef: readName(source['eventRef']) ?? '',
    eventDataFilter: normaliseEventDataFilter(source['eventDataFilter']),
    metadata: readObject(source['metadata']),
    ...normaliseContinuation(source, context),
  })
}

/**
 * Reads the name of the iteration value; `${ .tx }`, `.tx` and `$tx` of published examples are `tx` (S086), absent
 * is `item` (S078).
 */
function readIterationParam(value: unknown): string {
  const text = readName(value)
  if (text === undefined || text === '') return 'item'
  return /^(?:\$\{\s*)?[.$]?([^\s{}]+?)\s*\}?$/.exec(text)?.[1] ?? text
}
