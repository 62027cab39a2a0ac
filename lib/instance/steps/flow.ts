import type { Json } from '../../common/index.ts'
import { mergeResult } from '../../expressions/index.ts'
import type { ActionOutput, EventOutput, LoopProgress, PathContext, PathOutput, RecordedFailure, WorkflowOutput } from '../context.ts'
import { actionAt, type CompiledEventFilter } from '../program.ts'
import { nodeIdOf } from '../node-id.ts'
import { pagesOf, withEntry } from '../pages.ts'
import { nextRetry } from '../retry.ts'
import { toWorkflowError, type WorkflowError } from '../workflow-error.ts'
import { addressOf, stateOf, type FlowStep, type Patch, type StepEvent, type StepParams, type StepScope } from './step.ts'

/** The error that a machine event carries, or the one a step left in the context. */
export function errorOf(context: PathContext, event: StepEvent): WorkflowError | undefined {
  if (event.type.startsWith('xstate.error.')) return toWorkflowError(event.error)
  const output = event.output as PathOutput | undefined
  if (event.type.startsWith('xstate.done.actor.') && output?.failure !== undefined) return output.failure
  return context.failure
}

/** S156–S162: the result of an action is merged into the data, at its target (S151). */
const mergeActionResult: FlowStep = (context, params, event, scope) => {
  const output = event.output as ActionOutput | undefined
  const result = output?.result
  return {
    ...merged(context, params, result, scope),
    ...kept(output, scope),
    ...(context.own === true && result !== undefined ? { result } : {}),
    ...(context.retries === undefined ? {} : { retries: {} }),
  }
}

function merged(context: PathContext, params: StepParams, result: Json | undefined, { program }: StepScope): Patch {
  if (result === undefined || result === null) return {}
  const { target } = actionAt(program, addressOf(params))
  return { data: target === undefined ? mergeResult(context.data, result, program.profile) : target.merge(context.data, result) }
}

function kept(output: ActionOutput | undefined, { program }: StepScope): Patch {
  if (!program.readsWorkflow || output === undefined) return {}
  return {
    ...(output.result === undefined ? {} : { previous: output.result }),
    ...(output.response === undefined ? {} : { response: output.response }),
  }
}

/** Workflow data takes up what a shared branch hands over. */
const mergeForwarded: FlowStep = (context, _params, event, scope) => {
  const { address, output } = event.data as { address: StepParams; output: ActionOutput }
  return { ...merged(context, address, output.result, scope), ...kept(output, scope) }
}

const replaceData: FlowStep = (_context, _params, event) => ({ data: event.data as Json })

const openJoin: FlowStep = (context, params) => ({
  join: { required: (params['required'] as number | undefined) ?? context.join?.required ?? 1, completed: 0 },
})

const takeBranch: FlowStep = (context, _params, event, scope) => {
  const output = event.output as PathOutput | undefined
  const join = context.join ?? { required: 1, completed: 0 }
  return {
    join: { ...join, completed: join.completed + 1 },
    // An isolated branch worked on a copy; it is merged at the join (A19).
    ...(output?.data === undefined ? {} : { data: mergeResult(context.data, output.data, scope.program.profile) }),
  }
}

/** Index of an iteration in the id of its actor. */
function iterationOf(event: StepEvent): number {
  const id = event.actorId ?? ''
  return Number(id.slice(id.lastIndexOf('.') + 1))
}

const takeIteration: FlowStep = (context, _params, event) => {
  const { results: _, ...loop } = context.loop as LoopProgress
  const result = (event.output as PathOutput | undefined)?.result ?? null
  return { loop: { ...loop, completed: loop.completed + 1, pages: withEntry(pagesOf(context.loop as LoopProgress), iterationOf(event), result) } }
}

/** S089, S153–S156: the payload is merged; the instance takes up the event's correlation (S135). */
const mergeEvent: FlowStep = (context, params, event, scope) =>
  mergeReceived(context, params, event.output as EventOutput, scope)

function mergeReceived(context: PathContext, params: StepParams, output: EventOutput, scope: StepScope): Patch {
  const compiled = stateOf(scope.program, params).eventFilters[(params['entry'] as number | undefined) ?? 0]
  const expected = context.expected === undefined ? {} : { expected: context.expected - 1 }
  return {
    ...expected,
    ...(output.correlation === undefined ? {} : { correlation: { ...output.correlation, ...context.correlation } }),
    ...(compiled === undefined ? {} : mergePayload(context, compiled, output.payload, scope)),
  }
}

function mergePayload(context: PathContext, { filter, target }: CompiledEventFilter, payload: Json, { program }: StepScope): Patch {
  if (!filter.useData || payload === null) return {}
  return { data: target === undefined ? mergeResult(context.data, payload, program.profile) : target.merge(context.data, payload) }
}

const expectEvents: FlowStep = (_context, params, _event, { program }) => {
  const { state } = stateOf(program, params)
  return { expected: state.type === 'event' ? state.onEvents.reduce((count, { eventRefs }) => count + eventRefs.length, 0) : 0 }
}

const keepAnswer: FlowStep = (_context, _params, event) => ({ answer: event.output as EventOutput })

const mergeAnswer: FlowStep = (context, params, _event, scope) =>
  context.answer === undefined ? {} : { ...mergeReceived(context, params, context.answer, scope), answer: undefined }

/** The error is handled: expressions see it as `$WORKFLOW.error` (A11). */
const recordError: FlowStep = (context, _params, event) => {
  const error = errorOf(context, event)
  return { failure: undefined, retries: {}, ...(error === undefined ? {} : { error }) }
}

const recordFailure: FlowStep = (context, params, event, { program }) => {
  const error = errorOf(context, event)
  if (error === undefined) return {}
  const place = (error as Partial<RecordedFailure>).failedNodeId
  return { failure: { ...error, failedNodeId: place ?? nodeIdOf(program, params) } }
}

const clearFailure: FlowStep = () => ({ failure: undefined, retries: {} })

const scheduleRetry: FlowStep = (context, params, event, scope) => {
  const node = params.node ?? ''
  const error = errorOf(context, event)
  const progress = nextRetry(scope.program, actionAt(scope.program, addressOf(params)).action, context.retries?.[node], error, () => scope.random())
  scope.retries?.(params, progress)
  return { failure: undefined, retries: { ...context.retries, [node]: progress } }
}

// A state whose output filter failed is not left: it comes here again.
const recordCompleted: FlowStep = (context, params) =>
  context.failure === undefined ? { completed: [...(context.completed ?? []), params.state ?? 0] } : {}

/** S241, S252, A22: completed states newest first; what is compensated once is not compensated again. */
const startCompensation: FlowStep = (context, params) => (context.failure === undefined
  ? { compensating: { queue: [...(context.completed ?? [])].reverse(), returnTo: params.returnTo ?? '' }, completed: [] }
  : {})

const takeCompensation: FlowStep = (context) =>
  context.compensating === undefined ? {} : { compensating: { ...context.compensating, queue: context.compensating.queue.slice(1) } }

const endCompensation: FlowStep = (_context, { state }) => ({ compensating: undefined, ...(state === undefined ? {} : { state }) })

const endAs: FlowStep = (_context, params) => ({ ending: params['ending'] as WorkflowOutput['ending'] })

const takeEvaluated: FlowStep = (_context, _params, event) => event.output as Patch

/** Steps that move an instance on, by the name under which machine configs know them. */
export const FLOW_STEPS: Readonly<Record<string, FlowStep>> = {
  mergeResult: mergeActionResult,
  mergeForwarded,
  replaceData,
  openJoin,
  takeBranch,
  takeIteration,
  mergeEvent,
  expectEvents,
  keepAnswer,
  mergeAnswer,
  recordError,
  recordFailure,
  clearFailure,
  scheduleRetry,
  recordCompleted,
  startCompensation,
  takeCompensation,
  endCompensation,
  endAs,
  takeEvaluated,
}
