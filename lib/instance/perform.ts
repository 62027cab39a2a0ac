import { toAbortSignal, type CancelSignal, type Json, type JsonObject, type Logger } from '../common/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import type { CallContext, FunctionResult } from '../functions/index.ts'
import type { CallCommand, Outcome, Prepared, SubflowCommand } from './commands.ts'
import type { ActionOutput, PathContext } from './context.ts'
import type { InstanceFacts } from './facts.ts'
import { actionAt, type CompiledAction, type CompiledFunction, type Program } from './program.ts'
import { produceEvent } from './steps/evaluating.ts'
import { addressOf, chain, type StepParams, type StepScope } from './steps/step.ts'
import { FunctionError, InstanceError } from '../errors/index.ts'
import { toWorkflowError } from './workflow-error.ts'

/** An action, or its condition, where it stands in a definition: looked up once where it is known beforehand. */
export interface ActionSite {
  readonly compiled: CompiledAction
  /** Only the condition is asked for: a sleep comes between it and the action. */
  readonly isCondition: boolean
  /** The condition was looked at before. */
  readonly isGated: boolean
  /** The static part of the effect's input. */
  readonly input: JsonObject
}

/** Finds the site of an effect. */
export function siteOf(program: Program, input: StepParams): ActionSite {
  return { compiled: actionAt(program, addressOf(input)), isCondition: input['effect'] === 'condition', isGated: input['gated'] === true, input }
}

/** Where a log comes from that is made for its first line. */
interface LogSource { readonly log: Logger }

/** What an action needs while it is carried out. */
export interface Performance {
  readonly scope: StepScope
  readonly facts: InstanceFacts
  readonly logs: LogSource
  readonly site: ActionSite
  /** Context with the data that the action sees. */
  readonly context: PathContext
  readonly token: string
}

const SKIPPED: Prepared = { kind: 'outcome', outcome: { output: { skipped: true } satisfies ActionOutput } }

/**
 * Prepares an action: condition, `fromStateData`, arguments; expression functions are evaluated at once (S111, S149, S174, S124).
 *
 * @throws whatever an expression throws, as a rejection for JSONata
 */
export function prepareAction(performance: Performance): MaybePromise<Prepared> {
  const { site: { compiled: { condition }, isCondition, isGated }, context, scope } = performance
  if (isCondition) {
    const holds = condition?.evaluate(context.data, scope.bindings(context)) ?? true
    return chain(holds, (perform) => ({ kind: 'outcome', outcome: { output: { skipped: !perform } satisfies ActionOutput } }))
  }
  if (condition === undefined || isGated) return prepareView(performance)
  const holds = condition.evaluate(context.data, scope.bindings(context))
  return chain(holds, (perform) => (perform ? prepareView(performance) : SKIPPED))
}

function prepareView(performance: Performance): MaybePromise<Prepared> {
  const { site: { compiled }, context, scope } = performance
  if (compiled.from === undefined) return prepareCall(performance, context.data)
  return chain(compiled.from.evaluate(context.data, scope.bindings(context)), (view) => prepareCall(performance, view))
}

function prepareCall(performance: Performance, view: Json): MaybePromise<Prepared> {
  const { site: { compiled }, context, scope } = performance
  const { action, trigger } = compiled
  if (trigger !== undefined) {
    return chain(produceEvent(trigger, view, context, scope), (event): Prepared => ({ kind: 'publish', event }))
  }
  if (action.subFlowRef !== undefined) {
    if ((performance.facts.parent?.depth ?? 0) >= DEEPEST) return { kind: 'outcome', outcome: { error: toWorkflowError(tooDeep(action.subFlowRef.workflowId)) } }
    return { kind: 'command', command: subflowCommand(performance, view) }
  }
  const called = compiled.function
  if (called === undefined) return { kind: 'outcome', outcome: { error: toWorkflowError(notFound(compiled)) } }
  if (called.expression !== undefined) {
    const value = called.expression.evaluate(view, scope.bindings(context))
    return chain(value, (result) => chain(filterResult(performance, { output: result }), (output): Prepared => ({ kind: 'outcome', outcome: { output } })))
  }
  if (called.invoker?.event?.kind === 'consumed') return { kind: 'await', type: called.invoker.event.type }
  const evaluated: MaybePromise<Json> | undefined = compiled.arguments?.evaluate(view, scope.bindings(context))
  return chain(evaluated, (args): Prepared => ({ kind: 'command', command: callCommand(performance, called, view, args) }))
}

/** Sub-flows below one another; one that starts itself for ever would take all memory before anything else stops it. */
const DEEPEST = 256

function tooDeep(workflowId: string): InstanceError {
  return new InstanceError({
    code: 'INSTANCE_LOOP',
    message: `Sub-flow "${workflowId}" would be the ${String(DEEPEST + 1)}th below one another; give the recursion an end`,
  })
}

function notFound({ action, name }: CompiledAction): FunctionError {
  return new FunctionError({ code: 'FUNCTION_NOT_FOUND', message: `Action "${name}" calls function "${action.functionRef?.refName ?? ''}", which the definition does not declare` })
}

/** `results` sees the result only; with `useResults: false` nothing is merged (S150, S152). */
function filterResult({ site: { compiled }, context, scope }: Performance, result: FunctionResult): MaybePromise<ActionOutput> {
  const response = result.response === undefined ? {} : { response: result.response }
  const { output } = result
  if (!compiled.action.actionDataFilter.useResults || output === undefined) return response
  if (compiled.results === undefined) return { result: output, ...response }
  return chain(compiled.results.evaluate(output, scope.bindings(context)), (filtered) => ({ result: filtered, ...response }))
}

function subflowCommand(performance: Performance, input: Json): SubflowCommand {
  const { workflowId, version, invoke, onParentComplete } = performance.site.compiled.action.subFlowRef ?? { workflowId: '', invoke: 'sync' as const, onParentComplete: 'terminate' as const, version: undefined }
  return {
    kind: 'subflow',
    token: performance.token,
    workflowId,
    ...(version === undefined ? {} : { version }),
    input,
    ...(performance.context.variables === undefined ? {} : { variables: performance.context.variables }),
    detached: invoke === 'async',
    onParentComplete,
    finish: (output) => settled(() => chain(filterResult(performance, { output }), (filtered) => ({ output: filtered }))),
  }
}

function callCommand(performance: Performance, called: CompiledFunction, data: Json, args: Json | undefined): CallCommand {
  const { site: { compiled }, token } = performance
  return {
    kind: 'call',
    token,
    detached: compiled.action.functionRef?.invoke === 'async',
    isPure: called.invoker?.isPure === true,
    run: (signal) => settled(() => {
      const selectionSet = compiled.selectionSet?.evaluate(data, performance.scope.bindings(performance.context))
      return chain(selectionSet, (selection) => {
        const result = called.invoker?.invoke({
          data,
          context: new CalledFrom(performance, signal),
          ...(args === undefined ? {} : { arguments: args }),
          ...(selection === undefined ? {} : { selectionSet: selection }),
        }) ?? {}
        return chain(result, (answer) => chain(filterResult(performance, answer), (output) => ({ output })))
      })
    }),
  }
}

/** The context of one call: what is rarely asked for is made when it is. */
class CalledFrom implements CallContext {
  readonly workflowId: string
  readonly workflowVersion: string
  readonly instanceId: string
  readonly parentInstanceId?: string
  readonly parentWorkflowId?: string
  readonly rootInstanceId?: string
  readonly rootWorkflowId?: string
  readonly businessKey?: string
  readonly referenceId?: string
  readonly state: string
  readonly action: string
  readonly headers: CallContext['headers']
  /** Of the effect that calls. */
  readonly token: string
  readonly cancellation: CancelSignal
  readonly logs: LogSource

  constructor({ facts, site: { compiled }, token, logs }: Performance, cancellation: CancelSignal) {
    const { parent, businessKey, referenceId } = facts
    this.workflowId = facts.workflowId
    this.workflowVersion = facts.version
    this.instanceId = facts.id
    if (parent !== undefined) {
      this.parentInstanceId = parent.instanceId
      this.parentWorkflowId = parent.workflowId
      this.rootInstanceId = parent.rootInstanceId
      this.rootWorkflowId = parent.rootWorkflowId
    }
    if (businessKey !== undefined) this.businessKey = businessKey
    if (referenceId !== undefined) this.referenceId = referenceId
    this.state = compiled.place.state
    this.action = compiled.name
    this.headers = facts.headers
    this.token = token
    this.cancellation = cancellation
    this.logs = logs
  }

  get idempotencyKey(): string {
    return `${this.instanceId}:${this.state}/${this.action}:${this.token}`
  }

  get log(): Logger {
    return this.logs.log
  }

  get signal(): AbortSignal {
    return toAbortSignal(this.cancellation)
  }
}

/** Runs something and gives its outcome, whatever it throws. */
export function settled(run: () => MaybePromise<Outcome>): MaybePromise<Outcome> {
  try {
    const outcome = run()
    return outcome instanceof Promise ? outcome.catch((error: unknown) => ({ error: toWorkflowError(error) })) : outcome
  } catch (error) {
    return { error: toWorkflowError(error) }
  }
}
