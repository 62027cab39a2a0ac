import { RegexFault } from './pattern.ts'

/** How a pattern is read. */
export interface RegexOptions {
  readonly ignoreCase: boolean
  /** Blanks and comments in the pattern do not count. */
  readonly extended: boolean
  /** A dot matches line ends too. */
  readonly dotAll: boolean
  /** Of several matches at one place the longest is taken. */
  readonly longest: boolean
}

/** A pattern in the syntax of an engine. */
export interface Translated {
  readonly source: string
  /** True when the pattern looks for the end of the text, which is also before a last line end. */
  readonly endsBeforeNewline: boolean
}

const MAX_COUNT = 1000

const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^\(\?<?[=!]/, 'look-around'],
  [/^\(\?>/, 'an atomic group'],
  [/^\(\?~/, 'an absence operator'],
  [/^\(\?\(/, 'a condition'],
  [/^(?:[*+?]|\{\d*,?\d*\})\+/, 'a possessive quantifier'],
  [/^\\[1-9]/, 'a back-reference'],
  [/^\\[kg][<'{]/, 'a back-reference'],
  [/^\\[hHRXKGyYN]/, 'an escape that this engine does not have'],
]

// What Oniguruma's \w, \d and \s mean: any script. Both engines know ASCII only.
const CLASSES: Readonly<Record<string, string>> = {
  w: '\\p{L}\\p{M}\\p{N}\\p{Pc}', d: '\\p{Nd}', s: '\\t\\n\\v\\f\\r\\x{85}\\p{Z}',
}
const POSIX: Readonly<Record<string, string>> = {
  alpha: '\\p{L}', digit: '\\p{Nd}', alnum: '\\p{L}\\p{N}', upper: '\\p{Lu}', lower: '\\p{Ll}', space: '\\s', punct: '\\p{P}\\p{S}',
  cntrl: '\\p{Cc}', xdigit: '0-9A-Fa-f', word: '\\w', blank: ' \\t', graph: '!-~', print: ' -~', ascii: '\\x00-\\x7f',
}

/**
 * Rewrites a pattern of Oniguruma (Perl syntax, as jq uses it) for an engine.
 *
 * @throws {@link RegexFault} naming a construct that cannot run in linear time.
 */
export function translate(pattern: string, options: RegexOptions, kind: 'linear' | 'backtracking'): Translated {
  return new Translator(pattern, options, kind).run()
}

class Translator {
  readonly #pattern: string
  readonly #options: RegexOptions
  readonly #kind: 'linear' | 'backtracking'
  #at = 0
  #endsBeforeNewline = false

  constructor(pattern: string, options: RegexOptions, kind: 'linear' | 'backtracking') {
    this.#pattern = pattern
    this.#options = options
    this.#kind = kind
  }

  run(): Translated {
    let source = ''
    while (this.#at < this.#pattern.length) source += this.#next()
    return { source, endsBeforeNewline: this.#endsBeforeNewline }
  }

  #next(): string {
    const rest = this.#pattern.slice(this.#at, this.#at + 12)
    if (this.#kind === 'linear') refuse(rest)
    const char = rest.charAt(0)
    if (char === '\\') return this.#escape()
    if (char === '[') return this.#class()
    if (rest.startsWith('(?#')) return this.#skipTo(')')
    if (char === '$') return this.#end()
    if (this.#options.extended && /\s/.test(char)) return this.#skip(1)
    if (this.#options.extended && char === '#') return this.#skipTo('\n')
    if (rest.startsWith('(?<') && !/^\(\?<[=!]/.test(rest)) return this.#take(3)
    if (char === '{' && this.#kind === 'linear') this.#checkCount()
    return this.#take(1)
  }

  #end(): string {
    this.#at += 1
    this.#endsBeforeNewline = true
    return this.#kind === 'linear' ? '$' : '(?=\\n?(?![\\s\\S]))'
  }

  #escape(): string {
    const char = this.#pattern[this.#at + 1]
    if (char === undefined) throw new RegexFault('end pattern at escape', 'write \\\\ for a backslash')
    if (char === 'Z') {
      this.#at += 1
      return this.#end()
    }
    this.#at += 2
    if (Object.hasOwn(CLASSES, char)) return `[${this.#inClass(CLASSES[char] ?? '')}]`
    const lower = char.toLowerCase()
    if (char !== lower && Object.hasOwn(CLASSES, lower)) return `[^${this.#inClass(CLASSES[lower] ?? '')}]`
    if (char === 'e') return '\\x1b'
    if (this.#kind === 'linear') return `\\${char}`
    if (char === 'A') return '(?<![\\s\\S])'
    if (char === 'z') return '(?![\\s\\S])'
    return this.#plainEscape(char)
  }

  // The platform's engine refuses escapes that are not needed.
  #plainEscape(char: string): string {
    return /[\w^$\\.*+?()[\]{}|/-]/.test(char) && !(char === '_' || char === '-') ? `\\${char}` : char
  }

  #class(): string {
    let out = '['
    this.#at += 1
    if (this.#pattern[this.#at] === '^') out += this.#take(1)
    if (this.#pattern[this.#at] === ']') {
      out += '\\]'
      this.#at += 1
    }
    for (let char = this.#pattern[this.#at]; char !== undefined; char = this.#pattern[this.#at]) {
      if (char === ']') return out + this.#take(1)
      out += this.#classItem(char)
    }
    throw new RegexFault('premature end of char-class', 'write ] where the class ends; the character itself is \\[')
  }

  #classItem(char: string): string {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 14))
    if (posix !== null && Object.hasOwn(POSIX, posix[2] ?? '') && (this.#kind === 'backtracking' || posix[1] === '')) {
      this.#at += posix[0].length
      return this.#inClass((POSIX[posix[2] ?? ''] ?? '').replace('\\s', CLASSES['s'] ?? '').replace('\\w', CLASSES['w'] ?? ''))
    }
    if (char === '[') {
      this.#at += 1
      return '\\['
    }
    if (char !== '\\') return this.#take(1)
    const next = this.#pattern[this.#at + 1] ?? ''
    this.#at += 2
    if (Object.hasOwn(CLASSES, next)) return this.#inClass(CLASSES[next] ?? '')
    if (next === 'h' || next === 'H') throw refused(`\\${next}`, 'an escape that this engine does not have')
    if (next === 'e') return '\\x1b'
    return this.#kind === 'linear' || next === '-' ? `\\${next}` : this.#plainEscape(next)
  }

  #inClass(items: string): string {
    return this.#kind === 'linear' ? items : items.replace('\\x{85}', '\\x85')
  }

  #checkCount(): void {
    const counts = /^\{(\d+)(?:,(\d*))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 24))
    if (counts !== null && [counts[1], counts[2]].some((count) => Number(count ?? 0) > MAX_COUNT)) {
      throw refused(counts[0], `a count over ${MAX_COUNT}`)
    }
  }

  #take(length: number): string {
    const text = this.#pattern.slice(this.#at, this.#at + length)
    this.#at += length
    return text
  }

  #skip(length: number): string {
    this.#at += length
    return ''
  }

  #skipTo(end: string): string {
    const close = this.#pattern.indexOf(end, this.#at)
    this.#at = close === -1 ? this.#pattern.length : close + 1
    return ''
  }
}

function refuse(rest: string): void {
  for (const [construct, name] of REFUSED) {
    const found = construct.exec(rest)
    if (found !== null) throw refused(found[0], name)
  }
}

function refused(construct: string, name: string): RegexFault {
  return new RegexFault(`the regular expression uses ${construct}, ${name}`,
    'rewrite it without, or set sonatina.expressions.regex=backtracking for trusted definitions')
}
