import type { Clock, IdSource, Logger } from '../common/index.ts'
import type { ExpressionLanguageName } from './evaluator.ts'
import type { ExpressionLimits } from './limits.ts'

/** What a language is made with. */
export interface LanguageOptions {
  readonly language: ExpressionLanguageName
  readonly limits: ExpressionLimits
  readonly regex: 'linear' | 'backtracking'
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly dynamicSecrets: boolean
  /** Names of all variables; absent when any may exist. */
  readonly variables?: readonly string[]
  readonly onVariable: (name: string) => void
  readonly onSecret: (key: string) => void
}
