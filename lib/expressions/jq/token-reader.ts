import { SyntaxFault } from '../syntax-fault.ts'
import { Scanner, type Token } from './scanner.ts'

/** Reads a program token by token, with one token at hand. */
export class TokenReader {
  protected readonly scanner: Scanner
  protected token: Token

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
    this.token = this.scanner.next(token.end)
    return token
  }

  /** Fails at the token at hand. */
  protected unexpected(wanted?: string): never {
    const { type, text, start } = this.token
    const found = type === 'end' ? 'the expression ends too early' : `unexpected ${describeToken(type, text)}`
    throw new SyntaxFault(wanted === undefined ? found : `${found}, expected ${wanted}`, start, this.#hint())
  }

  #hint(): string | undefined {
    const { type, text } = this.token
    if (text === '=' && type === 'operator') return 'for equality write =='
    if (text === '|' && type === 'operator') return 'for a logical or write "or"'
    if (type === 'name') return 'join filters with |, or put the text in quotes'
    if (type === 'keyword') return `"${text}" is a word of jq; as a field write ."${text}"`
    return undefined
  }
}

function describeToken(type: string, text: string): string {
  if (type === 'field') return `".${text}"`
  if (type === 'variable') return `"$${text}"`
  if (type === 'format') return `"@${text}"`
  return type === 'quote' ? 'text in quotes' : `"${text}"`
}
