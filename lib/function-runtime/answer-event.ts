import type { CloudEventRecord } from '../events/index.ts'
import { dataOf, isEventOutput } from './event.ts'
import type { ResolvedFunction } from './resolve-functions.ts'
import { invalidOutput } from './values.ts'

/** What a handler's result amounts to (function-runtime.md §5, second table). */
export interface Answer {
  /** `none`: 204 without event; `value`: a value with default attributes; `event`: made by `event()`. */
  readonly answer: 'none' | 'value' | 'event'
  /** Absent for an event without data. */
  readonly data: { readonly value: unknown } | undefined
}

const NONE: Answer = { answer: 'none', data: undefined }

/**
 * Tells what a handler's result amounts to; only the output descriptor decides, never the input.
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` when an event was promised and none given, or the other way round
 */
export function answerOf(one: ResolvedFunction, given: unknown): Answer {
  if (!one.output.wrapped) {
    if (given === undefined || one.output.kind === 'nothing') return NONE
    if (isEventOutput(given)) throw invalidOutput(one.name, 'it is an event; declare the output as cloudEvent(…)')
    return { answer: 'value', data: { value: given } }
  }
  if (given === undefined || given === null) return NONE
  if (!isEventOutput(given)) throw invalidOutput(one.name, 'it is no event; return event({ … })')
  const data = dataOf(given)
  if (data !== undefined && one.output.kind === 'nothing') {
    throw invalidOutput(one.name, 'it has data, and the output is declared as cloudEvent(nothing)')
  }
  return { answer: 'event', data }
}

/** Makes the attributes of the answering event: defaults of the function, then whatever the handler has set. */
export function toAnswerRecord(one: ResolvedFunction, given: unknown, specversion: string, nextId: () => string): CloudEventRecord {
  const set = isEventOutput(given) ? given.attributes : undefined
  return {
    specversion,
    id: set?.['id'] === undefined ? nextId() : '',
    source: one.responseSource,
    type: one.responseType,
    ...set,
  }
}
