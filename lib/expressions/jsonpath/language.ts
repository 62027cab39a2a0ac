import { isJsonObject, type Json } from '../../common/index.ts'
import type { Bindings } from '../evaluator.ts'
import { ProgramFailure, type Language, type Program } from '../language.ts'
import type { LanguageOptions } from '../language-options.ts'
import { faultOfMember, isLazy, type LazyRecord } from '../lazy-record.ts'
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
      if (typeof first !== 'string') return path.select(whole(value))
      const fault = faultOfMember(variable, value, first)
      if (fault !== undefined) throw new ProgramFailure('failed', fault, part.offset)
      return path.select({ [first]: value.get(first) ?? null } as Json)
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

function whole(record: LazyRecord): Json {
  const data = Object.fromEntries((record.keys ?? []).map((key) => [key, record.get(key) ?? null]))
  return isJsonObject(data) ? data : null
}
