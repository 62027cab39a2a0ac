import { createBacktrackingPattern } from './backtracking.ts'
import { createLinearPattern } from './linear.ts'
import { RegexFault, type Pattern } from './pattern.ts'
import { translate, type RegexOptions } from './translate.ts'

/** Compiles and remembers regular expressions. */
export interface RegexEngine {
  /**
   * Compiles a pattern in Oniguruma's syntax.
   *
   * @throws RegexFault for what does not parse and what the engine refuses.
   */
  compile(pattern: string, options: RegexOptions): Pattern
}

const CACHED = 500
// Compiling takes time beyond linear: 80,000 nested groups take 20 s, and 4,000 some milliseconds.
const LONGEST_PATTERN = 4000

/**
 * Creates a regex engine: `linear` takes time proportional to the text, whatever the pattern; `backtracking` is the
 * platform's own, for trusted definitions and texts of at most 10,000 characters (expressions.md "Regular expressions").
 */
export function createRegexEngine(kind: 'linear' | 'backtracking'): RegexEngine {
  const cache = new Map<string, Pattern>()
  const create = kind === 'linear' ? createLinearPattern : createBacktrackingPattern
  return {
    compile(pattern, options) {
      if (pattern.length > LONGEST_PATTERN) throw new RegexFault(`the regular expression is longer than ${LONGEST_PATTERN} characters`, 'split it into several')
      const { ignoreCase, extended, dotAll, longest } = options
      const key = `${ignoreCase ? 'i' : ''}${extended ? 'x' : ''}${dotAll ? 's' : ''}${longest ? 'l' : ''}/${pattern}`
      const known = cache.get(key)
      if (known !== undefined) return known
      const compiled = create(translate(pattern, options, kind), options)
      if (cache.size >= CACHED) cache.delete(cache.keys().next().value ?? '')
      cache.set(key, compiled)
      return compiled
    },
  }
}
