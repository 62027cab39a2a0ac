import { SyntaxFault } from '../syntax-fault.ts'
import { wellFormed } from './dump.ts'

/** What a token is; operators and keywords are their own type. */
export type TokenType = 'end' | 'name' | 'keyword' | 'field' | 'variable' | 'format' | 'number' | 'quote' | 'operator'

/** One token: its type, its text (names without their sign) and where it stands. */
export interface Token {
  readonly type: TokenType
  readonly text: string
  readonly start: number
  readonly end: number
}

const KEYWORDS: ReadonlySet<string> = new Set([
  'def', 'if', 'then', 'elif', 'else', 'end', 'as', 'reduce', 'foreach', 'try', 'catch', 'label', 'import', 'include', 'module',
  'and', 'or', '__loc__',
])
const OPERATORS: ReadonlySet<string> = new Set(['?//', '//=', '!=', '==', '//', '|=', '+=', '-=', '*=', '/=', '%=', '<=', '>=', '..'])
const SINGLE: ReadonlySet<string> = new Set('.?=;,:|+-*/%<>[]{}()')
const BLANK_START: ReadonlySet<string> = new Set(' \t\r\n#')
const BLANK = /(?:[ \t\r\n]|#(?:[^\\\r\n]|\\(?:\r\n|[^]))*)*/y
const NAME = /(?:[a-zA-Z_][a-zA-Z_0-9]*::)*[a-zA-Z_][a-zA-Z_0-9]*/y
const FIELD = /\.[a-zA-Z_][a-zA-Z_0-9]*/y
const NUMBER = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y
const FORMAT = /@[a-zA-Z0-9_]+/y
const PLAIN = /[^"\\]+/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
}

/** Splits the text of a program into tokens, on demand: what follows a quote is read by {@link Scanner.text}. */
export class Scanner {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /**
   * Reads the token at or after an offset.
   *
   * @throws {@link SyntaxFault} at a character that starts no token.
   */
  next(offset: number): Token {
    const start = BLANK_START.has(this.source[offset] ?? '') ? offset + this.#match(BLANK, offset).length : offset
    const char = this.source[start]
    if (char === undefined) return { type: 'end', text: '', start, end: start }
    if (char === '"') return { type: 'quote', text: '"', start, end: start + 1 }
    return this.#word(char, start) ?? this.#operator(char, start)
  }

  // The first character decides which pattern can match, so that most of them are never tried.
  #word(char: string, start: number): Token | undefined {
    if (char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char === '_') {
      const name = this.#match(NAME, start)
      return this.#token(KEYWORDS.has(name) ? 'keyword' : 'name', name, start, name.length)
    }
    if (char === '.' || char >= '0' && char <= '9') {
      const number = this.#match(NUMBER, start)
      if (number !== '') return this.#token('number', number, start, number.length)
      const field = this.#match(FIELD, start)
      return field === '' ? undefined : this.#token('field', field.slice(1), start, field.length)
    }
    if (char === '$') {
      const variable = this.#match(NAME, start + 1)
      return variable === '' ? undefined : this.#token('variable', variable, start, variable.length + 1)
    }
    if (char !== '@') return undefined
    const format = this.#match(FORMAT, start)
    return format === '' ? undefined : this.#token('format', format.slice(1), start, format.length)
  }

  #operator(char: string, start: number): Token {
    for (const length of [3, 2]) {
      const operator = this.source.slice(start, start + length)
      if (OPERATORS.has(operator)) return this.#token('operator', operator, start, operator.length)
    }
    if (SINGLE.has(char)) return this.#token('operator', char, start, 1)
    throw new SyntaxFault(`unexpected ${JSON.stringify(char)}`, start, hintForCharacter(this.source, start))
  }

  /**
   * Reads text inside quotes up to the closing quote or an interpolation `\(`.
   *
   * Gives the text, the offset behind what ended it, and which of the two it was.
   *
   * @throws {@link SyntaxFault} for a bad escape or a missing closing quote.
   */
  text(offset: number): { text: string; end: number; interpolation: boolean } {
    let text = ''
    let at = offset
    for (;;) {
      const plain = this.#match(PLAIN, at)
      text += plain
      at += plain.length
      const char = this.source[at]
      if (char === undefined) throw new SyntaxFault('the text in quotes has no closing quote', offset - 1, 'write " where the text ends')
      if (char === '"') return { text: wellFormed(text), end: at + 1, interpolation: false }
      const escape = this.source[at + 1] ?? ''
      if (escape === '(') return { text: wellFormed(text), end: at + 2, interpolation: true }
      if (escape === 'u') {
        const digits = this.source.slice(at + 2, at + 6)
        if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new SyntaxFault('invalid escape: \\u takes four hexadecimal digits', at, 'such as \\u00e9; write \\\\ for a backslash')
        text += String.fromCharCode(Number.parseInt(digits, 16))
        at += 6
        continue
      }
      if (!Object.hasOwn(ESCAPES, escape)) throw new SyntaxFault(`invalid escape: \\${escape}`, at, 'write \\\\ for a backslash')
      text += ESCAPES[escape] ?? ''
      at += 2
    }
  }

  #match(pattern: RegExp, offset: number): string {
    pattern.lastIndex = offset
    return pattern.exec(this.source)?.[0] ?? ''
  }

  #token(type: TokenType, text: string, start: number, length: number): Token {
    return { type, text, start, end: start + length }
  }
}

function hintForCharacter(source: string, offset: number): string {
  if (source[offset] === '\'') return 'jq writes texts in double quotes'
  if (source[offset] === '&') return 'write "and"'
  if (source[offset] === '!') return 'write "not" behind a pipe: (… | not)'
  if (source.startsWith('$', offset)) return 'a variable is $name, without a blank'
  if (source[offset] === '@') return 'a format is @name, such as @base64'
  if (/[\u2018-\u201f\u00ab\u00bb`]/.test(source[offset] ?? '')) return 'write plain double quotes "'
  return 'it means nothing in jq; texts stand in double quotes'
}
