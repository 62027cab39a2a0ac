export { createRuntime } from './runtime.ts'
export type { Addresses, DefinitionInput, ObservedStep, Replacements, Runtime, RuntimeOptions } from './runtime-options.ts'
export { normalise, validate, type Definition } from './definition/index.ts'
export { createBindings, createExpressions, type Bindings, type Expressions, type ExpressionsOptions } from './expressions/index.ts'
export { translate, type MachineConfig, type WorkflowMachines } from './translation/index.ts'
export type { FunctionCall, FunctionResult, HostContext } from './functions/index.ts'
export type { Host, InstancePage, InstanceQuery, InstanceRecord, StartRequest } from './hosts/index.ts'
export type { CloudEventRecord } from './events/index.ts'
export {
  Funq,
  bytes,
  cloudEvent,
  createFunctionRegistry,
  defineFunction,
  event,
  httpError,
  json,
  listenFunctions,
  nothing,
  serve,
  text,
  type FunctionContext,
  type ReceivedEvent,
} from './function-runtime/index.ts'
export {
  audit,
  createEnforcer,
  createEvaluator,
  enforce,
  evaluate,
  generateSystem,
  generateTenant,
  resolveInputs,
  toServerOptions,
  type AuthorizationPolicy,
  type Call,
  type Decision,
  type Enforcer,
  type EnforceOptions,
  type Evaluator,
  type EvaluatorOptions,
  type Finding,
  type ResolvedInputs,
  type TlsMaterial,
} from './tenancy/index.ts'
export {
  ConfigurationError,
  DataInputError,
  DefinitionError,
  EventError,
  ExpressionError,
  FunctionError,
  HostError,
  InstanceError,
  RequestError,
  SonatinaError,
  TenancyError,
  type ErrorCode,
  type Violation,
} from './errors/index.ts'
export { createLogger, createSystemClock, silentLogger, type Clock, type IdSource, type Json, type JsonObject, type Logger } from './common/index.ts'
