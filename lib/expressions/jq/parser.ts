import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast, BinaryOperator, ObjectEntry, Pattern, PatternMember, TextPart } from './ast.ts'
import { TokenReader } from './token-reader.ts'

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

/**
 * Parses a jq 1.8 program (without modules).
 *
 * @throws {@link SyntaxFault} with the offset of the first fault and a hint where one is known.
 */
export function parse(source: string): Ast {
  return new Parser(source).program()
}

class Parser extends TokenReader {
  #nesting = 0

  program(): Ast {
    if (this.#atEnd()) return { kind: 'identity', at: 0 }
    if (['module', 'import', 'include'].some((word) => this.is(word))) {
      throw new SyntaxFault(`modules are not available: ${this.token.text}`, this.token.start, 'put the functions into the expression')
    }
    // A program may consist of definitions alone: `def f: 1;` is the identity.
    const query = this.is('def') ? this.#definition(() => this.#identityAtEnd()) : this.#query()
    if (!this.#atEnd()) this.unexpected()
    return query
  }

  #identityAtEnd(): Ast | undefined {
    return this.#atEnd() ? { kind: 'identity', at: this.token.start } : undefined
  }

  #atEnd(): boolean {
    return this.token.type === 'end'
  }

  #query(): Ast {
    if ((this.#nesting += 1) > MAX_NESTING) throw new SyntaxFault('the expression is nested too deeply', this.token.start)
    let left = this.#operand()
    for (;;) {
      const at = this.token.start
      if (this.take(',')) left = { kind: 'comma', at, left, right: this.#operand() }
      else if (this.take('|')) {
        // Pipes are long, not deep: they do not count as nesting.
        this.#nesting -= 1
        const right = this.#query()
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
      const name = this.#variable()
      this.expect('|')
      return { kind: 'label', at, name, body: this.#query() }
    }
    const source = this.#expression(0)
    if (!this.take('as')) return source
    const patterns = this.#patterns()
    this.expect('|')
    return { kind: 'as', at, source, patterns, body: this.#query() }
  }

  #definition(alone?: () => Ast | undefined): Ast {
    const at = this.token.start
    this.expect('def')
    const name = this.token.type === 'keyword' ? this.advance().text : this.#name()
    const params: string[] = []
    if (this.take('(')) {
      do params.push(this.token.type === 'variable' ? `$${this.advance().text}` : this.#parameter())
      while (this.take(';'))
      this.expect(')')
    }
    this.expect(':')
    const body = this.#query()
    this.expect(';')
    const rest = alone === undefined ? this.#query() : this.is('def') ? this.#definition(alone) : (alone() ?? this.#query())
    return { kind: 'def', at, name, params, body, rest }
  }

  #parameter(): string {
    return this.token.type === 'keyword' ? this.advance().text : this.#name()
  }

  #expression(minimum: number): Ast {
    let left = this.#unary()
    for (;;) {
      const operator = this.#operator()
      if (operator === undefined) return left
      const [strength, side] = PRECEDENCE[operator]
      if (strength < minimum) return left
      const at = this.advance().start
      this.#explainOperator(operator)
      const right = this.#expression(side === 'right' ? strength : strength + 1)
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
    if (operator === '//' && this.is('/')) throw new SyntaxFault('unexpected "/"', this.token.start)
  }

  #unary(): Ast {
    const at = this.token.start
    if (this.take('-')) return { kind: 'negate', at, operand: this.#unary() }
    if (!this.take('try')) return this.#postfix(this.#term())
    const body = this.#unary()
    return this.take('catch') ? { kind: 'try', at, body, handler: this.#unary() } : { kind: 'try', at, body }
  }

  #postfix(term: Ast): Ast {
    let target = term
    for (;;) {
      const { type, text, start: at } = this.token
      if (type === 'field') {
        this.advance()
        target = { kind: 'index', at, target, key: { kind: 'literal', at, value: text } }
      } else if (this.is('[')) {
        target = this.#brackets(target)
      } else if (this.is('?//')) {
        // Outside patterns it is `?` followed by `//`.
        target = questionMark(target, at)
        this.token = this.scanner.next(at + 1)
      } else if (this.take('?')) {
        target = questionMark(target, at)
      } else if (this.take('.')) {
        if (this.token.type === 'quote') target = { kind: 'index', at, target, key: this.#string() }
        else if (this.is('[')) target = this.#brackets(target)
        else this.unexpected()
      } else {
        return target
      }
    }
  }

  #brackets(target: Ast): Ast {
    const at = this.token.start
    this.expect('[')
    if (this.take(']')) return { kind: 'iterate', at, target }
    if (this.take(':')) {
      const to = this.#query()
      this.expect(']')
      return { kind: 'slice', at, target, to }
    }
    const key = this.#query()
    if (this.take(']')) return { kind: 'index', at, target, key }
    this.expect(':')
    if (this.take(']')) return { kind: 'slice', at, target, from: key }
    const to = this.#query()
    this.expect(']')
    return { kind: 'slice', at, target, from: key, to }
  }

  #term(): Ast {
    const { type, text, start: at } = this.token
    switch (type) {
      case 'number':
        this.advance()
        return { kind: 'literal', at, value: Number(text) }
      case 'quote':
        return this.#string()
      case 'format':
        this.advance()
        return this.token.type === 'quote' ? this.#string(text) : { kind: 'format', at, name: text }
      case 'field':
        this.advance()
        return { kind: 'index', at, target: { kind: 'identity', at }, key: { kind: 'literal', at, value: text } }
      case 'variable':
        this.advance()
        return text === '__loc__' ? this.#location(at) : { kind: 'variable', at, name: text }
      case 'name':
        this.advance()
        return this.#named(text, at)
      case 'keyword':
        return this.#keywordTerm()
      default:
        return this.#signTerm()
    }
  }

  #signTerm(): Ast {
    const at = this.token.start
    if (this.take('.')) {
      const identity: Ast = { kind: 'identity', at }
      return this.token.type === 'quote' ? { kind: 'index', at, target: identity, key: this.#string() } : identity
    }
    if (this.take('..')) return { kind: 'descendants', at }
    if (this.take('(')) {
      const query = this.#query()
      this.expect(')')
      // `(.a)?` covers everything inside the parentheses.
      return this.is('?') || this.is('?//') ? this.#wholeOptional(query) : query
    }
    if (this.take('[')) {
      if (this.take(']')) return { kind: 'array', at }
      const body = this.#query()
      this.expect(']')
      return { kind: 'array', at, body }
    }
    if (this.is('{')) return this.#object()
    return this.unexpected()
  }

  #wholeOptional(body: Ast): Ast {
    const at = this.token.start
    this.token = this.scanner.next(at + 1)
    return { kind: 'try', at, body }
  }

  #keywordTerm(): Ast {
    const at = this.token.start
    if (this.take('if')) return this.#conditional(at)
    if (this.take('reduce')) {
      const { source, patterns, parts } = this.#loop(2, 2)
      return { kind: 'reduce', at, source, patterns, init: parts[0] as Ast, update: parts[1] as Ast }
    }
    if (this.take('foreach')) {
      const { source, patterns, parts } = this.#loop(2, 3)
      const [init, update, extract] = parts as [Ast, Ast, Ast?]
      return { kind: 'foreach', at, source, patterns, init, update, ...(extract && { extract }) }
    }
    return this.unexpected()
  }

  #loop(least: number, most: number): { source: Ast; patterns: Pattern[]; parts: Ast[] } {
    const source = this.#expression(0)
    this.expect('as')
    const patterns = this.#patterns()
    this.expect('(')
    const parts = [this.#query()]
    while (parts.length < most && this.take(';')) parts.push(this.#query())
    if (parts.length < least) this.expect(';')
    this.expect(')')
    return { source, patterns, parts }
  }

  #conditional(at: number): Ast {
    const condition = this.#query()
    this.expect('then')
    const then = this.#query()
    const next = this.token.start
    if (this.take('elif')) return { kind: 'if', at, condition, then, else: this.#conditional(next) }
    if (this.take('end')) return { kind: 'if', at, condition, then }
    this.expect('else')
    const otherwise = this.#query()
    this.expect('end')
    return { kind: 'if', at, condition, then, else: otherwise }
  }

  #named(name: string, at: number): Ast {
    if (name === 'break') return { kind: 'break', at, name: this.#variable() }
    if (!this.take('(')) {
      const constants: Readonly<Record<string, null | boolean>> = { null: null, true: true, false: false }
      return Object.hasOwn(constants, name) ? { kind: 'literal', at, value: constants[name] ?? null } : { kind: 'call', at, name, args: [] }
    }
    const args = [this.#query()]
    while (this.take(';')) args.push(this.#query())
    if (this.is(',')) this.unexpected()
    this.expect(')')
    return { kind: 'call', at, name, args }
  }

  #string(format?: string): Ast {
    const at = this.token.start
    const parts: TextPart[] = []
    let offset = this.token.end
    for (;;) {
      const { text, end, interpolation } = this.scanner.text(offset)
      if (text !== '') parts.push(text)
      if (!interpolation) {
        this.token = this.scanner.next(end)
        if (parts.every((part) => typeof part === 'string')) return { kind: 'literal', at, value: parts.join('') }
        return format === undefined ? { kind: 'text', at, parts } : { kind: 'text', at, format, parts }
      }
      this.token = this.scanner.next(end)
      parts.push(this.#query())
      if (!this.is(')')) this.unexpected()
      offset = this.token.end
    }
  }

  #object(): Ast {
    const at = this.token.start
    this.expect('{')
    const entries: ObjectEntry[] = []
    if (this.take('}')) return { kind: 'object', at, entries }
    do entries.push(this.#entry())
    while (this.take(',') && !this.is('}'))
    this.expect('}')
    return { kind: 'object', at, entries }
  }

  #entry(): ObjectEntry {
    const { type, text, start: at } = this.token
    if (type === 'variable') {
      this.advance()
      const value: Ast = text === '__loc__' ? this.#location(at) : { kind: 'variable', at, name: text }
      const key: Ast = { kind: 'literal', at, value: text }
      // `$x: value` takes the value of $x as the key.
      return this.take(':') ? { key: value, value: this.#entryValue() } : { key, value }
    }
    const computed = this.is('(')
    const key = this.#key()
    if (this.take(':')) return { key, value: this.#entryValue() }
    if (computed) this.expect(':')
    return { key, value: { kind: 'index', at, target: { kind: 'identity', at }, key } }
  }

  #key(): Ast {
    const { type, text, start: at } = this.token
    if (type === 'name' || type === 'keyword') {
      this.advance()
      return { kind: 'literal', at, value: text }
    }
    if (type === 'quote') return this.#string()
    if (type === 'format') {
      this.advance()
      return this.token.type === 'quote' ? this.#string(text) : this.unexpected()
    }
    if (type === 'number') throw new SyntaxFault(`a number cannot be a key: ${text}`, at, `write "${text}"`)
    if (!this.take('(')) return this.unexpected()
    const key = this.#query()
    this.expect(')')
    return key
  }

  /** The value of an entry: pipes are part of it, commas are not. */
  #entryValue(): Ast {
    const left = this.#expression(0)
    const at = this.token.start
    return this.take('|') ? { kind: 'pipe', at, left, right: this.#entryValue() } : left
  }

  #patterns(): Pattern[] {
    const patterns = [this.#pattern()]
    while (this.take('?//')) patterns.push(this.#pattern())
    return patterns
  }

  #pattern(): Pattern {
    if (this.token.type === 'variable') return { kind: 'name', name: this.advance().text }
    if (this.take('[')) {
      const items = [this.#pattern()]
      while (this.take(',')) items.push(this.#pattern())
      this.expect(']')
      return { kind: 'items', items }
    }
    this.expect('{')
    const members = [this.#member()]
    while (this.take(',')) members.push(this.#member())
    this.expect('}')
    return { kind: 'members', members }
  }

  #member(): PatternMember {
    const { type, text, start: at } = this.token
    if (type === 'variable') {
      this.advance()
      const key: Ast = { kind: 'literal', at, value: text }
      return this.take(':') ? { name: text, key, pattern: this.#pattern() } : { name: text, key }
    }
    const key = this.#key()
    this.expect(':')
    return { key, pattern: this.#pattern() }
  }

  #location(at: number): Ast {
    return { kind: 'location', at, line: this.scanner.source.slice(0, at).split('\n').length }
  }

  #variable(): string {
    if (this.token.type !== 'variable') this.unexpected('a variable')
    return this.advance().text
  }

  #name(): string {
    if (this.token.type !== 'name') this.unexpected('a name')
    return this.advance().text
  }
}

function questionMark(target: Ast, at: number): Ast {
  const isStep = target.kind === 'index' || target.kind === 'slice' || target.kind === 'iterate'
  return isStep && target.optional === undefined ? { ...target, optional: true } : { kind: 'try', at, body: target }
}
