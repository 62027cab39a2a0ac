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
