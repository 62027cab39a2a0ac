import { SyntaxFault } from '../syntax-fault.ts'
import { Scanner, type Token, type TokenType } from './scanner.ts'
import { hintForMissing, hintForUnexpected } from './token-hints.ts'

/** Reads a program token by token, with one token at hand. */
export class TokenReader {
  protected readonly scanner: Scanner
  protected token: Token
  #previous: Token | undefined

  constructor(source: string) {
    this.scanner = new Scanner(source)
    this.token = this.scanner.next(0)
  }

  /** Tells whether the token at hand is this operator or keyword. */
  protected is(text: string): boolean {
    return this.token.text === text && (this.token.type === 'operator' || this.token.type === 'keyword')
  }

  /** Goes on when the token at hand is this operator or keyword. */
  protected take(text: string): boolean {
    if (!this.is(text)) return false
    this.advance()
    return true
  }

  /** Goes on, or fails when the token at hand is another. */
  protected expect(text: string): void {
    if (!this.take(text)) this.unexpected(`"${text}"`)
  }

  /** Goes on; gives the token that was at hand. */
  protected advance(): Token {
    const token = this.token
    this.#previous = token
    this.token = this.scanner.next(token.end)
    return token
  }

  /** Fails at the token at hand, where something else has to stand. */
  protected unexpected(wanted?: string, advice?: string): never {
    const isEnd = this.token.type === 'end'
    this.#fail(wanted, isEnd && wanted !== undefined ? advice ?? `write ${wanted} there` : hintForUnexpected(this.token, this.#previous))
  }

  /** Fails at the token at hand, where an operand has to stand. */
  protected missing(): never {
    this.#fail(undefined, hintForMissing(this.token, this.#previous))
  }

  #fail(wanted: string | undefined, hint: string): never {
    const { type, text, start } = this.token
    const found = type === 'end' ? 'the expression ends too early' : `unexpected ${describeToken(type, text)}`
    throw new SyntaxFault(wanted === undefined ? found : `${found}, expected ${wanted}`, start, hint)
  }
}

function describeToken(type: TokenType, text: string): string {
  if (type === 'field') return `".${text}"`
  if (type === 'variable') return `"$${text}"`
  if (type === 'format') return `"@${text}"`
  return type === 'quote' ? 'text in quotes' : `"${text}"`
}
