import { DefinitionError } from '../errors/index.ts'
import type { Clock, IdSource, Logger } from '../common/index.ts'
import type { ExpressionLanguageName } from './evaluator.ts'
import type { ExpressionLimits } from './limits.ts'
import type { Language } from './language.ts'
import { createJsonata } from './jsonata/language.ts'
import { createJsonpath } from './jsonpath/language.ts'
import { createJq } from './jq/language.ts'
import { createRegexEngine } from './regex/engine.ts'

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

/**
 * Makes one of the languages.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for a name that is none.
 */
export function createLanguage(options: LanguageOptions): Language {
  switch (options.language) {
    case 'jq': return createJq(options, {
      clock: options.clock,
      limits: options.limits,
      regex: createRegexEngine(options.regex),
      debug: (message) => { options.logger.debug({ value: message }, 'jq debug') },
    })
    case 'jsonata': return createJsonata(options)
    case 'jsonpath': return createJsonpath(options)
    default: throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `unknown expression language ${JSON.stringify(options.language)}; write "jq", "jsonata" or "jsonpath"`,
    })
  }
}
