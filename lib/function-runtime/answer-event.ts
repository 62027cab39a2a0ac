import type { IdSource } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import { dataOf, isEventOutput } from './event.ts'
import type { ResolvedFunction } from './resolve-functions.ts'
import { invalidOutput, type Slot } from './values.ts'

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

/** The event that answers an event; its data is not encoded yet. */
export interface EventAnswer {
  /** Attributes. */
  readonly record: CloudEventRecord
  readonly data: Answer['data']
  /** What the data has to be. */
  readonly slot: Slot
}

/**
 * Makes the event that answers an event from a handler's result: defaults of the function, then whatever the handler has set.
 *
 * @returns `undefined` when the result is no answer
 * @throws {@link FunctionError} `FUNCTION_FAILED` when the output is not what the function promises
 */
export function toEventAnswer(one: ResolvedFunction, given: unknown, { specversion, ids }: { readonly specversion: string; readonly ids: IdSource }): EventAnswer | undefined {
  const { answer, data } = answerOf(one, given)
  if (answer === 'none') return undefined
  const set = isEventOutput(given) ? given.attributes : undefined
  const record = { specversion, id: set?.['id'] === undefined ? ids.next() : '', source: one.responseSource, type: one.responseType, ...set }
  return { record, data, slot: one.output }
}
