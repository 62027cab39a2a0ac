import { compact, isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import type { Action, ActionDataFilter, ActionEventRef, EventDataFilter, FunctionRef, SubFlowRef } from '../types.ts'
import {
  readContextAttributes, readData, readFlag, readMilliseconds, readName, readNames, readObject, readObjects, readText, readWord,
  type ReadContext,
} from './read.ts'

/** Writes out a list of actions (S099–S114). */
export function normaliseActions(source: unknown, context: ReadContext): readonly Action[] {
  return readObjects(source).map((action) => normaliseAction(action, context))
}

/** Writes out one action. */
export function normaliseAction(source: unknown, context: ReadContext): Action {
  const action = readObject(source)
  const sleep = readObject(action['sleep'])
  return compact({
    name: readName(action['name']),
    functionRef: normaliseFunctionRef(action['functionRef']),
    eventRef: normaliseEventRef(action['eventRef'], context),
    subFlowRef: normaliseSubFlowRef(action['subFlowRef']),
    condition: readText(action['condition']),
    sleep: compact({ before: readMilliseconds(sleep['before'], context), after: readMilliseconds(sleep['after'], context) }),
    retryRef: readName(action['retryRef']),
    retryableErrors: readNames(action['retryableErrors']),
    nonRetryableErrors: readNames(action['nonRetryableErrors']),
    actionDataFilter: normaliseActionDataFilter(action['actionDataFilter']),
  })
}

/** Writes out an event data filter; `useData` is true when absent (S155). */
export function normaliseEventDataFilter(source: unknown): EventDataFilter {
  const filter = readObject(source)
  return compact({
    data: readText(filter['data']),
    toStateData: readText(filter['toStateData']),
    useData: readFlag(filter['useData'], true),
  })
}

function normaliseFunctionRef(source: unknown): FunctionRef | undefined {
  if (typeof source === 'string') return { refName: source.trim(), invoke: 'sync' }
  if (!isJsonObject(source)) return undefined
  return compact({
    refName: readName(source['refName']) ?? '',
    arguments: readArguments(source['arguments']),
    selectionSet: readText(source['selectionSet']),
    invoke: readWord(source['invoke'], ['sync', 'async'], 'sync'),
  })
}

function readArguments(value: unknown): JsonObject | readonly Json[] | string | undefined {
  return Array.isArray(value) ? (value as readonly Json[]) : readData(value)
}

function normaliseEventRef(source: unknown, context: ReadContext): ActionEventRef | undefined {
  if (!isJsonObject(source)) return undefined
  return compact({
    triggerEventRef: readName(source['triggerEventRef']) ?? '',
    resultEventRef: readName(source['resultEventRef']),
    resultEventTimeout: readMilliseconds(source['resultEventTimeout'], context),
    data: readData(source['data']),
    contextAttributes: readContextAttributes(source['contextAttributes']),
    invoke: readWord(source['invoke'], ['sync', 'async'], 'sync'),
  })
}

function normaliseSubFlowRef(source: unknown): SubFlowRef | undefined {
  const properties = typeof source === 'string' ? { workflowId: source } : source
  if (!isJsonObject(properties)) return undefined
  return compact({
    workflowId: readName(properties['workflowId']) ?? '',
    version: readName(properties['version']),
    invoke: readWord(properties['invoke'], ['sync', 'async'], 'sync'),
    onParentComplete: readWord(properties['onParentComplete'], ['terminate', 'continue'], 'terminate'),
  })
}

function normaliseActionDataFilter(source: unknown): ActionDataFilter {
  const filter = readObject(source)
  return compact({
    fromStateData: readText(filter['fromStateData']),
    results: readText(filter['results']),
    toStateData: readText(filter['toStateData']),
    useResults: readFlag(filter['useResults'], true),
  })
}
