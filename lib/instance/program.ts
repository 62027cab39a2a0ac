import type { Json } from '../common/index.ts'
import type { Action, ContinueAs, Continuation, Definition, EventDataFilter, EventDefinition, FunctionDefinition, ProducedEvent, RetryDefinition, State } from '../definition/index.ts'
import { createBindings, type Compiled, type Expressions, type Profile, type Site, type Target } from '../expressions/index.ts'
import type { Invoker } from '../functions/index.ts'
import type { Address } from '../translation/index.ts'
import { compileErrors, type ErrorMatcher } from './error-matching.ts'

/** A definition with everything compiled that its instances need; made once at load. */
export interface Program {
  readonly definition: Definition
  readonly profile: Profile
  readonly expressions: Expressions
  /** The version where it is computed from the input (S004). */
  readonly version: Compiled<string> | undefined
  readonly states: readonly CompiledState[]
  readonly stateIndex: ReadonlyMap<string, number>
  readonly events: ReadonlyMap<string, EventDefinition>
  readonly errors: ReadonlyMap<string, ErrorMatcher>
  readonly retries: ReadonlyMap<string, RetryDefinition>
  readonly invokers: readonly Invoker[]
  /** Whether a text reads `$WORKFLOW`, for which results and responses are then kept. */
  readonly readsWorkflow: boolean
}

/** The compiled texts of a state. */
export interface CompiledState {
  readonly state: State
  readonly input: Compiled<Json> | undefined
  readonly output: Compiled<Json> | undefined
  readonly conditions: readonly Compiled<boolean>[]
  readonly eventFilters: readonly CompiledEventFilter[]
  readonly inject: Compiled<Json> | undefined
  readonly collection: Compiled<Json> | undefined
  readonly outputCollection: Target | undefined
  readonly numCompleted: Compiled<Json> | number | undefined
  readonly batchSize: Compiled<Json> | number | undefined
  readonly errorMessage: Compiled<string> | undefined
  /** Actions of the state itself, by index. */
  readonly actions: readonly CompiledAction[]
  /** Actions of branches, or of `onEvents` entries. */
  readonly branches: readonly (readonly CompiledAction[])[]
  /** Continuations by the key under which the translation knows them. */
  readonly leaves: Readonly<Record<string, CompiledLeave>>
}

/** A way out of a state: what comes next and the events that are produced before. */
export interface CompiledLeave {
  readonly continuation: Continuation
  readonly events: readonly CompiledProducedEvent[]
  readonly continueAs: { readonly target: ContinueAs; readonly data: Compiled<Json> | undefined } | undefined
}

/** An event to produce, its data and attributes compiled. */
export interface CompiledProducedEvent {
  readonly event: EventDefinition
  /** Absent: the whole state data (A08). */
  readonly data: Compiled<Json> | undefined
  readonly attributes: Compiled<Json> | undefined
}

/** An event data filter with its expressions compiled. */
export interface CompiledEventFilter {
  readonly filter: EventDataFilter
  readonly data: Compiled<Json> | undefined
  readonly target: Target | undefined
}

/** An action with its expressions compiled and its function resolved. */
export interface CompiledAction {
  readonly action: Action
  /** Name to show: of the action, or of what it calls. */
  readonly name: string
  readonly condition: Compiled<boolean> | undefined
  readonly from: Compiled<Json> | undefined
  readonly results: Compiled<Json> | undefined
  readonly target: Target | undefined
  readonly arguments: Compiled<Json> | undefined
  readonly selectionSet: Compiled<string> | undefined
  readonly function: CompiledFunction | undefined
  readonly trigger: CompiledProducedEvent | undefined
}

/** A function: an expression evaluated in place, or something that is called. */
export interface CompiledFunction {
  readonly definition: FunctionDefinition
  readonly expression: Compiled<Json> | undefined
  readonly invoker: Invoker | undefined
}

/** What `createProgram` puts together. */
export interface ProgramParts {
  readonly definition: Definition
  readonly expressions: Expressions
  /** Called functions by name; expression functions are compiled here. */
  readonly invokers: ReadonlyMap<string, Invoker>
  /** Runs one compilation and keeps its error, so that all bad texts are reported together. */
  readonly collect: <Result>(compile: () => Result) => Result | undefined
}

/**
 * Compiles every text of a definition.
 *
 * A text that does not compile is handed to `collect` and left out; the caller refuses the definition with all of them.
 */
export function createProgram(parts: ProgramParts): Program {
  const { definition, expressions } = parts
  const events = new Map(definition.events.map((event) => [event.name, event]))
  const compiler = createTextCompiler(parts, events)
  return {
    definition,
    profile: definition.profile,
    expressions,
    version: definition.version.includes('${') ? parts.collect(() => expressions.compileText(definition.version, at('/version'))) : undefined,
    states: definition.states.map((state, index) => compiler.state(state, index)),
    stateIndex: new Map(definition.states.map(({ name }, index) => [name, index])),
    events,
    errors: compileErrors(definition),
    invokers: [...parts.invokers.values()],
    retries: new Map(definition.retries.map((retry) => [retry.name, retry])),
    readsWorkflow: expressions.reads.variables.has('WORKFLOW'),
  }
}

/** The version of an instance that begins with this input (S004). @throws {@link ExpressionError} */
export function versionOf({ definition, version }: Program, input: Json): string {
  const text = version?.evaluate(input, createBindings({ constants: definition.constants }))
  // Asynchronous languages cannot answer here; their versions stay as they are written.
  return typeof text === 'string' ? text : definition.version
}

/** The compiled action at an address. */
export function actionAt(program: Program, address: Address & { readonly first?: number }): CompiledAction {
  const state = program.states[address.state]
  const actions = address.branch === undefined ? state?.actions : state?.branches[address.branch]
  return actions?.[(address.first ?? 0) + (address.action ?? 0)] as CompiledAction
}

type Optional<Result> = Result | undefined

function createTextCompiler({ definition, expressions, invokers, collect }: ProgramParts, events: ReadonlyMap<string, EventDefinition>): {
  state(state: State, index: number): CompiledState
} {
  const functions = new Map(definition.functions.map((definition_, index) => [definition_.name, compileFunction(definition_, index)]))

  function compileFunction(declared: FunctionDefinition, index: number): CompiledFunction {
    const isExpression = declared.type === 'expression' && !invokers.has(declared.name)
    return {
      definition: declared,
      expression: isExpression ? collect(() => expressions.compileFilter(declared.operation, at(`/functions/${String(index)}/operation`))) : undefined,
      invoker: invokers.get(declared.name),
    }
  }

  const filter = (text: Optional<string>, pointer: string): Optional<Compiled<Json>> =>
    text === undefined ? undefined : collect(() => expressions.compileFilter(text, at(pointer)))
  const condition = (text: Optional<string>, pointer: string): Optional<Compiled<boolean>> =>
    text === undefined ? undefined : collect(() => expressions.compileCondition(text, at(pointer)))
  const template = (value: Optional<Json>, pointer: string): Optional<Compiled<Json>> =>
    value === undefined ? undefined : collect(() => expressions.compileTemplate(value, at(pointer)))
  const target = (text: Optional<string>, pointer: string): Optional<Target> =>
    text === undefined ? undefined : collect(() => expressions.compileTarget(text, at(pointer)))
  const text = (value: Optional<string>, pointer: string): Optional<Compiled<string>> =>
    value === undefined ? undefined : collect(() => expressions.compileText(value, at(pointer)))
  // A text is an expression, an object holds expressions (S104, S141).
  const payload = (value: Optional<Json>, pointer: string): Optional<Compiled<Json>> =>
    typeof value === 'string' ? filter(value, pointer) : template(value, pointer)

  function action(declared: Action, pointer: string): CompiledAction {
    const { actionDataFilter: filters, functionRef, eventRef } = declared
    const named = functionRef?.arguments
    return {
      action: declared,
      name: declared.name ?? functionRef?.refName ?? declared.subFlowRef?.workflowId ?? eventRef?.triggerEventRef ?? '',
      condition: condition(declared.condition, `${pointer}/condition`),
      from: filter(filters.fromStateData, `${pointer}/actionDataFilter/fromStateData`),
      results: filter(filters.results, `${pointer}/actionDataFilter/results`),
      target: target(filters.toStateData, `${pointer}/actionDataFilter/toStateData`),
      arguments: typeof named === 'string' ? filter(named, `${pointer}/functionRef/arguments`) : template(named, `${pointer}/functionRef/arguments`),
      selectionSet: text(functionRef?.selectionSet, `${pointer}/functionRef/selectionSet`),
      function: functionRef === undefined ? undefined : functions.get(functionRef.refName),
      trigger: eventRef === undefined ? undefined : produced({ ...eventRef, eventRef: eventRef.triggerEventRef }, `${pointer}/eventRef`),
    }
  }

  function produced(declared: Pick<ProducedEvent, 'eventRef' | 'data' | 'contextAttributes'>, pointer: string): Optional<CompiledProducedEvent> {
    const event = events.get(declared.eventRef)
    if (event === undefined) return undefined
    const attributes = Object.keys(declared.contextAttributes).length === 0 ? undefined : declared.contextAttributes
    return { event, data: payload(declared.data, `${pointer}/data`), attributes: template(attributes, `${pointer}/contextAttributes`) }
  }

  function leaveBy(continuation: Continuation, pointer: string): CompiledLeave {
    const kind = continuation.transition === undefined ? 'end' : 'transition'
    const declared = (continuation.transition ?? continuation.end)?.produceEvents ?? []
    const continueAs = continuation.end?.continueAs
    return {
      continuation,
      events: declared.map((event, index) => produced(event, `${pointer}/${kind}/produceEvents/${String(index)}`)).filter((event) => event !== undefined),
      continueAs: continueAs === undefined ? undefined : { target: continueAs, data: payload(continueAs.data, `${pointer}/end/continueAs/data`) },
    }
  }

  function eventFilter(declared: EventDataFilter, pointer: string): CompiledEventFilter {
    return {
      filter: declared,
      data: filter(declared.data, `${pointer}/eventDataFilter/data`),
      target: target(declared.toStateData, `${pointer}/eventDataFilter/toStateData`),
    }
  }

  function leaves(state: State, pointer: string): Record<string, CompiledLeave> {
    const found: Record<string, CompiledLeave> = {}
    if (state.type === 'switch') {
      state.dataConditions.forEach((entry, index) => { found[`leave_c${String(index)}`] = leaveBy(entry, `${pointer}/dataConditions/${String(index)}`) })
      state.eventConditions.forEach((entry, index) => { found[`leave_c${String(index)}`] = leaveBy(entry, `${pointer}/eventConditions/${String(index)}`) })
      if (state.defaultCondition !== undefined) found['leave_default'] = leaveBy(state.defaultCondition, `${pointer}/defaultCondition`)
    } else {
      found['leave'] = leaveBy(state, pointer)
    }
    state.onErrors.forEach((entry, index) => { found[`leave_e${String(index)}`] = leaveBy(entry, `${pointer}/onErrors/${String(index)}`) })
    return found
  }

  function numberOf(value: Optional<number | string>, pointer: string): Optional<Compiled<Json> | number> {
    return typeof value === 'string' ? filter(value, pointer) : value
  }

  return {
    state(state, index) {
      const pointer = `/states/${String(index)}`
      const message = state.metadata['errorMessage']
      return {
        state,
        input: filter(state.stateDataFilter.input, `${pointer}/stateDataFilter/input`),
        output: filter(state.stateDataFilter.output, `${pointer}/stateDataFilter/output`),
        conditions: state.type !== 'switch' ? [] : state.dataConditions.map((entry, nth) =>
          condition(entry.condition, `${pointer}/dataConditions/${String(nth)}/condition`)).filter((compiled) => compiled !== undefined),
        eventFilters: eventFiltersOf(state, pointer),
        inject: state.type === 'inject' ? template(state.data, `${pointer}/data`) : undefined,
        collection: state.type === 'foreach' ? filter(state.inputCollection, `${pointer}/inputCollection`) : undefined,
        outputCollection: state.type === 'foreach' ? target(state.outputCollection, `${pointer}/outputCollection`) : undefined,
        numCompleted: state.type === 'parallel' ? numberOf(state.numCompleted, `${pointer}/numCompleted`) : undefined,
        batchSize: state.type === 'foreach' ? numberOf(state.batchSize, `${pointer}/batchSize`) : undefined,
        errorMessage: typeof message === 'string' ? text(message, `${pointer}/metadata/errorMessage`) : undefined,
        actions: actionsOf(state, pointer),
        branches: branchesOf(state, pointer),
        leaves: leaves(state, pointer),
      }
    },
  }

  function actionsOf(state: State, pointer: string): readonly CompiledAction[] {
    if (state.type === 'callback') return [action(state.action, `${pointer}/action`)]
    return state.type === 'operation' || state.type === 'foreach'
      ? state.actions.map((entry, nth) => action(entry, `${pointer}/actions/${String(nth)}`))
      : []
  }

  function branchesOf(state: State, pointer: string): readonly (readonly CompiledAction[])[] {
    if (state.type !== 'parallel' && state.type !== 'event') return []
    const [key, paths] = state.type === 'parallel' ? ['branches', state.branches] as const : ['onEvents', state.onEvents] as const
    return paths.map(({ actions }, branch) => actions.map((entry, nth) => action(entry, `${pointer}/${key}/${String(branch)}/actions/${String(nth)}`)))
  }

  function eventFiltersOf(state: State, pointer: string): readonly CompiledEventFilter[] {
    if (state.type === 'callback') return [eventFilter(state.eventDataFilter, pointer)]
    if (state.type === 'event') return state.onEvents.map((entry, nth) => eventFilter(entry.eventDataFilter, `${pointer}/onEvents/${String(nth)}`))
    return state.type === 'switch' ? state.eventConditions.map((entry, nth) => eventFilter(entry.eventDataFilter, `${pointer}/eventConditions/${String(nth)}`)) : []
  }
}

function at(pointer: string): Site {
  return { pointer }
}
