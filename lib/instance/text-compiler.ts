import type { Json } from '../common/index.ts'
import type { Action, Continuation, EventDataFilter, EventDefinition, FunctionDefinition, ProducedEvent, State } from '../definition/index.ts'
import type { Compiled, Expressions, Target } from '../expressions/index.ts'
import type { Invoker } from '../functions/index.ts'
import { actionName } from '../translation/index.ts'
import type { CompiledAction, CompiledEventFilter, CompiledFunction, CompiledLeave, CompiledProducedEvent, CompiledState, Place, ProgramParts } from './program.ts'

type Optional<Result> = Result | undefined

/** Compiles the texts of the states of one definition; each is told with its JSON pointer when it does not compile. */
export class TextCompiler {
  readonly #expressions: Expressions
  readonly #collect: ProgramParts['collect']
  readonly #events: ReadonlyMap<string, EventDefinition>
  readonly #functions: ReadonlyMap<string, CompiledFunction>

  constructor({ definition, expressions, invokers, collect }: ProgramParts, events: ReadonlyMap<string, EventDefinition>) {
    this.#expressions = expressions
    this.#collect = collect
    this.#events = events
    this.#functions = new Map(definition.functions.map((declared, index) => [declared.name, this.#function(declared, index, invokers)]))
  }

  /** Compiles a state, which stands at that index of the definition. */
  state(state: State, index: number): CompiledState {
    const pointer = `/states/${String(index)}`
    const { input, output } = state.stateDataFilter
    const message = state.metadata['errorMessage']
    return {
      state,
      place: { nodeId: state.name, state: state.name },
      branchPlaces: state.type === 'parallel' ? state.branches.map(({ name }) => placeOf(state, name)) : [],
      input: this.#filter(input, `${pointer}/stateDataFilter/input`),
      output: this.#filter(output, `${pointer}/stateDataFilter/output`),
      conditions: this.#conditions(state, pointer),
      eventFilters: this.#eventFilters(state, pointer),
      inject: state.type === 'inject' ? this.#template(state.data, `${pointer}/data`) : undefined,
      collection: state.type === 'foreach' ? this.#filter(state.inputCollection, `${pointer}/inputCollection`) : undefined,
      outputCollection: state.type === 'foreach' ? this.#target(state.outputCollection, `${pointer}/outputCollection`) : undefined,
      numCompleted: state.type === 'parallel' ? this.#number(state.numCompleted, `${pointer}/numCompleted`) : undefined,
      batchSize: state.type === 'foreach' ? this.#number(state.batchSize, `${pointer}/batchSize`) : undefined,
      errorMessage: typeof message === 'string' ? this.#text(message, `${pointer}/metadata/errorMessage`) : undefined,
      actions: this.#actions(state, pointer),
      branches: this.#branches(state, pointer),
      leaves: this.#leaves(state, pointer),
    }
  }

  #function(declared: FunctionDefinition, index: number, invokers: ReadonlyMap<string, Invoker>): CompiledFunction {
    const invoker = invokers.get(declared.name)
    const isExpression = declared.type === 'expression' && invoker === undefined
    return {
      definition: declared,
      expression: isExpression ? this.#filter(declared.operation, `/functions/${String(index)}/operation`) : undefined,
      invoker,
    }
  }

  // --- texts by what they stand for ---

  #filter(text: Optional<string>, pointer: string): Optional<Compiled<Json>> {
    return text === undefined ? undefined : this.#collect(() => this.#expressions.compileFilter(text, { pointer }))
  }

  #condition(text: Optional<string>, pointer: string): Optional<Compiled<boolean>> {
    return text === undefined ? undefined : this.#collect(() => this.#expressions.compileCondition(text, { pointer }))
  }

  #template(value: Optional<Json>, pointer: string): Optional<Compiled<Json>> {
    const tell = (fault: Error): void => { this.#collect(() => { throw fault }) }
    return value === undefined ? undefined : this.#collect(() => this.#expressions.compileTemplate(value, { pointer }, tell))
  }

  #target(text: Optional<string>, pointer: string): Optional<Target> {
    return text === undefined ? undefined : this.#collect(() => this.#expressions.compileTarget(text, { pointer }))
  }

  #text(text: Optional<string>, pointer: string): Optional<Compiled<string>> {
    return text === undefined ? undefined : this.#collect(() => this.#expressions.compileText(text, { pointer }))
  }

  #number(value: Optional<number | string>, pointer: string): Optional<Compiled<Json> | number> {
    return typeof value === 'string' ? this.#filter(value, pointer) : value
  }

  // A text is an expression, an object holds expressions (S104, S141).
  #payload(value: Optional<Json>, pointer: string): Optional<Compiled<Json>> {
    return typeof value === 'string' ? this.#filter(value, pointer) : this.#template(value, pointer)
  }

  // --- parts of states ---

  #conditions(state: State, pointer: string): readonly Compiled<boolean>[] {
    if (state.type !== 'switch') return []
    return state.dataConditions
      .map(({ condition }, nth) => this.#condition(condition, `${pointer}/dataConditions/${String(nth)}/condition`))
      .filter((compiled) => compiled !== undefined)
  }

  #actions(state: State, pointer: string): readonly CompiledAction[] {
    if (state.type === 'callback') return [this.#action(state.action, placeOf(state, undefined, state.action), `${pointer}/action`)]
    if (state.type !== 'operation' && state.type !== 'foreach') return []
    return state.actions.map((action, nth) => this.#action(action, placeOf(state, undefined, action), `${pointer}/actions/${String(nth)}`))
  }

  #branches(state: State, pointer: string): readonly (readonly CompiledAction[])[] {
    if (state.type === 'parallel') {
      return state.branches.map(({ name, actions }, branch) => actions.map((action, nth) =>
        this.#action(action, placeOf(state, name, action), `${pointer}/branches/${String(branch)}/actions/${String(nth)}`)))
    }
    if (state.type !== 'event') return []
    return state.onEvents.map(({ actions }, entry) => actions.map((action, nth) =>
      this.#action(action, placeOf(state, undefined, action), `${pointer}/onEvents/${String(entry)}/actions/${String(nth)}`)))
  }

  #action(action: Action, place: Place, pointer: string): CompiledAction {
    const { actionDataFilter: filters, functionRef, eventRef } = action
    const named = functionRef?.arguments
    return {
      action,
      place,
      name: actionName(action),
      condition: this.#condition(action.condition, `${pointer}/condition`),
      from: this.#filter(filters.fromStateData, `${pointer}/actionDataFilter/fromStateData`),
      results: this.#filter(filters.results, `${pointer}/actionDataFilter/results`),
      target: this.#target(filters.toStateData, `${pointer}/actionDataFilter/toStateData`),
      arguments: this.#payload(named, `${pointer}/functionRef/arguments`),
      selectionSet: this.#text(functionRef?.selectionSet, `${pointer}/functionRef/selectionSet`),
      function: functionRef === undefined ? undefined : this.#functions.get(functionRef.refName),
      trigger: eventRef === undefined ? undefined : this.#produced({ ...eventRef, eventRef: eventRef.triggerEventRef }, `${pointer}/eventRef`),
    }
  }

  #eventFilters(state: State, pointer: string): readonly CompiledEventFilter[] {
    if (state.type === 'callback') return [this.#eventFilter(state.eventDataFilter, pointer)]
    if (state.type === 'event') return state.onEvents.map(({ eventDataFilter }, nth) => this.#eventFilter(eventDataFilter, `${pointer}/onEvents/${String(nth)}`))
    if (state.type !== 'switch') return []
    return state.eventConditions.map(({ eventDataFilter }, nth) => this.#eventFilter(eventDataFilter, `${pointer}/eventConditions/${String(nth)}`))
  }

  #eventFilter(filter: EventDataFilter, pointer: string): CompiledEventFilter {
    return {
      filter,
      data: this.#filter(filter.data, `${pointer}/eventDataFilter/data`),
      target: this.#target(filter.toStateData, `${pointer}/eventDataFilter/toStateData`),
    }
  }

  // --- ways on ---

  #leaves(state: State, pointer: string): Record<string, CompiledLeave> {
    const found: Record<string, CompiledLeave> = {}
    const add = (key: string, continuations: readonly Continuation[], list: string): void => {
      continuations.forEach((continuation, nth) => { found[`${key}${String(nth)}`] = this.#leave(continuation, `${pointer}/${list}/${String(nth)}`) })
    }
    if (state.type === 'switch') {
      add('leave_c', state.dataConditions, 'dataConditions')
      add('leave_c', state.eventConditions, 'eventConditions')
      if (state.defaultCondition !== undefined) found['leave_default'] = this.#leave(state.defaultCondition, `${pointer}/defaultCondition`)
    } else {
      found['leave'] = this.#leave(state, pointer)
    }
    add('leave_e', state.onErrors, 'onErrors')
    return found
  }

  #leave(continuation: Continuation, pointer: string): CompiledLeave {
    const kind = continuation.transition === undefined ? 'end' : 'transition'
    const declared = (continuation.transition ?? continuation.end)?.produceEvents ?? []
    const continueAs = continuation.end?.continueAs
    return {
      continuation,
      events: declared.map((event, nth) => this.#produced(event, `${pointer}/${kind}/produceEvents/${String(nth)}`)).filter((event) => event !== undefined),
      continueAs: continueAs === undefined ? undefined : { target: continueAs, data: this.#payload(continueAs.data, `${pointer}/end/continueAs/data`) },
    }
  }

  #produced(declared: Pick<ProducedEvent, 'eventRef' | 'data' | 'contextAttributes'>, pointer: string): Optional<CompiledProducedEvent> {
    const event = this.#events.get(declared.eventRef)
    if (event === undefined) return undefined
    const attributes = Object.keys(declared.contextAttributes).length === 0 ? undefined : declared.contextAttributes
    return { event, data: this.#payload(declared.data, `${pointer}/data`), attributes: this.#template(attributes, `${pointer}/contextAttributes`) }
  }
}

function placeOf(state: State, branch: string | undefined, action?: Action): Place {
  const name = action === undefined ? undefined : actionName(action)
  return {
    nodeId: [state.name, branch, name].filter((part) => part !== undefined && part !== '').join('/'),
    state: state.name,
    ...(branch === undefined ? {} : { branch }),
    ...(name === undefined ? {} : { action: name }),
  }
}
