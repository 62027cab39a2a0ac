import { createRegexEngine } from '../regex/engine.ts'
import type { Pattern } from '../regex/pattern.ts'

/** The part of a regular expression that the library uses. */
interface LibraryRegex {
  lastIndex: number
  exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null
}

/** A class of regular expressions for the library. */
export type RegexClass = new (source: RegExp) => LibraryRegex

/** Makes the class that the library makes its regular expressions with, on the engine of the setting. */
export function linearRegex(kind: 'linear' | 'backtracking'): RegexClass {
  const engine = createRegexEngine(kind)
  return class {
    lastIndex = 0
    readonly #pattern: Pattern

    constructor({ source, flags }: RegExp) {
      const multiline = flags.includes('m') ? '(?m)' : ''
      this.#pattern = engine.compile(multiline + source, { ignoreCase: flags.includes('i'), extended: false, dotAll: flags.includes('s'), longest: false })
    }

    exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null {
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
  }
}
