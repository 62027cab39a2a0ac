import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast, BinaryOperator } from './ast.ts'
import { TermParser } from './terms.ts'

type Side = 'left' | 'right' | 'none'

/** Binding strength of operators, weakest first; pipes and commas are weaker still. */
const PRECEDENCE: Readonly<Record<BinaryOperator, readonly [number, Side]>> = {
  '//': [1, 'right'],
  '=': [2, 'none'], '|=': [2, 'none'], '+=': [2, 'none'], '-=': [2, 'none'], '*=': [2, 'none'], '/=': [2, 'none'],
  '%=': [2, 'none'], '//=': [2, 'none'],
  or: [3, 'left'],
  and: [4, 'left'],
  '==': [5, 'none'], '!=': [5, 'none'], '<': [5, 'none'], '<=': [5, 'none'], '>': [5, 'none'], '>=': [5, 'none'],
  '+': [6, 'left'], '-': [6, 'left'],
  '*': [7, 'left'], '/': [7, 'left'], '%': [7, 'left'],
}

// Each level of nesting takes a handful of frames, here and while the program runs.
const MAX_NESTING = 400

/** What can be done about an expression that is nested too deeply. */
export const TOO_DEEP = 'split it into several steps, or into expression functions'

/**
 * Parses a jq 1.8 program (without modules).
 *
 * @throws {@link SyntaxFault} with the offset of the first fault and a hint where one is known.
 */
export function parse(source: string): Ast {
  return new Parser(source).program()
}

class Parser extends TermParser {
  #nesting = 0

  program(): Ast {
    if (this.#atEnd()) return { kind: 'identity', at: 0 }
    if (['module', 'import', 'include'].some((word) => this.is(word))) {
      throw new SyntaxFault(`modules are not available: ${this.token.text}`, this.token.start, 'put the functions into the expression')
    }
    // A program may consist of definitions alone: `def f: 1;` is the identity.
    const query = this.is('def') ? this.#definition(() => this.#identityAtEnd()) : this.query()
    if (!this.#atEnd()) this.unexpected()
    return query
  }

  #identityAtEnd(): Ast | undefined {
    return this.#atEnd() ? { kind: 'identity', at: this.token.start } : undefined
  }

  #atEnd(): boolean {
    return this.token.type === 'end'
  }

  protected override query(): Ast {
    if ((this.#nesting += 1) > MAX_NESTING) throw new SyntaxFault('the expression is nested too deeply', this.token.start, TOO_DEEP)
    let left = this.#operand()
    for (;;) {
      const at = this.token.start
      if (this.take(',')) left = { kind: 'comma', at, left, right: this.#operand() }
      else if (this.take('|')) {
        // Pipes are long, not deep: they do not count as nesting.
        this.#nesting -= 1
        const right = this.query()
        this.#nesting += 1
        left = { kind: 'pipe', at, left, right }
        break
      } else break
    }
    this.#nesting -= 1
    return left
  }

  /** An operand of `,` and `|`; definitions, labels and bindings take everything to their right. */
  #operand(): Ast {
    const at = this.token.start
    if (this.is('def')) return this.#definition()
    if (this.take('label')) {
      const name = this.variable()
      this.expect('|')
      return { kind: 'label', at, name, body: this.query() }
    }
    const source = this.expression(0)
    if (!this.take('as')) return source
    const patterns = this.patterns()
    this.expect('|')
    return { kind: 'as', at, source, patterns, body: this.query() }
  }

  #definition(alone?: () => Ast | undefined): Ast {
    const at = this.token.start
    this.expect('def')
    const name = this.token.type === 'keyword' ? this.advance().text : this.name()
    const params: string[] = []
    if (this.take('(')) {
      do params.push(this.token.type === 'variable' ? `$${this.advance().text}` : this.#parameter())
      while (this.take(';'))
      this.expect(')')
    }
    this.expect(':')
    const body = this.query()
    this.expect(';')
    const rest = alone === undefined ? this.query() : this.is('def') ? this.#definition(alone) : (alone() ?? this.query())
    return { kind: 'def', at, name, params, body, rest }
  }

  #parameter(): string {
    return this.token.type === 'keyword' ? this.advance().text : this.name()
  }

  protected override expression(minimum: number): Ast {
    let left = this.#unary()
    for (;;) {
      const operator = this.#operator()
      if (operator === undefined) return left
      const [strength, side] = PRECEDENCE[operator]
      if (strength < minimum) return left
      const at = this.advance().start
      this.#explainOperator(operator)
      const right = this.expression(side === 'right' ? strength : strength + 1)
      left = { kind: 'binary', at, operator, left, right }
      const next = this.#operator()
      if (side === 'none' && next !== undefined && PRECEDENCE[next][0] === strength) {
        throw new SyntaxFault(`${operator} and ${next} cannot be chained`, this.token.start, 'put one of them into parentheses')
      }
    }
  }

  #operator(): BinaryOperator | undefined {
    const { type, text } = this.token
    return (type === 'operator' || type === 'keyword') && Object.hasOwn(PRECEDENCE, text) ? (text as BinaryOperator) : undefined
  }

  #explainOperator(operator: BinaryOperator): void {
    if (operator === '=' && this.is('=')) throw new SyntaxFault('unexpected "="', this.token.start, 'for equality write ==')
    if (operator === '==' && this.is('=')) throw new SyntaxFault('unexpected "="', this.token.start, 'for equality write ==')
    if (operator === '//' && this.is('/')) throw new SyntaxFault('unexpected "/"', this.token.start, 'the alternative operator is //; a comment begins with #')
  }

  #unary(): Ast {
    const at = this.token.start
    if (this.take('-')) return { kind: 'negate', at, operand: this.#unary() }
    if (!this.take('try')) return this.postfix(this.term())
    const body = this.#unary()
    return this.take('catch') ? { kind: 'try', at, body, handler: this.#unary() } : { kind: 'try', at, body }
  }
}
