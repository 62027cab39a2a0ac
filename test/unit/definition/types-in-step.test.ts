import { expect } from 'chai'
import type * as types from '../../../lib/definition/index.ts'
import { createWorkflowSchema } from '../../../lib/definition/schema/workflow.ts'

type Keys<Type> = Readonly<Record<keyof Type, 1>>

interface Step {
  /** Properties of the type; the compiler keeps them complete. */
  readonly keys: Readonly<Record<string, 1>>
  /** Properties that only the normalised type has, and why. */
  readonly onlyType?: Readonly<Record<string, string>>
  /** Properties that only the document has, and why. */
  readonly onlySchema?: Readonly<Record<string, string>>
}

const COMMON = { id: 1, name: 1, stateDataFilter: 1, onErrors: 1, timeouts: 1, compensatedBy: 1, usedForCompensation: 1, metadata: 1, type: 1 } as const
const GOING = { ...COMMON, transition: 1, end: 1 } as const
const NO_ERRORS = { onErrors: 'the specification and its schema disagree (S073): tolerated' }

const STEPS: Readonly<Record<string, Step>> = {
  workflow: {
    keys: {
      id: 1, key: 1, name: 1, description: 1, version: 1, annotations: 1, specVersion: 1, expressionLang: 1, profile: 1, start: 1, dataInputSchema: 1,
      dataOutputSchema: 1, constants: 1, secrets: 1, keepActive: 1, autoRetries: 1, functions: 1, events: 1, errors: 1, retries: 1, auth: 1, timeouts: 1,
      states: 1, extensions: 1, metadata: 1,
    } satisfies Keys<types.Definition>,
    onlyType: { profile: 'of the settings or the metadata' },
  },
  start: { keys: { stateName: 1, schedule: 1 } satisfies Keys<types.Start> },
  schedule: { keys: { interval: 1, cron: 1, timezone: 1 } satisfies Keys<types.Schedule> },
  cron: { keys: { expression: 1, validUntil: 1 } satisfies Keys<NonNullable<types.Schedule['cron']>> },
  dataSchema: { keys: { schema: 1, failOnValidationErrors: 1, uri: 1 } satisfies Keys<types.DataSchema>, onlyType: { uri: 'written by the loader' } },
  function: { keys: { name: 1, type: 1, operation: 1, authRef: 1, metadata: 1 } satisfies Keys<types.FunctionDefinition> },
  event: { keys: { name: 1, type: 1, source: 1, kind: 1, dataOnly: 1, correlation: 1, metadata: 1 } satisfies Keys<types.EventDefinition> },
  correlation: { keys: { contextAttributeName: 1, contextAttributeValue: 1 } satisfies Keys<types.Correlation> },
  error: { keys: { name: 1, code: 1, description: 1 } satisfies Keys<types.ErrorDefinition> },
  retry: { keys: { name: 1, delay: 1, maxDelay: 1, increment: 1, multiplier: 1, maxAttempts: 1, jitter: 1 } satisfies Keys<types.RetryDefinition> },
  auth: { keys: { name: 1, scheme: 1, properties: 1 } satisfies Keys<types.AuthDefinition> },
  workflowExecTimeout: { keys: { duration: 1, interrupt: 1, runBefore: 1 } satisfies Keys<types.WorkflowExecTimeout> },
  stateTimeouts: { keys: { stateExecTimeout: 1, actionExecTimeout: 1, branchExecTimeout: 1, eventTimeout: 1 } satisfies Keys<types.Timeouts> },
  stateExecTimeout: { keys: { total: 1, single: 1 } satisfies Keys<NonNullable<types.Timeouts['stateExecTimeout']>> },
  operationState: { keys: { ...GOING, actionMode: 1, actions: 1 } satisfies Keys<types.OperationState> },
  switchState: { keys: { ...COMMON, dataConditions: 1, eventConditions: 1, defaultCondition: 1 } satisfies Keys<types.SwitchState> },
  injectState: { keys: { ...GOING, data: 1 } satisfies Keys<types.InjectState>, onlyType: NO_ERRORS },
  parallelState: {
    keys: { ...GOING, completionType: 1, numCompleted: 1, branchData: 1, branches: 1 } satisfies Keys<types.ParallelState>,
    onlyType: { branchData: 'of the settings or metadata.branchData (A19)' },
  },
  branch: { keys: { name: 1, actions: 1, timeouts: 1 } satisfies Keys<types.Branch> },
  eventState: {
    keys: { ...GOING, exclusive: 1, onEvents: 1 } satisfies Keys<types.EventState>,
    onlyType: { usedForCompensation: 'false on every event state (S027)' },
  },
  onEvents: { keys: { eventRefs: 1, actionMode: 1, actions: 1, eventDataFilter: 1 } satisfies Keys<types.OnEvents> },
  sleepState: { keys: { ...GOING, duration: 1 } satisfies Keys<types.SleepState> },
  foreachState: {
    keys: { ...GOING, inputCollection: 1, outputCollection: 1, iterationParam: 1, batchSize: 1, mode: 1, actions: 1 } satisfies Keys<types.ForEachState>,
  },
  callbackState: { keys: { ...GOING, action: 1, eventRef: 1, eventDataFilter: 1 } satisfies Keys<types.CallbackState> },
  dataCondition: { keys: { name: 1, condition: 1, metadata: 1, transition: 1, end: 1 } satisfies Keys<types.DataCondition> },
  eventCondition: { keys: { name: 1, eventRef: 1, eventDataFilter: 1, metadata: 1, transition: 1, end: 1 } satisfies Keys<types.EventCondition> },
  action: {
    keys: {
      name: 1, functionRef: 1, eventRef: 1, subFlowRef: 1, condition: 1, sleep: 1, retryRef: 1, retryableErrors: 1, nonRetryableErrors: 1, actionDataFilter: 1,
    } satisfies Keys<types.Action>,
    onlySchema: { id: 'nothing refers to it' },
  },
  functionRef: { keys: { refName: 1, arguments: 1, selectionSet: 1, invoke: 1 } satisfies Keys<types.FunctionRef> },
  actionEventRef: {
    keys: { triggerEventRef: 1, resultEventRef: 1, resultEventTimeout: 1, data: 1, contextAttributes: 1, invoke: 1 } satisfies Keys<types.ActionEventRef>,
  },
  subFlowRef: { keys: { workflowId: 1, version: 1, invoke: 1, onParentComplete: 1 } satisfies Keys<types.SubFlowRef> },
  sleep: { keys: { before: 1, after: 1 } satisfies Keys<types.Action['sleep']> },
  actionDataFilter: { keys: { fromStateData: 1, results: 1, toStateData: 1, useResults: 1 } satisfies Keys<types.ActionDataFilter> },
  eventDataFilter: { keys: { data: 1, toStateData: 1, useData: 1 } satisfies Keys<types.EventDataFilter> },
  stateDataFilter: { keys: { input: 1, output: 1 } satisfies Keys<types.StateCommon['stateDataFilter']> },
  transition: { keys: { nextState: 1, compensate: 1, produceEvents: 1 } satisfies Keys<types.Transition> },
  end: { keys: { terminate: 1, compensate: 1, produceEvents: 1, continueAs: 1 } satisfies Keys<types.End> },
  continueAs: { keys: { workflowId: 1, version: 1, data: 1, workflowExecTimeout: 1 } satisfies Keys<types.ContinueAs> },
  producedEvent: { keys: { eventRef: 1, data: 1, contextAttributes: 1 } satisfies Keys<types.ProducedEvent> },
  onError: {
    keys: { errorRefs: 1, transition: 1, end: 1 } satisfies Keys<types.OnError>,
    onlySchema: { errorRef: 'becomes errorRefs' },
  },
}

describe('definition types and schema', () => {
  const schema = createWorkflowSchema('strict') as { readonly properties: object; readonly $defs: Readonly<Record<string, { readonly properties?: object }>> }

  for (const [name, { keys, onlyType = {}, onlySchema = {} }] of Object.entries(STEPS)) {
    it(`have the same properties: ${name}`, () => {
      const properties = Object.keys((name === 'workflow' ? schema : schema.$defs[name])?.properties ?? {})
      expect(properties.filter((key) => !(key in onlySchema)).sort()).to.deep.equal(Object.keys(keys).filter((key) => !(key in onlyType)).sort())
      for (const key of Object.keys(onlyType)) expect(keys, key).to.have.property(key)
      for (const key of Object.keys(onlySchema)) expect(properties, key).to.include(key)
    })
  }

  it('leave no object of the schema out', () => {
    const objects = Object.entries(schema.$defs).filter(([, { properties }]) => properties !== undefined).map(([name]) => name)
    const others = ['state', 'timeouts']
    expect(objects.filter((name) => !others.includes(name) && !(name in STEPS))).to.deep.equal([])
  })
})
