export type {
  Bindings,
  Compiled,
  ExpressionLanguageName,
  Expressions,
  MaybePromise,
  Profile,
  Target,
} from './evaluator.ts'
export { mergeObjects, mergeResult } from './merge.ts'
export { createBindings, type BindingsOptions } from './bindings.ts'
export { createExpressions, type ExpressionsOptions, type FallbackFacts } from './expressions.ts'
export { formatExpressionError } from './locate.ts'
export { compile, type CompiledExpression } from './compile.ts'
