export { Funq, functionsOf } from './funq.ts'
export {
  defineFunction,
  isHostedFunction,
  type AnyHostedFunction,
  type FunctionContext,
  type FunctionOptions,
  type Handler,
  type HostedFunction,
} from './define-function.ts'
export {
  bytes,
  cloudEvent,
  json,
  nothing,
  text,
  type BytesDescriptor,
  type DataDescriptor,
  type Descriptor,
  type EventDescriptor,
  type InputOf,
  type JsonDescriptor,
  type NothingDescriptor,
  type OutputOf,
  type TextDescriptor,
} from './descriptors.ts'
export { event, type EventAttributes, type EventOutput, type ReceivedEvent } from './event.ts'
export { httpError } from './http-error.ts'
export type { Infer, JsonSchema } from './schema-types.ts'
export type { FunctionMapping, FunctionRuntimeOptions } from './options.ts'
export { functionOptionsFrom, type FunctionSettings } from './from-settings.ts'
export type { FunctionSources } from './resolve-functions.ts'
export { createFunctionRegistry, type FunctionRegistry, type RegistryCallContext } from './registry.ts'
export { isFunctionService, serve, type FunctionService } from './serve.ts'
export { listenFunctions, type FunctionServer, type ListenOptions } from './listen.ts'
