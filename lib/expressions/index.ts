export {
  LAZY,
  type Bindings,
  type Compiled,
  type ExpressionLanguageName,
  type Expressions,
  type LazyRecord,
  type MaybePromise,
  type Profile,
  type Reads,
  type Site,
  type Target,
} from './evaluator.ts'
export { mergeObjects, mergeResult } from './merge.ts'
export { createBindings, type BindingsOptions } from './bindings.ts'
export { createExpressions, type ExpressionsOptions, type FallbackFacts } from './expressions.ts'
export { DEFAULT_LIMITS, type ExpressionLimits } from './limits.ts'
export { formatExpressionError } from './locate.ts'
export { compile, type CompiledExpression, type CompileOptions } from './compile.ts'
