import type { Json } from '../../common/index.ts'
import { ProgramFailure } from '../language.ts'
import type { LanguageOptions } from '../language-options.ts'
import { checkCall } from './arguments.ts'
import { isLibraryFunction } from './growth.ts'
import { chargeResult, type Base } from './usage.ts'

/** What the library calls a function with. */
interface Focus {
  readonly environment: { readonly base: Base; lookup(name: string): unknown }
  createSequence(): unknown[]
}

type Implementation = (this: Focus, ...args: never[]) => unknown

/** A function as the library keeps it. */
export interface Definition {
  readonly _jsonata_function: true
  readonly implementation: (this: Focus, ...args: unknown[]) => unknown
  readonly signature?: unknown
}

/**
 * Makes the functions that programs call instead of the library's: the same ones, with time looked at before each call, arguments
 * of a size and a kind that it can work through, and results that count as memory. Those that read the machine or take time
 * beyond linear are our own.
 */
export function guardFunctions(builtins: ReadonlyMap<string, Definition>, options: LanguageOptions): ReadonlyMap<string, Definition> {
  const own: Readonly<Record<string, Implementation>> = { ...replacements(options), sort: sortWith(builtins.get('sort')) }
  return new Map([...builtins].map(([name, definition]) => {
    const implementation = (Object.hasOwn(own, name) ? own[name] : definition.implementation) as Definition['implementation']
    return [name, { ...definition, implementation: guard(name, implementation, definition.implementation, options) }]
  }))
}

function guard(name: string, run: Definition['implementation'], original: Definition['implementation'], { limits }: LanguageOptions): Definition['implementation'] {
  const guarded = function guarded(this: Focus, ...args: unknown[]): unknown {
    const { base } = this.environment
    base.guardrails()
    checkCall(name, args, limits)
    const result = run.apply(this, args)
    return result instanceof Promise ? result.then((value: unknown) => chargeResult(base, value, limits)) : chargeResult(base, result, limits)
  }
  // For partial application the library reads the parameters from the text of the function, and how many there are.
  const text = original.toString()
  return Object.defineProperties(guarded, { length: { value: original.length }, toString: { value: () => text } })
}

function replacements({ clock, ids }: LanguageOptions): Readonly<Record<string, Implementation>> {
  return {
    millis: () => clock.now(),
    now(picture?: string, timezone?: string) {
      const format = this.environment.lookup('fromMillis') as Definition
      return format.implementation.call(this, clock.now(), picture, timezone)
    },
    random: () => ids.random(),
    // The library hands all items over as parameters at once, which ends a large list with a stack that is full.
    max: (items: readonly number[] | undefined) => foldNumbers(items, Math.max),
    min: (items: readonly number[] | undefined) => foldNumbers(items, Math.min),
    shuffle: (items: readonly unknown[] | undefined) => items === undefined ? undefined : shuffle(items, () => ids.random()),
    pad: (text: string | undefined, width: number, filler?: string) => text === undefined ? undefined : pad(text, width, filler ?? ' '),
    distinct(items: unknown) {
      return Array.isArray(items) && items.length > 1 ? fill(this, items, distinct(items)) : items
    },
    spread(value: unknown) {
      return spread(value, this)
    },
    eval: () => { throw new ProgramFailure('failed', '$eval is not available: expressions are checked when the definition is loaded') },
  }
}

function foldNumbers(items: readonly number[] | undefined, choose: (one: number, other: number) => number): number | undefined {
  return items === undefined || items.length === 0 ? undefined : items.reduce((best, item) => choose(best, item))
}

function shuffle(items: readonly unknown[], random: () => number): unknown[] {
  const result = [...items]
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const item = result[last]
    result[last] = result[other]
    result[other] = item
  }
  return result
}

function pad(text: string, width: number, filler: string): string {
  const missing = Math.trunc(Math.abs(width)) - Array.from(text).length
  if (missing <= 0) return text
  const chars = Array.from(filler === '' ? ' ' : filler)
  const whole = chars.join('').repeat(Math.floor(missing / chars.length))
  const padding = whole + chars.slice(0, missing % chars.length).join('')
  return width > 0 ? text + padding : padding + text
}

/** Gives what is in the list once; the library compares each with each. */
function distinct(items: readonly unknown[]): unknown[] {
  const seen = new Set<unknown>()
  return items.filter((item) => {
    const key = Array.isArray(item) || isRecord(item) ? canonical(item as Json) : typeof item === 'string' ? `"${item}` : item
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** Text that is equal for equal values, in whatever order their members are. */
function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? JSON.stringify(value) : String(value)
  if (isLibraryFunction(value)) return 'function'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = value as Readonly<Record<string, Json>>
  return `{${Object.keys(members).sort().map((key) => `${JSON.stringify(key)}:${canonical(members[key] ?? null)}`).join(',')}}`
}

/** Gives each member as an object; the library copies the list for each object. */
function spread(value: unknown, focus: Focus): unknown {
  if (!Array.isArray(value) && !isRecord(value)) return value
  const parts: unknown[] = []
  collectParts(value, parts)
  return fill(focus, Array.isArray(value) ? value : [], parts)
}

function collectParts(value: unknown, parts: unknown[]): void {
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) collectParts(item, parts)
  else if (isRecord(value)) for (const [key, member] of Object.entries(value) as [string, unknown][]) parts.push({ [key]: member })
  else if (value !== undefined) parts.push(value)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLibraryFunction(value)
}

/** Makes a list of the kind that the library unwraps where it has one item, unless it came from a plain list. */
function fill(focus: Focus, from: readonly unknown[], items: readonly unknown[]): unknown[] {
  if (from.length > 0 && !('sequence' in from)) return [...items]
  const sequence = focus.createSequence()
  for (const item of items) sequence.push(item)
  return sequence
}

/** Sorts numbers and texts at once; the library waits after each comparison. */
function sortWith(library: Definition | undefined): Implementation {
  return function sort(items: readonly unknown[] | undefined, comparator?: unknown) {
    if (items === undefined || items.length <= 1) return items
    const plain = comparator === undefined && ['number', 'string'].some((type) => items.every((item) => typeof item === type))
    if (!plain) return library?.implementation.call(this, items, comparator)
    return [...items as readonly string[]].sort((left, right) => left < right ? -1 : left > right ? 1 : 0)
  }
}
