import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast, ObjectEntry, Pattern, PatternMember, TextPart } from './ast.ts'
import { TokenReader } from './token-reader.ts'

/** Parses what has a notation of its own inside queries: texts with interpolations, objects, and the patterns of `as`. */
export abstract class ConstructParser extends TokenReader {
  /** Parses everything up to a closing sign: pipes, commas, definitions. */
  protected abstract query(): Ast

  /** Parses operands joined by operators that bind at least as strong as `minimum`. */
  protected abstract expression(minimum: number): Ast

  protected string(format?: string): Ast {
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
      parts.push(this.query())
      if (!this.is(')')) this.unexpected('")"')
      offset = this.token.end
    }
  }

  protected object(): Ast {
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
      const value: Ast = text === '__loc__' ? this.location(at) : { kind: 'variable', at, name: text }
      const key: Ast = { kind: 'literal', at, value: text }
      // `$x: value` takes the value of $x as the key.
      return this.take(':') ? { key: value, value: this.#entryValue() } : { key, value }
    }
    const computed = this.is('(')
    const key = this.key()
    if (this.take(':')) return { key, value: this.#entryValue() }
    if (computed) this.expect(':')
    return { key, value: { kind: 'index', at, target: { kind: 'identity', at }, key } }
  }

  protected key(): Ast {
    const { type, text, start: at } = this.token
    if (type === 'name' || type === 'keyword') {
      this.advance()
      return { kind: 'literal', at, value: text }
    }
    if (type === 'quote') return this.string()
    if (type === 'format') {
      this.advance()
      return this.token.type === 'quote' ? this.string(text) : this.unexpected('text in quotes')
    }
    if (type === 'number') throw new SyntaxFault(`a number cannot be a key: ${text}`, at, `write "${text}"`)
    if (!this.take('(')) return this.unexpected('a key')
    const key = this.query()
    this.expect(')')
    return key
  }

  /** The value of an entry: pipes are part of it, commas are not. */
  #entryValue(): Ast {
    const left = this.expression(0)
    const at = this.token.start
    return this.take('|') ? { kind: 'pipe', at, left, right: this.#entryValue() } : left
  }

  protected patterns(): Pattern[] {
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
    const key = this.key()
    this.expect(':')
    return { key, pattern: this.#pattern() }
  }

  protected location(at: number): Ast {
    return { kind: 'location', at, line: this.scanner.source.slice(0, at).split('\n').length }
  }

  protected variable(): string {
    if (this.token.type !== 'variable') this.unexpected('a variable')
    return this.advance().text
  }

  protected name(): string {
    if (this.token.type !== 'name') this.unexpected('a name')
    return this.advance().text
  }
}
