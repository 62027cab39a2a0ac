import { compact, isJsonObject } from '../../common/index.ts'
import type { ContinueAs, Continuation, End, OnError, ProducedEvent, Transition, WorkflowExecTimeout } from '../types.ts'
import {
  readContextAttributes, readData, readFlag, readJson, readMilliseconds, readName, readNames, readObject, readObjects,
  type ReadContext,
} from './read.ts'

/** Writes out where a state, condition or error handler goes on: `transition` or `end` (S096). */
export function normaliseContinuation(source: unknown, context: ReadContext): Continuation {
  const { transition, end } = readObject(source)
  return compact({ transition: normaliseTransition(transition), end: normaliseEnd(end, context) })
}

/** Writes out a transition; a text is the name of the next state (S277). */
function normaliseTransition(source: unknown): Transition | undefined {
  if (typeof source === 'string') return { nextState: source.trim(), compensate: false, produceEvents: [] }
  if (!isJsonObject(source)) return undefined
  return {
    nextState: readName(source['nextState']) ?? '',
    compensate: readFlag(source['compensate'], false),
    produceEvents: normaliseProducedEvents(source['produceEvents']),
  }
}

/** Writes out an end; `true` has no terminate, events or compensation (S266), `continueAs` implies terminate (S274). */
function normaliseEnd(source: unknown, context: ReadContext): End | undefined {
  if (readFlag(source, false)) return { terminate: false, compensate: false, produceEvents: [] }
  if (!isJsonObject(source)) return undefined
  const continueAs = normaliseContinueAs(source['continueAs'], context)
  return compact({
    terminate: readFlag(source['terminate'], false) || continueAs !== undefined,
    compensate: readFlag(source['compensate'], false),
    produceEvents: normaliseProducedEvents(source['produceEvents']),
    continueAs,
  })
}

/** Writes out the handlers of a state; `errorRef` and `errorRefs` become one list (S198). */
export function normaliseOnErrors(source: unknown, context: ReadContext): readonly OnError[] {
  return readObjects(source).map((handler) => {
    const single = readName(handler['errorRef'])
    return {
      errorRefs: single === undefined ? readNames(handler['errorRefs']) : [single],
      ...normaliseContinuation(handler, context),
    }
  })
}

/** Writes out a workflow timeout; `interrupt` is false when absent (S228, A15). */
export function normaliseWorkflowExecTimeout(source: unknown, context: ReadContext): WorkflowExecTimeout | undefined {
  const properties = isJsonObject(source) ? source : { duration: source }
  const duration = readMilliseconds(properties['duration'], context)
  if (duration === undefined) return undefined
  return compact({
    duration,
    interrupt: readFlag(readObject(source)['interrupt'], context.profile === 'sonataflow'),
    runBefore: readName(readObject(source)['runBefore']),
  })
}

function normaliseContinueAs(source: unknown, context: ReadContext): ContinueAs | undefined {
  if (typeof source === 'string') return { workflowId: source.trim() }
  if (!isJsonObject(source)) return undefined
  return compact({
    workflowId: readName(source['workflowId']) ?? '',
    version: readName(source['version']),
    data: readData(source['data']),
    workflowExecTimeout: normaliseWorkflowExecTimeout(source['workflowExecTimeout'], context),
  })
}

function normaliseProducedEvents(source: unknown): readonly ProducedEvent[] {
  return readObjects(source).map((event) => compact({
    eventRef: readName(event['eventRef']) ?? '',
    data: readJson(event['data']),
    contextAttributes: readContextAttributes(event['contextAttributes']),
  }))
}
