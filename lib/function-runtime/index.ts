export { Funq, functionsOf } from './funq.ts'
export {
  defineFunction,
  isHostedFunction,
  type AnyHostedFunction,
  type FunctionContext,
  type FunctionOptions,
  type HostedFunction,
} from './define-function.ts'
export { bytes, cloudEvent, json, nothing, text, type DataDescriptor, type Descriptor } from './descriptors.ts'
export { event, type ReceivedEvent } from './event.ts'
export { httpError } from './http-error.ts'
export type { Infer, JsonSchema } from './schema-types.ts'
export type { FunctionRuntimeOptions } from './options.ts'
export { functionOptionsFrom } from './from-settings.ts'
export type { FunctionSources } from './resolve-functions.ts'
export { createFunctionRegistry, type RegistryCallContext } from './registry.ts'
export { isFunctionService, serve, type FunctionService } from './serve.ts'
export { listenFunctions, type FunctionServer, type ListenOptions } from './listen.ts'
