import type { Ast, Pattern } from './ast.ts'
import { ConstructParser } from './constructs.ts'

/** Parses terms, the operands of operators: literals, paths with their steps, calls, `if`, `reduce`, `foreach`. */
export abstract class TermParser extends ConstructParser {
  protected postfix(term: Ast): Ast {
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
        if (this.token.type === 'quote') target = { kind: 'index', at, target, key: this.string() }
        else if (this.is('[')) target = this.#brackets(target)
        else this.missing()
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
      const to = this.query()
      this.expect(']')
      return { kind: 'slice', at, target, to }
    }
    const key = this.query()
    if (this.take(']')) return { kind: 'index', at, target, key }
    if (!this.take(':')) this.unexpected('"]"')
    if (this.take(']')) return { kind: 'slice', at, target, from: key }
    const to = this.query()
    this.expect(']')
    return { kind: 'slice', at, target, from: key, to }
  }

  protected term(): Ast {
    const { type, text, start: at } = this.token
    switch (type) {
      case 'number':
        this.advance()
        return { kind: 'literal', at, value: Number(text) }
      case 'quote':
        return this.string()
      case 'format':
        this.advance()
        return this.token.type === 'quote' ? this.string(text) : { kind: 'format', at, name: text }
      case 'field':
        this.advance()
        return { kind: 'index', at, target: { kind: 'identity', at }, key: { kind: 'literal', at, value: text } }
      case 'variable':
        this.advance()
        return text === '__loc__' ? this.location(at) : { kind: 'variable', at, name: text }
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
      return this.token.type === 'quote' ? { kind: 'index', at, target: identity, key: this.string() } : identity
    }
    if (this.take('..')) return { kind: 'descendants', at }
    if (this.take('(')) {
      const query = this.query()
      this.expect(')')
      // `(.a)?` covers everything inside the parentheses.
      return this.is('?') || this.is('?//') ? this.#wholeOptional(query) : query
    }
    if (this.take('[')) {
      if (this.take(']')) return { kind: 'array', at }
      const body = this.query()
      this.expect(']')
      return { kind: 'array', at, body }
    }
    if (this.is('{')) return this.object()
    return this.missing()
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
    return this.missing()
  }

  #loop(least: number, most: number): { source: Ast; patterns: Pattern[]; parts: Ast[] } {
    const source = this.expression(0)
    this.expect('as')
    const patterns = this.patterns()
    this.expect('(')
    const parts = [this.query()]
    while (parts.length < most && this.take(';')) parts.push(this.query())
    if (parts.length < least) this.expect(';')
    this.expect(')')
    return { source, patterns, parts }
  }

  #conditional(at: number): Ast {
    const condition = this.query()
    this.expect('then')
    const then = this.query()
    const next = this.token.start
    if (this.take('elif')) return { kind: 'if', at, condition, then, else: this.#conditional(next) }
    if (this.take('end')) return { kind: 'if', at, condition, then }
    if (!this.take('else')) this.unexpected('"elif", "else" or "end"', 'write "end" where the condition ends')
    const otherwise = this.query()
    this.expect('end')
    return { kind: 'if', at, condition, then, else: otherwise }
  }

  #named(name: string, at: number): Ast {
    if (name === 'break') return { kind: 'break', at, name: this.variable() }
    if (!this.take('(')) {
      const constants: Readonly<Record<string, null | boolean>> = { null: null, true: true, false: false }
      return Object.hasOwn(constants, name) ? { kind: 'literal', at, value: constants[name] ?? null } : { kind: 'call', at, name, args: [] }
    }
    const args = [this.query()]
    while (this.take(';')) args.push(this.query())
    this.expect(')')
    return { kind: 'call', at, name, args }
  }
}

function questionMark(target: Ast, at: number): Ast {
  const isStep = target.kind === 'index' || target.kind === 'slice' || target.kind === 'iterate'
  return isStep && target.optional === undefined ? { ...target, optional: true } : { kind: 'try', at, body: target }
}
