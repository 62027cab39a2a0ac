import type { ExpressionLanguageName, Profile } from './evaluator.ts'
import { isReference } from './references.ts'

/**
 * What a text in arguments or data is: `text` as it stands; `wrapped`, an expression whose faults are reported; `path`, an
 * expression by its beginning, or the text when it does not compile; `guess`, an expression only if it compiles and runs.
 */
export type TextDecision = 'text' | 'wrapped' | 'path' | 'guess'

const BEGINNINGS: Readonly<Record<ExpressionLanguageName, RegExp>> = {
  jq: /^(?:\.|\$(?:WORKFLOW|CONST|SECRETS?)\b)/,
  jsonpath: /^\$(?:[.[]|$|(?:WORKFLOW|CONST|SECRETS?)\b)/,
  jsonata: /^\$(?:WORKFLOW|CONST|SECRETS?)\b/,
}

/** Decides what a text in arguments or data is (expressions.md "Argument templates"; A04). */
export function decideText(text: string, language: ExpressionLanguageName, profile: Profile): TextDecision {
  const trimmed = text.trim()
  if (trimmed === '') return 'text'
  if (isReference(trimmed)) return 'wrapped'
  if (trimmed.startsWith('${') || trimmed.startsWith('{{')) return startsWrapped(trimmed, profile)
  // Text around expressions is interpolated by the specification and plain text in SonataFlow.
  if (trimmed.includes('${') && profile === 'spec') return 'wrapped'
  if (BEGINNINGS[language].test(trimmed)) return 'path'
  return profile === 'sonataflow' && language === 'jq' ? 'guess' : 'text'
}

function startsWrapped(trimmed: string, profile: Profile): TextDecision {
  const closing = trimmed.startsWith('{{') ? '}}' : '}'
  if (profile === 'spec' || trimmed.endsWith(closing)) return 'wrapped'
  return 'guess'
}
