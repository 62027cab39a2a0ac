import { createRequire } from 'node:module'
import type jsonata from 'jsonata'
import { setOwn, type Json } from '../../common/index.ts'
import type { Bindings } from '../evaluator.ts'
import { ProgramFailure, type Language, type Program } from '../language.ts'
import type { LanguageOptions } from '../language-options.ts'
import { faultOfMember, isLazy, type LazyRecord } from '../lazy-record.ts'
import { RegexFault } from '../regex/pattern.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import { toSyntaxFault } from './faults.ts'
import { readBuiltins } from './builtins.ts'
import { guardFunctions, type Definition } from './functions.ts'
import { isLibraryFunction, watchGrowth } from './growth.ts'
import { linearRegex, type RegexClass } from './regex.ts'
import { checkNames } from './names.ts'
import { findNames, type PatternUse, type VariableUse } from './variables.ts'

// Deep enough for any sensible expression, far from the end of the stack.
const MAX_STACK = 100
const MAX_SEQUENCE = 1_000_000

let library: typeof jsonata | undefined

function load(): typeof jsonata {
  library ??= createRequire(import.meta.url)('jsonata') as typeof jsonata
  return library
}

/** Makes the language JSONata, with time, depth, size, clock, randomness and regular expressions guarded. */
export function createJsonata(options: LanguageOptions): Language {
  const regex = linearRegex(options)
  let functions: ReadonlyMap<string, Definition> | undefined
  const settings: jsonata.JsonataOptions = {
    timeout: options.limits.timeout,
    stack: MAX_STACK,
    sequence: Math.min(MAX_SEQUENCE, options.limits.maxCells),
    RegexEngine: regex as unknown as RegExpConstructor,
  }
  return { name: 'jsonata', sync: false, identity: '$', compile: (text) => {
    functions ??= guardFunctions(readBuiltins(load()), options)
    return compileText(text, { settings, functions, regex, options })
  } }
}

interface Guards {
  readonly settings: jsonata.JsonataOptions
  readonly functions: ReadonlyMap<string, Definition>
  readonly regex: RegexClass
  readonly options: LanguageOptions
}

function compileText(text: string, { settings, functions, regex, options }: Guards): Program {
  const compiled = parse(text, settings)
  for (const [name, definition] of functions) compiled.assign(name, definition)
  watchGrowth(compiled, options.limits)
  const names = findNames(compiled.ast())
  checkNames(names, options)
  for (const pattern of names.patterns) checkPattern(pattern, regex)
  const uses = names.variables
  const evaluateOne = async (input: Json, bindings: Bindings): Promise<Json | undefined> => {
    const variables = bindVariables(uses, bindings)
    try {
      return toPlain(await compiled.evaluate(input, variables) as unknown)
    } catch (error) {
      throw toFailure(error)
    }
  }
  return {
    evaluateOne,
    evaluateAll: async (input, bindings) => {
      const output = await evaluateOne(input, bindings)
      return output === undefined ? [] : [output]
    },
    ...plainPath(compiled.ast()),
  }
}

function parse(text: string, settings: jsonata.JsonataOptions): jsonata.Expression {
  try {
    return load()(text, settings)
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxFault('the expression is nested too deeply', 0, 'split it into several steps, or into expression functions')
    throw toSyntaxFault(error, text)
  }
}

// A bad pattern is found when the definition is loaded, not when an instance gets there.
function checkPattern({ pattern, offset }: PatternUse, Regex: RegexClass): void {
  try {
    new Regex(pattern)
  } catch (error) {
    if (error instanceof RegexFault) throw new SyntaxFault(error.message, offset, error.hint)
    throw error
  }
}

/** Makes the values of the variables that the program reads, and of records only the members it names. */
function bindVariables(uses: readonly VariableUse[], bindings: Bindings): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { name, keys } of uses) {
    const value = bindings.read(name)
    if (value === undefined) continue
    if (!isLazy(value)) {
      values[name] = value
      continue
    }
    const target = (values[name] ??= {}) as Record<string, unknown>
    if (value.keys === undefined) putSecret(target, keys, value.get(keys.join('.')) ?? null)
    else readMembers({ name, record: value, key: keys[0] }, target)
  }
  return values
}

/** Reads one member of a record, or all of them where the program names none. */
function readMembers({ name, record, key }: { readonly name: string; readonly record: LazyRecord; readonly key: string | undefined }, target: Record<string, unknown>): void {
  for (const each of key === undefined ? record.keys ?? [] : [key]) {
    const fault = faultOfMember(name, record, each)
    if (fault !== undefined) throw new ProgramFailure('failed', fault)
    target[each] ??= record.get(each) ?? null
  }
}

function putSecret(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  let level = target
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(level, key) ? level[key] : undefined
    if (typeof next === 'object' && next !== null) level = next as Record<string, unknown>
    else level[key] = level = {}
  }
  level[keys.at(-1) ?? ''] = value
}

/** Copies a result without the marks that the library leaves on its lists; what is shared stays shared. */
function toPlain(value: unknown, copies = new Map<object, Json>()): Json | undefined {
  if (value === undefined || typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null) return value as Json
  if (isLibraryFunction(value)) return undefined
  const known = copies.get(value)
  if (known !== undefined) return known
  const copy = Array.isArray(value) ? value.map((item) => toPlain(item, copies) ?? null) : toPlainObject(value, copies)
  copies.set(value, copy)
  return copy
}

function toPlainObject(value: object, copies: Map<object, Json>): Json {
  const copy: Record<string, Json> = {}
  for (const [key, member] of Object.entries(value)) {
    const plain = toPlain(member, copies)
    if (plain !== undefined) setOwn(copy, key, plain)
  }
  return copy
}

const LIMIT_CODES: Readonly<Record<string, string>> = { D1011: 'depth', D1012: 'timeout', D2014: 'max-cells', D2015: 'max-cells', U1001: 'depth' }

function toFailure(error: unknown): unknown {
  // The library adds the place of the call to whatever is thrown.
  if (error instanceof ProgramFailure) return new ProgramFailure(error.kind, error.message, error.offset ?? (error as { position?: number }).position)
  if (error instanceof RangeError) {
    const isDeep = /call stack/i.test(error.message)
    return new ProgramFailure('limit', isDeep ? 'depth: the expression calls itself too deeply' : 'max-cells: the expression makes a text or a list that is too long')
  }
  if (error instanceof RegexFault) return new ProgramFailure('failed', error.message)
  const { code, message, position } = error as Partial<jsonata.JsonataError>
  const limit = code === undefined ? undefined : LIMIT_CODES[code]
  // Some messages of the library are sentences; the place comes behind it.
  const text = (message ?? String(error)).replace(/\.$/, '')
  return limit === undefined ? new ProgramFailure('failed', text, position) : new ProgramFailure('limit', `${limit}: ${text}`, position)
}

function plainPath(ast: jsonata.ExprNode): { keys?: readonly string[] } {
  if (ast.type === 'name' && typeof ast.value === 'string') return { keys: [ast.value] }
  if (ast.type === 'variable' && ast.value === '') return { keys: [] }
  const steps = ast.type === 'path' as string ? (ast.steps ?? []) : []
  const names = steps.filter((step) => !(step.type === 'variable' && step.value === '')).map((step) => step.type === 'name' && step.stages === undefined ? (step.value as unknown) : undefined)
  return names.length > 0 && names.every((name) => typeof name === 'string') ? { keys: names } : {}
}
