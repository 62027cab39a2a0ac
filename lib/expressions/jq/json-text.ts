import type { Json } from '../../common/index.ts'
import { JqError } from './failure.ts'

const MAX_PARSE_DEPTH = 10_000

/**
 * Reads JSON text as `fromjson` does: `nan` is a number, more than one value is refused.
 *
 * @throws {@link JqError} with jq's text, line and column.
 */
export function fromJson(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new JsonReader(text).read()
  }
  // Native parsing has no limit of depth; looking for it is needed only where it can be exceeded.
  if (text.length > MAX_PARSE_DEPTH && depthOf(text) > MAX_PARSE_DEPTH) {
    throw new JqError(`Exceeds depth limit for parsing (while parsing '~0')`, [text])
  }
  return value as Json
}

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index]
    if (char === '\\') index += 1
    else if (char === '"') quoted = !quoted
    else if (!quoted && (char === '[' || char === '{')) deepest = Math.max(deepest, (depth += 1))
    else if (!quoted && (char === ']' || char === '}')) depth -= 1
  }
  return deepest
}

const LITERALS: Readonly<Record<string, Json>> = { null: null, true: true, false: false }
const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

const INFINITY = /^[+-]?inf(?:inity)?$/i

/** One open array or object. */
interface Level {
  readonly items: Json[] | undefined
  readonly members: Record<string, unknown> | undefined
  /** Waiting: for a value, a key, a colon, or a separator. */
  state: 'value' | 'key' | 'colon' | 'separator' | 'first'
  key: string
}

function literalValue(token: string): Json | undefined {
  if (NUMBER.test(token)) return Number(token)
  if (INFINITY.test(token)) return token.startsWith('-') ? -Infinity : Infinity
  if (/^[+-]?nan$/i.test(token)) return NaN
  return Object.hasOwn(LITERALS, token) ? LITERALS[token] : undefined
}

/** Reads what native parsing refuses: accepts jq's literals, or says what is wrong the way jq does. */
class JsonReader {
  readonly #text: string
  #at = 0
  #line = 1
  #column = 0
  readonly #stack: Level[] = []
  #value: Json | undefined
  #token = ''

  constructor(text: string) {
    this.#text = text
  }

  read(): Json {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? ''
      if (char === '\n') {
        this.#line += 1
        this.#column = 0
      } else this.#column += 1
      this.#scan(char)
    }
    this.#column = Math.max(0, this.#column - 1) + (this.#text.endsWith('\n') ? 0 : 1)
    this.#endToken(' at EOF')
    if (this.#stack.length > 0) this.#fail('Unfinished JSON term', ' at EOF', -1)
    if (this.#value === undefined) throw new JqError(`Expected JSON value (while parsing '~0')`, [this.#text])
    return this.#value
  }

  #scan(char: string): void {
    if (/[[{:,\]} \t\r\n"]/.test(char)) this.#endToken('')
    switch (char) {
      case ' ': case '\t': case '\r': case '\n': break
      case '"': this.#string(); break
      case '[': this.#open({ items: [], members: undefined, state: 'first', key: '' }); break
      case '{': this.#open({ items: undefined, members: {}, state: 'first', key: '' }); break
      case ']': case '}': this.#close(char); break
      case ':': this.#colon(); break
      case ',': this.#comma(); break
      default: this.#token += char
    }
  }

  #endToken(where: string): void {
    const token = this.#token
    if (token === '') return
    this.#token = ''
    const value = literalValue(token)
    if (value !== undefined) {
      this.#take(value)
      return
    }
    if (token.startsWith('\'')) this.#fail('Invalid string literal; expected ", but got \'', where, where === '' ? 0 : -1)
    const kind = /^[tfn][a-z]*$/.test(token) && token !== 'nan' ? 'literal' : 'numeric literal'
    this.#fail(`Invalid ${kind}`, where, where === '' ? 0 : -1)
  }

  #string(): void {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1
    if (end >= this.#text.length) {
      this.#column += this.#text.length - start - 1
      this.#fail('Unfinished string', ' at EOF', -1)
    }
    this.#at = end
    this.#column += end - start
    try {
      this.#take(JSON.parse(this.#text.slice(start, end + 1).replaceAll(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)) as string)
    } catch (error) {
      if (error instanceof JqError) throw error
      this.#fail('Invalid escape')
    }
  }

  #take(value: Json): void {
    const level = this.#stack.at(-1)
    if (level === undefined) {
      if (this.#value !== undefined) throw new JqError(`Unexpected extra JSON values (while parsing '~0')`, [this.#text])
      this.#value = value
      return
    }
    if (level.state === 'separator' || level.state === 'colon') return this.#fail('Expected separator between values')
    if (level.items !== undefined) {
      level.items.push(value)
      level.state = 'separator'
    } else if (level.state === 'value') {
      Object.defineProperty(level.members, level.key, { value, enumerable: true, configurable: true, writable: true })
      level.state = 'separator'
    } else {
      // A key is checked when its colon comes.
      level.key = typeof value === 'string' ? value : ''
      level.state = typeof value === 'string' ? 'colon' : 'key'
      if (typeof value !== 'string') this.#fail('Object keys must be strings')
    }
  }

  #open(level: Level): void {
    if (this.#stack.length >= MAX_PARSE_DEPTH) this.#fail('Exceeds depth limit for parsing')
    const outer = this.#stack.at(-1)
    if (outer?.state === 'separator' || outer?.state === 'colon') this.#fail('Expected separator between values')
    this.#stack.push(level)
  }

  #close(char: string): void {
    const level = this.#stack.at(-1)
    if (level === undefined || (char === ']') !== (level.items !== undefined)) return this.#fail(`Unmatched '${char}'`)
    if (level.state === 'value' && level.items !== undefined) return this.#fail('Expected another array element')
    if (level.state !== 'separator' && level.state !== 'first') return this.#fail('Objects must consist of key:value pairs')
    this.#stack.pop()
    this.#take((level.items ?? level.members) as Json)
  }

  #colon(): void {
    const level = this.#stack.at(-1)
    if (level === undefined) return this.#fail('Expected string key before \':\'')
    if (level.items !== undefined) return this.#fail('\':\' not as part of an object')
    if (level.state !== 'colon') return this.#fail('Expected string key before \':\'')
    level.state = 'value'
  }

  #comma(): void {
    const level = this.#stack.at(-1)
    if (level === undefined || level.state === 'first' || level.state === 'value') return this.#fail('Expected value before \',\'')
    if (level.state !== 'separator') return this.#fail('Objects must consist of key:value pairs')
    level.state = level.items === undefined ? 'key' : 'value'
  }

  #fail(message: string, where = '', shift = 0): never {
    throw new JqError(`${message}${where} at line ${this.#line}, column ${this.#column + shift + (where === '' ? 0 : 1)} (while parsing '~0')`, [this.#text])
  }
}
