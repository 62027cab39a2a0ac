import { isJsonObject, type Json } from '../../common/index.ts'
import { LAZY, type Bindings, type LazyRecord } from '../evaluator.ts'
import { ProgramFailure, type Language, type Program } from '../language.ts'
import type { LanguageOptions } from '../languages.ts'
import { TEXT_OUTPUT } from '../outputs.ts'
import { adviseVariable } from '../advise-variable.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import { Paths, type CompiledPath } from './paths.ts'
import { splitPaths, type PathPart } from './split.ts'

type Read = (input: Json, bindings: Bindings) => Json

const SECRETS: ReadonlySet<string> = new Set(['SECRET', 'SECRETS'])

/** Makes the language JSONPath (RFC 9535, with the dialect of SonataFlow normalised to it). */
export function createJsonpath(options: LanguageOptions): Language {
  const paths = new Paths(options)
  return { name: 'jsonpath', sync: true, identity: '$', compile: (text) => compileText(text, options, paths) }
}

function compileText(text: string, options: LanguageOptions, paths: Paths): Program {
  const parts = splitPaths(text)
  const [only] = parts
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') return compileSingle(only, options, paths)
  // Several paths in one text are put together as text.
  const reads = parts.map((part): Read => typeof part === 'string' ? () => part : compilePart(part, options, paths).read)
  return toProgram((input, bindings) => reads.map((read) => TEXT_OUTPUT.one(read(input, bindings))).join(''))
}

function compileSingle(part: PathPart, options: LanguageOptions, paths: Paths): Program {
  const { read, path } = compilePart(part, options, paths)
  return {
    ...toProgram(read),
    ...(part.variable === undefined && path?.keys && { keys: path.keys, ...(path.keys.length === 0 && { identity: true }) }),
    ...(path !== undefined && path.keys === undefined && { selects: true }),
  }
}

function toProgram(read: Read): Program {
  return { evaluateOne: read, evaluateAll: (input, bindings) => [read(input, bindings)] }
}

function compilePart(part: PathPart, options: LanguageOptions, paths: Paths): { read: Read; path?: CompiledPath } {
  const path = paths.compile(part)
  const { variable } = part
  if (variable === undefined) return { read: (input) => path.select(input), path }
  if (options.variables !== undefined && !options.variables.includes(variable)) {
    throw new SyntaxFault(`$${variable} is not defined`, part.offset, adviseVariable(variable, options.variables.map((name) => `$${name}`)))
  }
  options.onVariable(variable)
  if (SECRETS.has(variable)) return { read: readSecret(part, variable, path, options) }
  const [first] = path.keys ?? []
  return {
    read: (_input, bindings) => {
      const value = bindings.read(variable)
      if (value === undefined) throw new ProgramFailure('failed', `$${variable} is not defined`, part.offset)
      if (!isLazy(value)) return path.select(value as Json)
      const data = typeof first === 'string' ? { [first]: member(value, variable, first, part.offset) } : whole(value)
      return path.select(data as Json)
    },
  }
}

function readSecret(part: PathPart, variable: string, path: CompiledPath, options: LanguageOptions): Read {
  const keys = path.keys ?? []
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string')) {
    throw new SyntaxFault(`$${variable} cannot be listed, printed or passed on`, part.offset, `read one key of it: $${variable}.name`)
  }
  const key = keys.join('.')
  options.onSecret(key)
  return (_input, bindings) => {
    const record = bindings.read(variable)
    return isLazy(record) ? ((record.get(key) ?? '') as Json) : ''
  }
}

function isLazy(value: unknown): value is LazyRecord {
  return typeof value === 'object' && value !== null && LAZY in value
}

function member(record: LazyRecord, variable: string, key: string, offset: number): unknown {
  if (record.keys !== undefined && !record.keys.includes(key)) {
    throw new ProgramFailure('failed', `$${variable} has no key ${JSON.stringify(key)}; known: ${record.keys.join(', ')}`, offset)
  }
  return record.get(key) ?? null
}

function whole(record: LazyRecord): Json {
  const data = Object.fromEntries((record.keys ?? []).map((key) => [key, record.get(key) ?? null]))
  return isJsonObject(data) ? data : null
}
