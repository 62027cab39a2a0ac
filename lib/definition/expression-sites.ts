import { isJsonObject, toPointer, type Json } from '../common/index.ts'
import type { Action, Definition, State } from './types.ts'
import { actionsOf, continuationsOf, eventFiltersOf, exitsOf, statePointer } from './walk.ts'

/**
 * What a text is for, in the words of the expression compiler: `condition`, `filter` (also a number, or the
 * operation of an expression
 * function), `template` (a text of data that may be or hold expressions), `list`, `text` and `target`.
 */
type ExpressionPurpose = 'condition' | 'filter' | 'template' | 'list' | 'text' | 'target'

/** A place of a definition where an expression may stand. */
export interface ExpressionSite {
  readonly pointer: string
  /** As the author wrote it. */
  readonly text: string
  readonly purpose: ExpressionPurpose
}

/**
 * Lists all places of a definition where expressions may stand, in document order of their parts; data is listed
 * text by text.
 */
export function expressionSites(definition: Definition): readonly ExpressionSite[] {
  const sites: ExpressionSite[] = []
  if (definition.version.includes('${')) sites.push({ pointer: '/version', text: definition.version, purpose: 'text' })
  definition.functions.forEach(({ type, operation }, index) => {
    if (type === 'expression') sites.push({ pointer: toPointer(['functions', index, 'operation']), text: operation, purpose: 'filter' })
  })
  definition.events.forEach(({ correlation }, index) => {
    correlation.forEach(({ contextAttributeValue }, at) => {
      sites.push(...site(toPointer(['events', index, 'correlation', at, 'contextAttributeValue']), contextAttributeValue, 'template'))
    })
  })
  definition.auth.forEach(({ properties }, index) => {
    const pointer = toPointer(['auth', index, 'properties'])
    sites.push(...(typeof properties === 'string' ? site(pointer, properties, 'filter') : texts(pointer, properties)))
  })
  definition.states.forEach((state, index) => sites.push(...stateSites(state, statePointer(index))))
  return sites
}

function stateSites(state: State, pointer: string): readonly ExpressionSite[] {
  const errorMessage = state.metadata['errorMessage']
  return [
    ...site(`${pointer}/stateDataFilter/input`, state.stateDataFilter.input, 'filter'),
    ...typeSites(state, pointer),
    ...eventFiltersOf(state, pointer).flatMap(({ pointer: place, filter }) => [
      ...site(`${place}/data`, filter.data, 'filter'),
      ...site(`${place}/toStateData`, filter.toStateData, 'target'),
    ]),
    ...actionsOf(state, pointer).flatMap(({ pointer: place, action }) => actionSites(action, place)),
    ...site(`${pointer}/stateDataFilter/output`, state.stateDataFilter.output, 'filter'),
    ...exitsOf(state, pointer).flatMap(({ pointer: place, exit }) => exit.produceEvents.flatMap((event, index) => [
      ...dataSites(`${place}/produceEvents/${String(index)}/data`, event.data),
      ...texts(`${place}/produceEvents/${String(index)}/contextAttributes`, event.contextAttributes),
    ])),
    ...continuationsOf(state, pointer).flatMap(({ pointer: place, continuation: { end } }) => dataSites(`${place}/end/continueAs/data`, end?.continueAs?.data)),
    ...(typeof errorMessage === 'string' ? site(`${pointer}/metadata/errorMessage`, errorMessage, 'text') : []),
  ]
}

function typeSites(state: State, pointer: string): readonly ExpressionSite[] {
  switch (state.type) {
    case 'switch':
      return state.dataConditions.flatMap(({ condition }, index) => site(`${pointer}/dataConditions/${String(index)}/condition`, condition, 'condition'))
    case 'inject':
      return texts(`${pointer}/data`, state.data)
    case 'foreach':
      return [
        ...site(`${pointer}/inputCollection`, state.inputCollection, 'list'),
        ...site(`${pointer}/outputCollection`, state.outputCollection, 'target'),
        ...site(`${pointer}/batchSize`, state.batchSize, 'filter'),
      ]
    case 'parallel':
      return site(`${pointer}/numCompleted`, state.numCompleted, 'filter')
    case 'operation':
    case 'event':
    case 'sleep':
    case 'callback':
      return []
  }
}

function actionSites(action: Action, pointer: string): readonly ExpressionSite[] {
  const { actionDataFilter: filter, functionRef, eventRef } = action
  return [
    ...site(`${pointer}/condition`, action.condition, 'condition'),
    ...site(`${pointer}/actionDataFilter/fromStateData`, filter.fromStateData, 'filter'),
    ...texts(`${pointer}/functionRef/arguments`, functionRef?.arguments),
    ...site(`${pointer}/functionRef/selectionSet`, functionRef?.selectionSet, 'text'),
    ...dataSites(`${pointer}/eventRef/data`, eventRef?.data),
    ...texts(`${pointer}/eventRef/contextAttributes`, eventRef?.contextAttributes),
    ...site(`${pointer}/actionDataFilter/results`, filter.results, 'filter'),
    ...site(`${pointer}/actionDataFilter/toStateData`, filter.toStateData, 'target'),
  ]
}

function site(pointer: string, text: string | number | undefined, purpose: ExpressionPurpose): readonly ExpressionSite[] {
  return typeof text === 'string' ? [{ pointer, text, purpose }] : []
}

/** A text as a whole is an expression; in an object each text may be one. */
function dataSites(pointer: string, data: Json | undefined): readonly ExpressionSite[] {
  return typeof data === 'string' ? site(pointer, data, 'filter') : texts(pointer, data)
}

function texts(pointer: string, value: Json | undefined): readonly ExpressionSite[] {
  if (typeof value === 'string') return site(pointer, value, 'template')
  if (Array.isArray(value) || isJsonObject(value)) {
    return Object.entries(value as Readonly<Record<string, Json>>).flatMap(([key, child]) => texts(pointer + toPointer([key]), child))
  }
  return []
}
