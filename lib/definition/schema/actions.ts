import { ANY_TEXT, DURATION, ref, TEXT, type Builder, type Schema } from './build.ts'

/** Schemas of actions, their references and filters (G12, G15). */
export function actionSchemas(build: Builder): Readonly<Record<string, Schema>> {
  const { object, textOr, list, tolerate } = build
  const invoke = { enum: ['sync', 'async'] }
  return {
    action: object({
      id: ANY_TEXT,
      name: ANY_TEXT,
      functionRef: ref('functionRef'),
      eventRef: ref('actionEventRef'),
      subFlowRef: ref('subFlowRef'),
      sleep: ref('sleep'),
      retryRef: ANY_TEXT,
      nonRetryableErrors: list(ANY_TEXT, 1),
      retryableErrors: list(ANY_TEXT, 1),
      actionDataFilter: ref('actionDataFilter'),
      condition: tolerate('boolean-condition', TEXT, { type: ['string', 'boolean'], minLength: 1 }),
    }, []),
    functionRef: textOr(object({
      refName: TEXT,
      arguments: tolerate('arguments-form', { type: 'object' }, { type: ['object', 'array', 'string'] }),
      selectionSet: ANY_TEXT,
      invoke,
    }, ['refName'], {
      extra: {
        name: { tolerance: 'ignored-name', schema: {} },
        parameters: { tolerance: 'ignored-parameters', schema: {} },
      },
    })),
    actionEventRef: object({
      triggerEventRef: TEXT,
      resultEventRef: ANY_TEXT,
      resultEventTimeout: DURATION,
      data: { type: ['string', 'object'] },
      contextAttributes: ref('contextAttributes'),
      invoke,
    }, ['triggerEventRef', 'resultEventRef'], { absent: { resultEventRef: 'missing-result-event' } }),
    subFlowRef: textOr(object({
      workflowId: TEXT,
      version: TEXT,
      invoke,
      onParentComplete: { enum: ['terminate', 'continue'] },
    }, ['workflowId'], { open: true })),
    // The official schema rejects before and after together, which its text allows (S110).
    sleep: object({ before: DURATION, after: DURATION }, [], { open: true }),
    ...filterSchemas(build),
    contextAttributes: {
      ...tolerate('context-attributes-form', { type: 'object' }, { type: ['object', 'array'], items: { type: 'object' } }),
      additionalProperties: tolerate('attribute-value', ANY_TEXT, { type: ['string', 'number', 'boolean'] }),
    },
  }
}

function filterSchemas({ object, flag }: Builder): Readonly<Record<string, Schema>> {
  return {
    actionDataFilter: object({ fromStateData: ANY_TEXT, useResults: flag, results: ANY_TEXT, toStateData: ANY_TEXT }, []),
    eventDataFilter: object({ useData: flag, data: ANY_TEXT, toStateData: ANY_TEXT }, []),
    stateDataFilter: object({ input: ANY_TEXT, output: ANY_TEXT }, []),
  }
}
