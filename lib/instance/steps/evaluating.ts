import { isJsonObject, type Json } from '../../common/index.ts'
import { FunctionError, InstanceError } from '../../errors/index.ts'
import { mergeResult, type MaybePromise } from '../../expressions/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import type { PathContext } from '../context.ts'
import { pagesOf } from '../pages.ts'
import type { CompiledLeave, CompiledProducedEvent, CompiledState } from '../program.ts'
import { chain, filtered, stateOf, type EvaluatingStep, type Patch, type StepParams, type StepScope } from './step.ts'

const applyInput: EvaluatingStep = (context, params, scope) => filterData(context, stateOf(scope.program, params).input, scope)
const applyOutput: EvaluatingStep = (context, params, scope) => filterData(context, stateOf(scope.program, params).output, scope)

function filterData(context: PathContext, filter: CompiledState['input'], scope: StepScope): MaybePromise<Patch> {
  if (filter === undefined) return {}
  return chain(filter.evaluate(context.data, scope.bindings(context)), (value) => ({ data: filtered(scope.program, context.data, value) }))
}

const inject: EvaluatingStep = (context, params, scope) => {
  const compiled = stateOf(scope.program, params).inject
  if (compiled === undefined) return {}
  return chain(compiled.evaluate(context.data, scope.bindings(context)), (data) => ({ data: mergeResult(context.data, data, scope.program.profile) }))
}

/** The first condition that is true (S044); without a default and a match the workflow is in error (S045). */
const choose: EvaluatingStep = (context, params, scope) => {
  const compiled = stateOf(scope.program, params)
  const bindings = scope.bindings(context)
  const take = (choice: number): Patch => {
    scope.chose?.(params.state ?? 0, choice)
    return { choice }
  }
  const from = (index: number): MaybePromise<Patch> => {
    const condition = compiled.conditions[index]
    if (condition === undefined) return take(defaultChoice(compiled))
    return chain(condition.evaluate(context.data, bindings), (holds) => (holds ? take(index) : from(index + 1)))
  }
  return from(0)
}

function defaultChoice({ state }: CompiledState): number {
  if (state.type === 'switch' && state.defaultCondition !== undefined) return -1
  throw new InstanceError({
    code: 'INSTANCE_FAILED',
    message: `No condition of state "${state.name}" is true and it has no defaultCondition; add one`,
  })
}

const prepareEvents: EvaluatingStep = (context, params, scope) => {
  const leave = leaveOf(params, scope)
  const next = (index: number, outbox: readonly CloudEventRecord[]): MaybePromise<Patch> => {
    const produced = leave?.events[index]
    if (produced === undefined) return { outbox }
    return chain(produceEvent(produced, context.data, context, scope), (event) => next(index + 1, [...outbox, event]))
  }
  return next(0, [])
}

function leaveOf(params: StepParams, scope: StepScope): CompiledLeave | undefined {
  return stateOf(scope.program, params).leaves[params.leave ?? '']
}

/** Builds a produced event; without data of its own it carries all that the producer sees (S141, S279, A08). */
export function produceEvent(produced: CompiledProducedEvent, data: Json, context: PathContext, scope: StepScope): MaybePromise<CloudEventRecord> {
  const bindings = scope.bindings(context)
  const payload: MaybePromise<Json> = produced.data === undefined ? data : produced.data.evaluate(data, bindings)
  return chain(payload, (value) => {
    const attributes: MaybePromise<Json> = produced.attributes === undefined ? null : produced.attributes.evaluate(data, bindings)
    return chain(attributes, (extensions) => {
      const event: CloudEventRecord = {
        ...(isJsonObject(extensions) ? extensionsOf(extensions) : {}),
        specversion: '1.0',
        id: scope.nextEventId(),
        source: produced.event.source || `/process/${scope.program.definition.id}`,
        type: produced.event.type,
        datacontenttype: 'application/json',
        data: value,
      }
      return scope.stamp(event, context)
    })
  })
}

// CloudEvents knows attribute names in lower case only; the specification's examples write patientId (S139).
function extensionsOf(attributes: Readonly<Record<string, Json>>): Record<string, Json> {
  const named = Object.entries(attributes).filter(([, value]) => value !== null)
  return Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), toAttribute(value)]))
}

// Nor does it know numbers but 32-bit integers; with any other the event could never be sent.
function toAttribute(value: Json): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  return typeof value === 'number' && (value | 0) === value ? value : JSON.stringify(value)
}

/** S272, S273: the state data, or what `data` says, becomes the input of the next instance. */
const prepareContinuation: EvaluatingStep = (context, params, scope) => {
  const continueAs = leaveOf(params, scope)?.continueAs
  if (continueAs === undefined) return {}
  const { target, data } = continueAs
  const input: MaybePromise<Json> = data === undefined ? context.data : data.evaluate(context.data, scope.bindings(context))
  return chain(input, (value) => ({
    continuation: {
      workflowId: target.workflowId,
      input: value,
      ...(target.version === undefined ? {} : { version: target.version }),
      ...(target.workflowExecTimeout === undefined ? {} : { timeout: target.workflowExecTimeout.duration }),
    },
  }))
}

/** `numCompleted` as an expression: a whole number from 1 to the number of branches (S060). */
const prepareJoin: EvaluatingStep = (context, params, scope) => {
  const { numCompleted, branches, state } = stateOf(scope.program, params)
  const value: MaybePromise<Json> = typeof numCompleted === 'object' ? numCompleted.evaluate(context.data, scope.bindings(context)) : numCompleted ?? branches.length
  return chain(value, (result) => {
    const required = toWholeNumber(result)
    if (required === undefined || required < 1 || required > branches.length) {
      throw argumentError(`numCompleted of state "${state.name}" gives ${JSON.stringify(result)}; it must be a whole number from 1 to ${String(branches.length)}`)
    }
    return { join: { required, completed: 0 } }
  })
}

function toWholeNumber(value: Json): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}

const prepareLoop: EvaluatingStep = (context, params, scope) => {
  const compiled = stateOf(scope.program, params)
  const bindings = scope.bindings(context)
  if (compiled.collection === undefined) return {}
  return chain(compiled.collection.evaluate(context.data, bindings), (value) => {
    const items = itemsOf(value, compiled, scope)
    const size: MaybePromise<Json> = typeof compiled.batchSize === 'object' ? compiled.batchSize.evaluate(context.data, bindings) : compiled.batchSize ?? items.length
    return chain(size, (batch) => ({ loop: { items, batch: batchOf(batch, compiled, items.length), next: 0, completed: 0, pages: [] } }))
  })
}

function itemsOf(value: Json, { state }: CompiledState, { program }: StepScope): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  if (program.profile === 'sonataflow' && value !== null) return [value]
  throw argumentError(`inputCollection of state "${state.name}" gives ${value === null ? 'null' : typeof value}; it must give an array`)
}

function batchOf(value: Json, { state }: CompiledState, count: number): number {
  if (state.type === 'foreach' && state.mode === 'sequential') return 1
  const batch = toWholeNumber(value)
  if (batch === undefined || (batch < 1 && count > 0)) {
    throw argumentError(`batchSize of state "${state.name}" gives ${JSON.stringify(value)}; it must be a whole number from 1`)
  }
  return Math.max(1, batch)
}

/** S080, A06: results of iterations are appended in the order of the input; without a place for them they are dropped. */
const collectIterations: EvaluatingStep = (context, params, scope) => {
  const target = stateOf(scope.program, params).outputCollection
  const loop = context.loop
  if (target === undefined || loop === undefined) return {}
  const present = target.read(context.data)
  const collected = [...(Array.isArray(present) ? present as readonly Json[] : []), ...pagesOf(loop).flat().filter((result) => result !== null)]
  return { data: target.put(context.data, collected) }
}

function argumentError(message: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message })
}

/** Steps that evaluate expressions, by the name under which machine configs know them. */
export const EVALUATING_STEPS: Readonly<Record<string, EvaluatingStep>> = {
  applyInput,
  applyOutput,
  inject,
  choose,
  prepareEvents,
  prepareContinuation,
  prepareJoin,
  prepareLoop,
  collectIterations,
}
