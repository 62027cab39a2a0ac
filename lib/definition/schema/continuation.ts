import { ANY_TEXT, DURATION, ref, TEXT, type Builder, type Schema } from './build.ts'

/** Schemas of start, transition, end, error handlers and timeouts (G19–G24). */
export function continuationSchemas(build: Builder): Readonly<Record<string, Schema>> {
  const { object, textOr, list, flag } = build
  return {
    start: textOr(object({ stateName: TEXT, schedule: ref('schedule') }, ['stateName', 'schedule'], { absent: { schedule: 'missing-schedule' } })),
    schedule: textOr(object({ interval: TEXT, cron: ref('cron'), timezone: ANY_TEXT }, [])),
    cron: textOr(object({ expression: TEXT, validUntil: ANY_TEXT }, ['expression'])),
    transition: textOr(object({ nextState: TEXT, produceEvents: list(ref('producedEvent')), compensate: flag }, ['nextState'])),
    end: build.tolerate(
      'text-boolean',
      { ...endObject(build), type: ['boolean', 'object'] },
      { ...endObject(build), type: ['boolean', 'object', 'string'], pattern: '^(true|false)$' },
    ),
    producedEvent: object({
      eventRef: TEXT,
      data: { type: ['string', 'object'] },
      contextAttributes: ref('contextAttributes'),
    }, ['eventRef']),
    continueAs: textOr(object({
      workflowId: TEXT,
      version: TEXT,
      data: { type: ['string', 'object'] },
      workflowExecTimeout: ref('workflowExecTimeout'),
    }, ['workflowId'], { open: true })),
    onError: object({
      errorRef: TEXT,
      errorRefs: { type: 'array', items: { type: 'string' }, minItems: 1 },
      transition: ref('transition'),
      end: ref('end'),
    }, []),
    timeouts: textOr(object({
      workflowExecTimeout: ref('workflowExecTimeout'),
      stateExecTimeout: ref('stateExecTimeout'),
      actionExecTimeout: DURATION,
      branchExecTimeout: DURATION,
      eventTimeout: DURATION,
    }, [])),
    stateTimeouts: object({
      stateExecTimeout: ref('stateExecTimeout'),
      actionExecTimeout: DURATION,
      branchExecTimeout: DURATION,
      eventTimeout: DURATION,
    }, [], { open: true }),
    workflowExecTimeout: { ...textOr(object({ duration: DURATION, interrupt: flag, runBefore: TEXT }, ['duration'])), format: 'swf-duration' },
    stateExecTimeout: { ...textOr(object({ single: DURATION, total: DURATION }, ['total'])), format: 'swf-duration' },
  }
}

function endObject({ object, list, flag }: Builder): Schema {
  return object({ terminate: flag, produceEvents: list(ref('producedEvent')), compensate: flag, continueAs: ref('continueAs') }, [])
}
