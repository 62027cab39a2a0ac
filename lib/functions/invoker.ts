import type { CancelSignal, Json, JsonObject, Logger } from '../common/index.ts'
import type { AuthDefinition, FunctionDefinition } from '../definition/index.ts'
import type { MaybePromise } from '../expressions/index.ts'

/** Who calls a function, and what accompanies the call. */
export interface CallContext {
  readonly workflowId: string
  readonly workflowVersion: string
  readonly instanceId: string
  readonly parentInstanceId?: string
  readonly rootInstanceId?: string
  readonly rootWorkflowId?: string
  readonly parentWorkflowId?: string
  readonly businessKey?: string
  readonly referenceId?: string
  /** Name of the state and action that call; for logs. */
  readonly state: string
  readonly action?: string
  /** Headers of the request or event that started the instance, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of W3C Trace Context that a remote call sends; absent when there are no traces. */
  readonly traceHeaders?: Readonly<Record<string, string>>
  /** `<instance>:<effect>:<token>`: equal when the same call is repeated after a crash or a renewal. */
  readonly idempotencyKey: string
  /** Aborts when the branch, state or instance is stopped. */
  readonly signal: AbortSignal
  /** The same, for calls of the runtime's own; absent where there is only the signal. */
  readonly cancellation?: CancelSignal
  readonly log: Logger
}

/** One call of a function. */
export interface FunctionCall {
  /** Evaluated arguments; absent when the action names none. */
  readonly arguments?: Json
  /** Evaluated selection set (graphql). */
  readonly selectionSet?: string
  /** The data that the action sees: state data after `fromStateData`. */
  readonly data: Json
  readonly context: CallContext
}

/** What a call gives back. */
export interface FunctionResult {
  /** Merged into the workflow data after the action's filters; null or absent merges nothing. */
  readonly output?: Json
  /** For `$WORKFLOW.statusCode`, `.statusMessage`, `.responseHeaders`. */
  readonly response?: {
    readonly statusCode: number
    readonly statusMessage: string
    readonly headers: Readonly<Record<string, string>>
  }
}

/** A function of a definition, compiled at load and ready to be called. */
export interface Invoker {
  /** True when a call changes nothing outside: it may be made before the instance is written, and again. */
  readonly isPure?: boolean
  /** True when an action must name arguments for it (`sysout`): checked at load against each `functionRef`. */
  readonly needsArguments?: boolean
  /**
   * Set when the function is an event on a channel of the messaging settings (`asyncapi`): a `consumed` one has no call, the instance
   * waits for the event; a `produced` one may be sent through the instance's outbox instead of `invoke`.
   */
  readonly event?: {
    readonly kind: 'consumed' | 'produced'
    /** Event type, which is the name of the channel. */
    readonly type: string
  }
  /**
   * Calls the function. May answer at once (a plain value) or later (a promise).
   *
   * @throws {@link FunctionError}, or whatever a host function throws; the instance turns it into a workflow error.
   */
  invoke(call: FunctionCall): MaybePromise<FunctionResult>
}

/** Compiles the functions of definitions at load. */
export interface FunctionCompiler {
  /**
   * Compiles one function.
   *
   * `base` is the URI of the definition, `root` the project directory; relative documents resolve against them.
   *
   * @throws {@link DefinitionError} when the operation is malformed or names something that does not exist.
   */
  compile(definition: FunctionDefinition, scope: FunctionScope): Promise<Invoker>
  /** Words the settings of documents and security schemes that no function compiled so far uses: most likely misspelt (configuration.md §8). */
  unusedSettings(): readonly string[]
  close(): Promise<void>
}

/** What a function of a definition may refer to. */
export interface FunctionScope {
  readonly workflowId: string
  readonly profile: 'spec' | 'sonataflow'
  /** URI of the definition. */
  readonly base: string
  readonly auth: readonly AuthDefinition[]
  readonly extensions: readonly JsonObject[]
  readonly secrets: readonly string[]
  readonly constants: JsonObject
  /** Evaluates an expression of function metadata (`configKey`) or of auth properties against the data of a call. */
  evaluate(text: string, data: Json, context: CallContext): MaybePromise<Json>
}
