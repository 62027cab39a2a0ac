import { DefinitionError } from '../errors/index.ts'
import type { Language } from './language.ts'
import type { LanguageOptions } from './language-options.ts'
import { createJsonata } from './jsonata/language.ts'
import { createJsonpath } from './jsonpath/language.ts'
import { createJq } from './jq/language.ts'
import { createRegexEngine } from './regex/engine.ts'

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
