import type { Json } from '../common/index.ts'
import type { Action, ContinueAs, Continuation, Definition, EventDataFilter, EventDefinition, FunctionDefinition, RetryDefinition, State } from '../definition/index.ts'
import { createBindings, type Compiled, type Expressions, type Profile, type Target } from '../expressions/index.ts'
import type { Invoker } from '../functions/index.ts'
import type { Address } from '../translation/index.ts'
import type { ErrorMatcher } from './error-matching.ts'

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

/** Where something stands in a definition, in the names that callers know. */
export interface Place {
  /** `<state>`, `<state>/<action>` or `<state>/<branch>/<action>`; the management addresses show the same (http-contract.md §6). */
  readonly nodeId: string
  readonly state: string
  readonly branch?: string
  readonly action?: string
}

/** The compiled texts of a state. */
export interface CompiledState {
  readonly state: State
  readonly place: Place
  /** Places of its branches; entries of `onEvents` have none of their own. */
  readonly branchPlaces: readonly Place[]
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

/** The compiled texts of a transition or end. */
export interface CompiledLeave {
  readonly continuation: Continuation
  readonly events: readonly CompiledProducedEvent[]
  readonly continueAs: { readonly target: ContinueAs; readonly data: Compiled<Json> | undefined } | undefined
}

/** An event that is produced, with its compiled payload (S141, S104). */
export interface CompiledProducedEvent {
  readonly event: EventDefinition
  /** Absent: the whole state data (A08). */
  readonly data: Compiled<Json> | undefined
  readonly attributes: Compiled<Json> | undefined
}

/** The compiled texts of an `eventDataFilter` (S153–S155). */
export interface CompiledEventFilter {
  readonly filter: EventDataFilter
  readonly data: Compiled<Json> | undefined
  readonly target: Target | undefined
}

/** The compiled texts of an action (S99–S114). */
export interface CompiledAction {
  readonly action: Action
  readonly place: Place
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
