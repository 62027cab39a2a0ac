import type { StateType } from '../types.ts'
import { ANY_TEXT, DURATION, NUMBER_OR_EXPRESSION, ref, TEXT, type Builder, type Schema } from './build.ts'

/** The state types of 0.8; `delay` and `subflow` are of older versions (S097). */
const STATE_TYPES = [
  'operation', 'switch', 'inject', 'parallel', 'event', 'sleep', 'foreach', 'callback',
] as const satisfies readonly StateType[]

/** Schemas of the eight state types and their parts (G3–G11). */
export function stateSchemas(build: Builder): Readonly<Record<string, Schema>> {
  const { onErrors, ...common } = commonProperties(build)
  const going = { ...common, transition: ref('transition'), end: ref('end') }
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
    switchState: switchSchema(build, { ...common, onErrors: onErrors ?? {} }),
    injectState: build.object({ ...going, data: build.tolerate('inject-data', { type: 'object' }, {}) }, ['data'], {
      // Every state has it in the text, this one not in the official schema (S073).
      extra: { onErrors: { tolerance: 'inject-on-errors', schema: onErrors ?? {} } },
    }),
    ...actingSchemas(build, { ...going, onErrors: onErrors ?? {} }),
    ...partSchemas(build),
  }
}

type Properties = Readonly<Record<string, Schema>>

const MODE: Schema = { enum: ['sequential', 'parallel'] }
const OLD_EVENT_TIMEOUT = { eventTimeout: { tolerance: 'state-event-timeout', schema: DURATION } }

function commonProperties({ list, flag }: Builder): Properties {
  return {
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
}

function switchSchema({ object, list }: Builder, common: Properties): Schema {
  return object({
    ...common,
    dataConditions: list(ref('dataCondition')),
    eventConditions: list(ref('eventCondition')),
    defaultCondition: object({ transition: ref('transition'), end: ref('end') }, []),
  }, ['defaultCondition'], { absent: { defaultCondition: 'missing-default-condition' }, extra: OLD_EVENT_TIMEOUT })
}

function actingSchemas({ object, list, flag }: Builder, going: Properties): Properties {
  const actions = list(ref('action'))
  const { usedForCompensation: _never, ...event } = going
  return {
    operationState: object({ ...going, actionMode: MODE, actions }, ['actions'], { absent: { actions: 'missing-actions' } }),
    parallelState: object({
      ...going,
      branches: list(ref('branch')),
      completionType: { enum: ['allOf', 'atLeast'] },
      numCompleted: NUMBER_OR_EXPRESSION,
    }, ['branches']),
    eventState: object({ ...event, exclusive: flag, onEvents: list(ref('onEvents')) }, ['onEvents'], { extra: OLD_EVENT_TIMEOUT }),
    sleepState: object({ ...going, duration: DURATION }, ['duration']),
    foreachState: object({
      ...going,
      inputCollection: TEXT,
      outputCollection: TEXT,
      iterationParam: TEXT,
      batchSize: NUMBER_OR_EXPRESSION,
      mode: MODE,
      actions,
    }, ['inputCollection', 'actions']),
    callbackState: object({
      ...going,
      action: ref('action'),
      eventRef: TEXT,
      eventDataFilter: ref('eventDataFilter'),
    }, ['action', 'eventRef'], { extra: OLD_EVENT_TIMEOUT }),
  }
}

function partSchemas({ object, list }: Builder): Properties {
  const actions = list(ref('action'))
  return {
    branch: object({ name: TEXT, timeouts: ref('stateTimeouts'), actions }, ['name', 'actions'], {
      absent: { name: 'missing-branch-name', actions: 'missing-actions' },
    }),
    onEvents: object({
      eventRefs: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
      actionMode: MODE,
      actions,
      eventDataFilter: ref('eventDataFilter'),
    }, ['eventRefs']),
    dataCondition: object({ ...condition(), condition: ANY_TEXT }, ['condition']),
    eventCondition: object({ ...condition(), eventRef: TEXT, eventDataFilter: ref('eventDataFilter') }, ['eventRef']),
  }
}

function condition(): Properties {
  return { name: ANY_TEXT, transition: ref('transition'), end: ref('end'), metadata: ref('metadata') }
}
