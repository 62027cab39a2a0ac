export type { CallContext, FunctionCall, FunctionCompiler, FunctionResult, FunctionScope, Invoker } from './invoker.ts'
