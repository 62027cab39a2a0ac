import type { StateType } from '../types.ts'
import { ANY_TEXT, DURATION, NUMBER_OR_EXPRESSION, ref, TEXT, type Builder, type Schema } from './build.ts'

/** The state types of 0.8; `delay` and `subflow` are of older versions (S097). */
export const STATE_TYPES = [
  'operation', 'switch', 'inject', 'parallel', 'event', 'sleep', 'foreach', 'callback',
] as const satisfies readonly StateType[]

/** Schemas of the eight state types and their parts (G3–G11). */
export function stateSchemas(build: Builder): Readonly<Record<string, Schema>> {
  const { object, list, flag, tolerate } = build
  const mode = { enum: ['sequential', 'parallel'] }
  const actions = list(ref('action'))
  const common = {
    id: TEXT,
    name: TEXT,
    type: {},
    stateDataFilter: ref('stateDataFilter'),
    timeouts: ref('stateTimeouts'),
    onErrors: list(ref('onError')),
    compensatedBy: TEXT,
    usedForCompensation: flag,
    metadata: ref('metadata'),
  }
  const going = { ...common, transition: ref('transition'), end: ref('end') }
  const { onErrors, ...withoutErrors } = going
  const { usedForCompensation: _never, ...event } = going
  return {
    state: {
      type: 'object',
      required: ['name', 'type'],
      properties: { type: { enum: STATE_TYPES } },
      allOf: STATE_TYPES.map((type) => ({
        if: { properties: { type: { const: type } }, required: ['type'] },
        then: ref(`${type}State`),
      })),
    },
    operationState: object({ ...going, actionMode: mode, actions }, ['actions'], { absent: { actions: 'missing-actions' } }),
    switchState: object({
      ...common,
      dataConditions: list(ref('dataCondition')),
      eventConditions: list(ref('eventCondition')),
      defaultCondition: object({ transition: ref('transition'), end: ref('end') }, []),
    }, ['defaultCondition'], {
      absent: { defaultCondition: 'missing-default-condition' },
      extra: { eventTimeout: { tolerance: 'state-event-timeout', schema: DURATION } },
    }),
    injectState: object({
      ...withoutErrors,
      data: tolerate('inject-data', { type: 'object' }, {}),
    }, ['data'], { extra: { onErrors: { tolerance: 'inject-on-errors', schema: onErrors } } }),
    parallelState: object({
      ...going,
      branches: list(ref('branch')),
      completionType: { enum: ['allOf', 'atLeast'] },
      numCompleted: NUMBER_OR_EXPRESSION,
    }, ['branches']),
    branch: object({ name: TEXT, timeouts: ref('stateTimeouts'), actions }, ['name', 'actions'], {
      absent: { name: 'missing-branch-name', actions: 'missing-actions' },
    }),
    eventState: object({ ...event, exclusive: flag, onEvents: list(ref('onEvents')) }, ['onEvents'], {
      extra: { eventTimeout: { tolerance: 'state-event-timeout', schema: DURATION } },
    }),
    onEvents: object({
      eventRefs: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
      actionMode: mode,
      actions,
      eventDataFilter: ref('eventDataFilter'),
    }, ['eventRefs']),
    sleepState: object({ ...going, duration: DURATION }, ['duration']),
    foreachState: object({
      ...going,
      inputCollection: TEXT,
      outputCollection: TEXT,
      iterationParam: TEXT,
      batchSize: NUMBER_OR_EXPRESSION,
      mode,
      actions,
    }, ['inputCollection', 'actions']),
    callbackState: object({
      ...going,
      action: ref('action'),
      eventRef: TEXT,
      eventDataFilter: ref('eventDataFilter'),
    }, ['action', 'eventRef'], { extra: { eventTimeout: { tolerance: 'state-event-timeout', schema: DURATION } } }),
    dataCondition: object({ ...condition(), condition: ANY_TEXT }, ['condition']),
    eventCondition: object({ ...condition(), eventRef: TEXT, eventDataFilter: ref('eventDataFilter') }, ['eventRef']),
  }
}

function condition(): Readonly<Record<string, Schema>> {
  return { name: ANY_TEXT, transition: ref('transition'), end: ref('end'), metadata: ref('metadata') }
}
