import { isJsonObject, toPointer, type Json } from '../common/index.ts'

/** Properties that hold a duration, or an object with durations. */
const DURATIONS = new Set([
  'duration', 'before', 'after', 'delay', 'maxDelay', 'increment', 'resultEventTimeout', 'single', 'total',
  'workflowExecTimeout', 'stateExecTimeout', 'actionExecTimeout', 'branchExecTimeout', 'eventTimeout',
])
/** Data of the author, where these names mean nothing. */
const DATA = new Set(['data', 'arguments', 'constants', 'metadata', 'extensions', 'dataInputSchema', 'dataOutputSchema', 'contextAttributes'])

/** A duration of a document with its place. */
export interface PlacedDuration {
  readonly pointer: string
  readonly text: string
}

/** Lists the durations of a document, as written. */
export function durationsOf(value: Json, pointer = ''): readonly PlacedDuration[] {
  if (!isJsonObject(value) && !Array.isArray(value)) return []
  return Object.entries(value as Readonly<Record<string, Json>>).flatMap(([key, child]) => {
    const place = pointer + toPointer([key])
    if (DATA.has(key)) return []
    return DURATIONS.has(key) && typeof child === 'string' ? [{ pointer: place, text: child }] : durationsOf(child, place)
  })
}
