import { isJsonObject, toPointer, type JsonObject } from '../../common/index.ts'
import { TIMEOUTS_OF_BRANCH, TIMEOUTS_OF_STATE } from '../normalise/timeouts.ts'
import { eventUsesOf } from '../semantics/events.ts'
import type { Definition, LintWarning, State } from '../types.ts'
import { actionsOf, statePointer } from '../walk.ts'

/** Finds what is written and never used. */
export function findWithoutEffect(document: JsonObject, definition: Definition): readonly LintWarning[] {
  return [
    ...findUnused(definition),
    ...findTimeouts(document, definition),
    ...definition.states.flatMap((state, index) => findInActions(definition, state, statePointer(index))),
    ...definition.events.flatMap(({ name, kind, correlation }, index): LintWarning[] => kind === 'consumed' || correlation.length === 0
      ? []
      : [{ rule: 'correlation-without-effect', pointer: toPointer(['events', index, 'correlation']), message: `event ${name} is produced; only consumed events are correlated (S134)` }]),
    ...findBatchSizes(definition),
    ...findExtensions(definition),
  ]
}

function findUnused(definition: Definition): readonly LintWarning[] {
  const actions = definition.states.flatMap((state, index) => actionsOf(state, statePointer(index))).map(({ action }) => action)
  const text = JSON.stringify(definition.states)
  const used = {
    functions: new Set(actions.flatMap(({ functionRef }) => functionRef?.refName ?? [])),
    events: new Set(eventUsesOf(definition).map(({ name }) => name)),
    errors: new Set([
      ...definition.states.flatMap(({ onErrors }) => onErrors.flatMap(({ errorRefs }) => errorRefs)),
      ...actions.flatMap(({ retryableErrors, nonRetryableErrors }) => [...retryableErrors, ...nonRetryableErrors]),
    ]),
    retries: new Set(actions.flatMap(({ retryRef }) => retryRef ?? [])),
    auth: new Set(definition.functions.flatMap(({ authRef }) => authRef ?? [])),
  }
  return (['functions', 'events', 'errors', 'retries', 'auth'] as const).flatMap((list) => definition[list].flatMap(({ name }, index): LintWarning[] => {
    // Expression functions are also used by `fn:name` inside expressions (S170).
    const isUsed = used[list].has(name) || (list === 'functions' && text.includes(`fn:${name}`))
    return isUsed ? [] : [{ rule: 'unused-definition', pointer: toPointer([list, index]), message: `${name} of ${list} is never used` }]
  }))
}

function findTimeouts(document: JsonObject, definition: Definition): readonly LintWarning[] {
  const states = document['states'] as readonly JsonObject[]
  return definition.states.flatMap(({ type }, index) => {
    const raw = states[index] ?? {}
    const branches = Array.isArray(raw['branches']) ? raw['branches'] as readonly JsonObject[] : []
    return [
      ...listTimeouts(raw, statePointer(index), { kinds: TIMEOUTS_OF_STATE[type], where: `a state of type ${type}` }),
      ...branches.flatMap((branch, at) => listTimeouts(branch, `${statePointer(index)}/branches/${String(at)}`, { kinds: TIMEOUTS_OF_BRANCH, where: 'a branch' })),
    ]
  })
}

function listTimeouts(
  { timeouts }: JsonObject,
  pointer: string,
  { kinds, where }: { readonly kinds: readonly string[]; readonly where: string },
): readonly LintWarning[] {
  if (!isJsonObject(timeouts)) return []
  return Object.keys(timeouts).filter((kind) => !kinds.includes(kind)).map((kind) => ({
    rule: 'timeout-without-effect',
    pointer: pointer + toPointer(['timeouts', kind]),
    message: `${kind} means nothing in ${where}; it has ${kinds.join(', ')}`,
  }))
}

function findInActions(definition: Definition, state: State, pointer: string): readonly LintWarning[] {
  return actionsOf(state, pointer).flatMap(({ action, pointer: place }): LintWarning[] => {
    const asynchronous = [action.functionRef, action.eventRef, action.subFlowRef].some((reference) => reference?.invoke === 'async')
    const found: (LintWarning | false)[] = [
      action.eventRef !== undefined && Object.keys(action.sleep).length > 0 &&
        { rule: 'sleep-without-effect', pointer: `${place}/sleep`, message: 'sleep is not applied with eventRef (S110)' },
      asynchronous && (action.actionDataFilter.results !== undefined || action.actionDataFilter.toStateData !== undefined) &&
        { rule: 'filter-without-effect', pointer: `${place}/actionDataFilter`, message: 'an asynchronous action has no result to filter (S102, S107, S191)' },
      asynchronous && action.retryRef !== undefined &&
        { rule: 'retry-without-effect', pointer: `${place}/retryRef`, message: 'an asynchronous action is not retried (S102, S107, S191)' },
      definition.autoRetries && action.retryableErrors.length > 0 &&
        { rule: 'retry-without-effect', pointer: `${place}/retryableErrors`, message: 'used only when autoRetries is false (S210)' },
      !definition.autoRetries && action.nonRetryableErrors.length > 0 &&
        { rule: 'retry-without-effect', pointer: `${place}/nonRetryableErrors`, message: 'used only when autoRetries is true (S210)' },
    ]
    return found.filter((warning) => warning !== false)
  })
}

function findBatchSizes(definition: Definition): readonly LintWarning[] {
  return definition.states.flatMap((state, index) => state.type === 'foreach' && state.mode === 'sequential' && state.batchSize !== undefined
    ? [{ rule: 'batch-size-without-effect', pointer: `${statePointer(index)}/batchSize`, message: 'batchSize is used in mode parallel only (S077)' }]
    : [])
}

const KNOWN_EXTENSIONS = new Set(['workflow-uri-definitions', 'workflow-output-schema', 'workflow-kpi-extension', 'workflow-ratelimiting-extension'])

function findExtensions({ extensions }: Definition): readonly LintWarning[] {
  return extensions.flatMap(({ extensionid }, index) => {
    const id = typeof extensionid === 'string' ? extensionid : 'without extensionid'
    return KNOWN_EXTENSIONS.has(id)
      ? []
      : [{
          rule: 'unknown-extension',
          pointer: toPointer(['extensions', index]),
          message: `extension ${id} is not known and has no effect`,
        }]
  })
}
