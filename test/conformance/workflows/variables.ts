import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { valueAt } from './body-path.ts'
import { CaseFault } from './case-fault.ts'

/** The names that texts of a case can read, and what they stand for. */
export class Variables {
  /** Captured values, stub addresses, named UUIDs. */
  private readonly values = new Map<string, unknown>()
  private readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Stores a value under a name: `$capture:x`, `capture: {x: path}`, `mock.<server>`. */
  set(name: string, value: unknown): void {
    this.values.set(name, value)
  }

  /** Reads a stored value; `undefined` when there is none. */
  get(name: string): unknown {
    return this.values.get(name)
  }

  /** Replaces `${…}` in every text of a value; `locals` are roots such as `request` and `event`. */
  resolve<T>(value: T, locals: Readonly<Record<string, unknown>> = {}): T {
    return this.walk(value, locals) as T
  }

  private walk(value: unknown, locals: Readonly<Record<string, unknown>>): unknown {
    if (typeof value === 'string') return this.text(value, locals)
    if (Array.isArray(value)) return value.map((item) => this.walk(item, locals))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.walk(item, locals)]))
  }

  private text(text: string, locals: Readonly<Record<string, unknown>>): unknown {
    // Names begin with a letter: `${ .a }` and `${{…}}` are expressions of a definition, not variables.
    const whole = /^\$\{([A-Za-z_][^{}]*)\}$/.exec(text)?.[1]
    if (whole !== undefined) return this.lookup(whole, locals)
    return text.replace(/\$\{([A-Za-z_][^{}]*)\}/g, (_, name: string) => {
      const value = this.lookup(name, locals)
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    })
  }

  private lookup(name: string, locals: Readonly<Record<string, unknown>>): unknown {
    const call = /^(\w+)\((.*)\)$/.exec(name)
    if (call?.[1] !== undefined && call[2] !== undefined) return this.apply(call[1], this.lookup(call[2], locals))
    if (name === 'uuid') return randomUUID()
    if (name.startsWith('file:')) return readFileSync(join(this.folder, name.slice('file:'.length)), 'utf8')
    if (name.startsWith('uuid:') && !this.values.has(name)) this.values.set(name, randomUUID())
    if (this.values.has(name)) return this.values.get(name)
    const root = name.split(/[.[]/, 1)[0] ?? ''
    if (Object.hasOwn(locals, root)) return valueAt(locals, name)
    throw new CaseFault(`the case reads \${${name}}, and no step before has set it`)
  }

  private apply(name: string, value: unknown): unknown {
    if (name === 'reverse') return [...String(value)].reverse().join('')
    throw new CaseFault(`the case calls ${name}(…), which this runner does not know`)
  }
}
