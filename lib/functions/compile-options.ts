import type { Clock, IdSource, Json, JsonObject, Logger } from '../common/index.ts'
import type { Authorizer } from '../auth/index.ts'
import type { Settings } from '../configuration/index.ts'
import type { FunctionDefinition } from '../definition/index.ts'
import { DefinitionError, FunctionError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { HttpClients } from '../http-client/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import type { CallContext, FunctionCall, FunctionResult, FunctionScope, Invoker } from './invoker.ts'

/** A function type of the host, called for `custom` functions whose operation is its name, or begins with it and a colon. */
export type FunctionTypeHandler =
  /** Called with the text behind the colon, empty when there is none. */
  | ((operation: string, call: FunctionCall) => MaybePromise<FunctionResult>)
  /** Compiled once per function at load; may throw {@link DefinitionError} when the operation is malformed. */
  | { compile(operation: string, definition: FunctionDefinition): (call: FunctionCall) => MaybePromise<FunctionResult> }

/** Functions that the same process hosts, for `custom` functions `function:<name>`. */
export interface HostedFunctions {
  invoke(name: string, input: Json, context: CallContext): MaybePromise<Json>
}

/** What the functions of definitions are compiled with. */
export interface FunctionCompilerOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly ids: IdSource
  readonly httpClients: HttpClients
  readonly authorizer: Authorizer
  readonly log: Logger
  /** Project directory, for documents. @default the working directory of the process, given by the composition */
  readonly root: string
  /** Objects whose methods `service:<class>::<method>` calls, by class name. */
  readonly hostClasses: ReadonlyMap<string, object>
  readonly functionTypes?: ReadonlyMap<string, FunctionTypeHandler>
  readonly hostedFunctions?: HostedFunctions
  /** Takes events that functions produce (`asyncapi` to a channel of the messaging settings). */
  readonly publish?: (event: CloudEventRecord) => MaybePromise<void>
  /** Receives lines of `sysout` functions. @default the log */
  readonly stdout?: (line: string) => void
}

/** Everything that compiling one function may need. */
export interface FunctionSource<Options = FunctionCompilerOptions> {
  readonly definition: FunctionDefinition
  readonly scope: FunctionScope
  readonly options: Options
}

/** How a function is called in messages. */
export function describeFunction({ definition, scope }: Pick<FunctionSource, 'definition' | 'scope'>): string {
  return `function "${definition.name}" of workflow "${scope.workflowId}"`
}

/** Makes the error of an operation that is not written as its type wants it. */
export function malformed(source: Pick<FunctionSource, 'definition' | 'scope'>, expected: string): DefinitionError {
  return new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `The operation "${source.definition.operation}" of ${describeFunction(source)} is malformed; write ${expected}`,
  })
}

/**
 * Gives an invoker for something that the host has not registered: a warning now, an error at each call, which `onErrors` can match.
 *
 * Not an error of the definition: what is missing lies outside it, and its other paths work.
 */
export function unavailable(source: FunctionSource, problem: string): Invoker {
  const message = `${describeFunction(source)} cannot be called: ${problem}`
  source.options.log.warn({ workflowId: source.scope.workflowId, function: source.definition.name }, message)
  return {
    invoke: () => {
      throw new FunctionError({ code: 'FUNCTION_NOT_FOUND', message, details: { function: source.definition.name } })
    },
  }
}

/** Tells whether a remote status outside 2xx is an error: it is, unless `metadata.failOnStatusCode` says false. */
export function failsOnStatus(metadata: JsonObject): boolean {
  const stated = metadata['failOnStatusCode']
  return stated !== false && stated !== 'false'
}

/** Continues with a value now or later, without making the one that is there wait. */
export function andThen<From, To>(value: MaybePromise<From>, next: (value: From) => To): MaybePromise<To> {
  return value instanceof Promise ? value.then(next) : next(value)
}
