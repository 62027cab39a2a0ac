import { ProgramFailure } from '../language.ts'
import type { LanguageOptions } from '../language-options.ts'
import { createRegexEngine } from '../regex/engine.ts'
import type { Pattern } from '../regex/pattern.ts'

/** The part of a regular expression that the library uses. */
interface LibraryRegex {
  lastIndex: number
  exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null
}

/** A class of regular expressions for the library. */
export type RegexClass = new (source: RegExp) => LibraryRegex

// A step of the limit is worth this many characters that are searched.
const CHARACTERS_PER_STEP = 64

/**
 * Makes the class that the library makes its regular expressions with, on the engine of the setting.
 *
 * The library makes one for each evaluation of the pattern, and searches for all matches without a look at the clock; so each
 * has its own share of steps and time.
 */
export function linearRegex({ regex, clock, limits }: LanguageOptions): RegexClass {
  const engine = createRegexEngine(regex)
  return class {
    lastIndex = 0
    readonly #pattern: Pattern
    readonly #deadline = clock.now() + limits.timeout
    #steps = limits.maxSteps

    constructor({ source, flags }: RegExp) {
      const multiline = flags.includes('m') ? '(?m)' : ''
      this.#pattern = engine.compile(multiline + source, { ignoreCase: flags.includes('i'), extended: false, dotAll: flags.includes('s'), longest: false })
    }

    exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null {
      this.#spend(text.length - this.lastIndex)
      const positions = this.lastIndex > text.length ? undefined : this.#pattern.find(text, this.lastIndex)
      if (positions === undefined) {
        this.lastIndex = 0
        return null
      }
      const groups: (string | undefined)[] = []
      for (let at = 0; at < positions.length; at += 2) {
        const start = positions[at] ?? -1
        groups.push(start === -1 ? undefined : text.slice(start, positions[at + 1]))
      }
      this.lastIndex = positions[1] ?? 0
      return Object.assign(groups, { index: positions[0] ?? 0 })
    }

    #spend(characters: number): void {
      this.#steps -= 1 + characters / CHARACTERS_PER_STEP
      if (this.#steps < 0) throw new ProgramFailure('limit', `max-steps: the expression takes more than ${limits.maxSteps} steps`)
      if (clock.now() > this.#deadline) throw new ProgramFailure('limit', `timeout: the expression takes more than ${limits.timeout} ms`)
    }
  }
}
