import type { Json, JsonObject } from '../common/index.ts'

/**
 * The normalised definition: what `normalise` makes of the author's document and everything after it reads.
 *
 * In the words of the specification. Short forms are written out (`functionRef: 'f'` is `{refName: 'f', …}`),
 * defaults are filled in, external
 * references are resolved, durations are milliseconds, names are trimmed. Expressions stay the author's text.
 */
export interface Definition {
  /** S001; the `key` of the document when it has no `id`. */
  readonly id: string
  readonly key?: string
  readonly name?: string
  readonly description?: string
  /** `1.0` when absent. */
  readonly version: string
  readonly annotations: readonly string[]
  /** `0.8` when absent (S006). */
  readonly specVersion: string
  readonly expressionLang: 'jq' | 'jsonata' | 'jsonpath'
  /** Settings of the project, or `metadata.profile` of the definition. */
  readonly profile: 'spec' | 'sonataflow'
  /** Where an instance begins (S009). */
  readonly start: Start
  readonly dataInputSchema?: DataSchema
  /** SonataFlow's extension: the schema of the workflow data output. */
  readonly dataOutputSchema?: DataSchema
  readonly constants: JsonObject
  /** Names of declared secrets (S180). */
  readonly secrets: readonly string[]
  readonly keepActive: boolean
  readonly autoRetries: boolean
  readonly functions: readonly FunctionDefinition[]
  readonly events: readonly EventDefinition[]
  readonly errors: readonly ErrorDefinition[]
  readonly retries: readonly RetryDefinition[]
  readonly auth: readonly AuthDefinition[]
  /** Top-level timeouts; state and branch timeouts already hold what they inherit (S224, S225). */
  readonly timeouts: { readonly workflowExecTimeout?: WorkflowExecTimeout }
  readonly states: readonly State[]
  readonly extensions: readonly JsonObject[]
  readonly metadata: JsonObject
}

/** S253, S254. */
export interface Start {
  readonly stateName: string
  readonly schedule?: Schedule
}

/** S255–S262: an interval or a cron expression. */
export interface Schedule {
  /** The author's text, `R/…`. */
  readonly interval?: string
  readonly cron?: { readonly expression: string; readonly validUntil?: string }
  /** Name of the tz database. */
  readonly timezone: string
}

/** A JSON Schema of workflow data, resolved (S023, S024). */
export interface DataSchema {
  readonly schema: JsonObject | boolean
  readonly failOnValidationErrors: boolean
  /** The reference as written, when it was one. */
  readonly uri?: string
}

/** Kinds of functions (S116). */
export type FunctionType = 'rest' | 'asyncapi' | 'rpc' | 'graphql' | 'odata' | 'expression' | 'custom'

/** S115–S128. */
export interface FunctionDefinition {
  readonly name: string
  readonly type: FunctionType
  readonly operation: string
  readonly authRef?: string
  readonly metadata: JsonObject
}

/** S129–S139. */
export interface EventDefinition {
  readonly name: string
  readonly type: string
  readonly source?: string
  readonly kind: 'consumed' | 'produced'
  readonly dataOnly: boolean
  readonly correlation: readonly Correlation[]
  readonly metadata: JsonObject
}

/** S135, S136. */
export interface Correlation {
  readonly contextAttributeName: string
  readonly contextAttributeValue?: string
}

/** S196, S197. */
export interface ErrorDefinition {
  readonly name: string
  readonly code?: string
  readonly description?: string
}

/** S211–S219; durations in milliseconds. */
export interface RetryDefinition {
  readonly name: string
  readonly delay: number
  readonly maxDelay?: number
  readonly increment: number
  readonly multiplier: number
  /** Number of retries, not of attempts (A12); absent = unlimited. */
  readonly maxAttempts?: number
  /** A share of the delay (0 to 1) or an absolute number of milliseconds. */
  readonly jitter?: { readonly share: number } | { readonly absolute: number }
}

/** S282–S292. */
export interface AuthDefinition {
  readonly name: string
  readonly scheme: 'basic' | 'bearer' | 'oauth2'
  /** As written; a text is an expression that names a secret with all fields. */
  readonly properties: JsonObject | string
}

/** S227–S230. */
export interface WorkflowExecTimeout {
  readonly duration: number
  readonly interrupt: boolean
  readonly runBefore?: string
}

/** S222–S236, milliseconds; absent = unlimited. */
export interface Timeouts {
  readonly stateExecTimeout?: { readonly total: number; readonly single?: number }
  readonly actionExecTimeout?: number
  readonly branchExecTimeout?: number
  readonly eventTimeout?: number
}

/** A state of one of the eight types (G3–G10). */
export type State =
  | OperationState
  | SwitchState
  | InjectState
  | ParallelState
  | EventState
  | SleepState
  | ForEachState
  | CallbackState

/** Names of the eight state types. */
export type StateType = State['type']

/** What every state has (S095). */
export interface StateCommon {
  readonly id?: string
  readonly name: string
  readonly stateDataFilter: { readonly input?: string; readonly output?: string }
  readonly onErrors: readonly OnError[]
  readonly timeouts: Timeouts
  readonly compensatedBy?: string
  readonly usedForCompensation: boolean
  readonly metadata: JsonObject
}

/** What a state that goes on has: exactly one of the two, none on some compensation states (S096). */
export interface Continuation {
  readonly transition?: Transition
  readonly end?: End
}

/** Performs actions (S038–S042). */
export interface OperationState extends StateCommon, Continuation {
  readonly type: 'operation'
  readonly actionMode: 'sequential' | 'parallel'
  readonly actions: readonly Action[]
}

/** Chooses the way on by data or by events (S043–S054). */
export interface SwitchState extends StateCommon {
  readonly type: 'switch'
  readonly dataConditions: readonly DataCondition[]
  readonly eventConditions: readonly EventCondition[]
  /** Absent only in old documents: then no match is a workflow error (S045). */
  readonly defaultCondition?: Continuation
}

/** One condition of a data switch; the first that holds is taken (S044, S047). */
export interface DataCondition extends Continuation {
  readonly name?: string
  readonly condition: string
  readonly metadata: JsonObject
}

/** One event of an event switch (S048). */
export interface EventCondition extends Continuation {
  readonly name?: string
  readonly eventRef: string
  readonly eventDataFilter: EventDataFilter
  readonly metadata: JsonObject
}

/** Merges data into the workflow data (S070–S074). */
export interface InjectState extends StateCommon, Continuation {
  readonly type: 'inject'
  /** An object; SonataFlow takes any value (S070). */
  readonly data: Json
}

/** Waits for a while (S055–S058). */
export interface SleepState extends StateCommon, Continuation {
  readonly type: 'sleep'
  /** Milliseconds. */
  readonly duration: number
}

/** Runs branches beside each other (S059–S068). */
export interface ParallelState extends StateCommon, Continuation {
  readonly type: 'parallel'
  readonly completionType: 'allOf' | 'atLeast'
  /** A number, or an expression that gives one. */
  readonly numCompleted?: number | string
  /** `metadata.branchData`, else the setting (A19). */
  readonly branchData: 'shared' | 'isolated'
  readonly branches: readonly Branch[]
}

/** One branch of a parallel state; its actions run in sequence (S059, S064). */
export interface Branch {
  readonly name: string
  readonly actions: readonly Action[]
  readonly timeouts: Timeouts
}

/** Waits for events and performs actions for them (S027–S037). */
export interface EventState extends StateCommon, Continuation {
  readonly type: 'event'
  readonly exclusive: boolean
  readonly onEvents: readonly OnEvents[]
}

/** Events of an event state with what is done for them (S034). */
export interface OnEvents {
  readonly eventRefs: readonly string[]
  readonly actionMode: 'sequential' | 'parallel'
  readonly actions: readonly Action[]
  readonly eventDataFilter: EventDataFilter
}

/** Performs actions for each element of a list (S075–S086). */
export interface ForEachState extends StateCommon, Continuation {
  readonly type: 'foreach'
  readonly inputCollection: string
  readonly outputCollection?: string
  /** Without `$` or `.`; `item` when absent (S078). */
  readonly iterationParam: string
  /** A number, or an expression; absent = all at once. */
  readonly batchSize?: number | string
  readonly mode: 'sequential' | 'parallel'
  readonly actions: readonly Action[]
}

/** Performs an action and waits for the event that answers it (S087–S093). */
export interface CallbackState extends StateCommon, Continuation {
  readonly type: 'callback'
  readonly action: Action
  readonly eventRef: string
  readonly eventDataFilter: EventDataFilter
}

/** S099–S114: exactly one of functionRef, eventRef, subFlowRef. */
export interface Action {
  readonly name?: string
  readonly functionRef?: FunctionRef
  readonly eventRef?: ActionEventRef
  readonly subFlowRef?: SubFlowRef
  readonly condition?: string
  /** Milliseconds. */
  readonly sleep: { readonly before?: number; readonly after?: number }
  readonly retryRef?: string
  readonly retryableErrors: readonly string[]
  readonly nonRetryableErrors: readonly string[]
  readonly actionDataFilter: ActionDataFilter
}

/** Calls a function (S100–S102). */
export interface FunctionRef {
  readonly refName: string
  /** An object, or (SonataFlow, S101) one expression or a list of positional arguments; absent = none. */
  readonly arguments?: JsonObject | readonly Json[] | string
  readonly selectionSet?: string
  readonly invoke: 'sync' | 'async'
}

/** Produces an event and waits for another (S103–S108). */
export interface ActionEventRef {
  readonly triggerEventRef: string
  /** Absent in SonataFlow definitions. */
  readonly resultEventRef?: string
  /** Milliseconds; `actionExecTimeout` when absent (S106). */
  readonly resultEventTimeout?: number
  readonly data?: string | JsonObject
  readonly contextAttributes: JsonObject
  readonly invoke: 'sync' | 'async'
}

/** Starts another workflow (S185–S195). */
export interface SubFlowRef {
  readonly workflowId: string
  readonly version?: string
  readonly invoke: 'sync' | 'async'
  readonly onParentComplete: 'terminate' | 'continue'
}

/** What an action sees and what becomes of its result (S149–S152). */
export interface ActionDataFilter {
  readonly fromStateData?: string
  readonly results?: string
  readonly toStateData?: string
  readonly useResults: boolean
}

/** What becomes of the payload of an event (S153–S155). */
export interface EventDataFilter {
  readonly data?: string
  readonly toStateData?: string
  readonly useData: boolean
}

/** S198; `errorRefs` holds the one of `errorRef` too. */
export interface OnError extends Continuation {
  readonly errorRefs: readonly string[]
}

/** Goes on to another state (S277–S281). */
export interface Transition {
  readonly nextState: string
  readonly compensate: boolean
  readonly produceEvents: readonly ProducedEvent[]
}

/** Ends a path or the instance (S266–S276). */
export interface End {
  readonly terminate: boolean
  readonly compensate: boolean
  readonly produceEvents: readonly ProducedEvent[]
  readonly continueAs?: ContinueAs
}

/** Goes on as a new instance of a workflow (S272–S276). */
export interface ContinueAs {
  readonly workflowId: string
  readonly version?: string
  readonly data?: string | JsonObject
  readonly workflowExecTimeout?: WorkflowExecTimeout
}

/** An event that is sent (S141, S142). */
export interface ProducedEvent {
  readonly eventRef: string
  readonly data?: string | Json
  readonly contextAttributes: JsonObject
}

/** A definition with where it came from and what was noticed while loading it. */
export interface LoadedDefinition {
  readonly definition: Definition
  readonly source: DefinitionSource
  /** Things that were tolerated or look wrong; none stops the definition. */
  readonly warnings: readonly LintWarning[]
}

/** The author's document. */
export interface DefinitionSource {
  /** Absolute path or URI of the file; a made-up one for inline documents. */
  readonly uri: string
  readonly format: 'json' | 'yaml'
  readonly text: string
  /** SHA-256 of the text, hexadecimal: running instances keep the text they started with. */
  readonly hash: string
  /** Files that were read to resolve external references, by URI. */
  readonly resources: Readonly<Record<string, string>>
  /** For each JSON pointer whose value came from one of these files: its URI, and the pointer there. */
  readonly origins?: Readonly<Record<string, { readonly uri: string; readonly pointer: string }>>
  /** True when the text was made from an object: lines of it mean nothing to the author. */
  readonly generated?: true
}

/** Something worth a look that does not stop a definition. */
export interface LintWarning {
  /** Kebab-case name of the check. */
  readonly rule: string
  readonly pointer: string
  readonly line?: number
  readonly message: string
}
