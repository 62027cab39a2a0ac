import type { Json } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import type { ActionOutput, EventOutput, PathContext } from './context.ts'
import type { EffectInput } from './effect.ts'
import { actionAt, type Program } from './program.ts'
import { addressOf, chain, type StepScope } from './steps/step.ts'

/** An event that came for a wait of an instance. */
export interface Reception {
  readonly program: Program
  readonly scope: StepScope
  readonly context: PathContext
  readonly input: EffectInput
  readonly entry: number
  readonly event: CloudEventRecord
  readonly correlation: Readonly<Record<string, string>>
}

/**
 * Filters the payload of an event: its data, or the whole event with `dataOnly: false` (S133, S153–S155).
 *
 * The answer to an event action is a result and goes through the action's filters instead.
 */
export function receiveEvent(reception: Reception): MaybePromise<EventOutput | ActionOutput> {
  const { program, scope, context, input, entry, event, correlation } = reception
  const payload = payloadOf(program, event, eventNameOf(input, entry))
  if (input['answer'] === true || input.effect === 'action') {
    const { action, results } = actionAt(program, addressOf(input))
    if (!action.actionDataFilter.useResults) return {}
    return results === undefined ? { result: payload } : chain(results.evaluate(payload, scope.bindings(context)), (result) => ({ result }))
  }
  const filter = program.states[input.state ?? 0]?.eventFilters[entry]
  const filtered: MaybePromise<Json> = filter?.data === undefined || !filter.filter.useData ? payload : filter.data.evaluate(payload, scope.bindings(context))
  return chain(filtered, (value) => ({ entry, event, payload: value, correlation }))
}

function eventNameOf(input: EffectInput, entry: number): string {
  const events = (input['events'] ?? []) as unknown as readonly { event: string; entry?: number }[]
  return (events.find((candidate) => candidate.entry === entry) ?? events[0])?.event ?? ''
}

function payloadOf(program: Program, event: CloudEventRecord, name: string): Json {
  const whole = program.events.get(name)?.dataOnly === false
  return (whole ? event : event.data) ?? null
}
