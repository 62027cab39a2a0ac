import type { PathContext, PathOutput } from './context.ts'
import { actionAt, type Program } from './program.ts'
import { mayRetry } from './retry.ts'
import { errorOf } from './steps/flow.ts'
import { addressOf, stateOf, type StepEvent, type StepParams } from './steps/step.ts'

/** Decides whether a transition is taken; reads only context and event. */
export type Guard = (context: PathContext, params: StepParams, event: StepEvent, program: Program) => boolean

const entryOf = (event: StepEvent): number => (event.output as { entry?: number } | undefined)?.entry ?? 0

/** Guards by the name under which machine configs know them. */
export const GUARDS: Readonly<Record<string, Guard>> = {
  hasFailure: (context) => context.failure !== undefined,
  childFailed: (_context, _params, event) => (event.output as PathOutput | undefined)?.failure !== undefined,
  errorMatches: (context, params, event, program) => {
    const error = errorOf(context, event)
    if (error === undefined) return false
    const handler = stateOf(program, params).state.onErrors[Number(params['handler'])]
    return handler?.errorRefs.some((name) => name === '*' || (program.errors.get(name)?.(error) ?? false)) ?? false
  },
  mayRetry: (context, params, event, program) => {
    const { action } = actionAt(program, addressOf(params))
    return mayRetry(program, action, context.retries?.[params.node ?? ''], errorOf(context, event))
  },
  wasSkipped: (_context, _params, event) => (event.output as { skipped?: boolean } | undefined)?.skipped === true,
  chose: (context, params) => context.choice === params['choice'],
  received: (_context, params, event) => entryOf(event) === params['entry'],
  receivesLast: (context) => (context.expected ?? 1) <= 1,
  hasAnswer: (context) => context.answer !== undefined,
  joins: (context) => context.join !== undefined && context.join.completed + 1 >= context.join.required,
  loopIsEmpty: (context) => context.loop?.items.length === 0,
  endsLoop: (context) => context.loop !== undefined && context.loop.completed + 1 === context.loop.items.length,
  endsBatch: (context) => context.loop !== undefined && context.loop.completed + 1 === context.loop.next,
  compensates: (context, params, _event, program) => {
    const next = context.compensating?.queue[0]
    const compensatedBy = next === undefined ? undefined : program.states[next]?.state.compensatedBy
    return compensatedBy !== undefined && program.stateIndex.get(compensatedBy) === params.state
  },
  returnsTo: (context, params) => context.compensating?.queue.length === 0 && context.compensating.returnTo === params.node,
  triggers: (_context, params, event) => event.data === params.state,
}
