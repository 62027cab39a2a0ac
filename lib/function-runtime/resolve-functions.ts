import { ConfigurationError } from '../errors/index.ts'
import { compileSchema, type CompiledSchema } from './compiled-schema.ts'
import { isHostedFunction, type AnyHostedFunction, type FunctionContext } from './define-function.ts'
import { isDescriptor, type Descriptor } from './descriptors.ts'
import { functionsOf } from './funq.ts'
import type { FunctionMapping, ResolvedFunctionRuntimeOptions } from './options.ts'
import { schemaFaults } from './schema-rules.ts'
import type { Slot } from './values.ts'

/** Functions to serve: declarations and instances with `@Funq` methods, in a list or by export name. */
export type FunctionSources = readonly object[] | Readonly<Record<string, object>>

/** A function with everything that calling it needs, made once at start. */
export interface ResolvedFunction {
  readonly name: string
  readonly input: Slot
  readonly output: Slot
  /** Event types that call it. */
  readonly triggers: ReadonlySet<string>
  /** Attribute names in lower case and their values. */
  readonly filters: ReadonlyMap<string, string>
  /** Whether a trigger or a filter was given; without either, the only function takes every event. */
  readonly selective: boolean
  readonly responseType: string
  readonly responseSource: string
  readonly caseInsensitive: boolean
  readonly handler: (input: unknown, context: FunctionContext) => unknown
}

interface Named {
  readonly name: string
  readonly declared: AnyHostedFunction
}

const RESERVED: ReadonlySet<string> = new Set(['health', 'metrics', 'q'])
const EMPTY: FunctionMapping = {}

/**
 * Checks all functions, compiles their schemas and settles names, triggers and filters (function-runtime.md §1).
 *
 * @param exportNames names of functions that are listed without one, by identity
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` listing every fault; `details.faults` has them one by one
 */
export function resolveFunctions(
  sources: FunctionSources,
  options: Pick<ResolvedFunctionRuntimeOptions, 'export' | 'mapping' | 'maxDepth'>,
  exportNames: ReadonlyMap<unknown, string> = new Map(),
): ReadonlyMap<string, ResolvedFunction> {
  const faults: string[] = []
  const functions = new Map<string, ResolvedFunction>()
  for (const { name, declared } of nameAll(sources, exportNames, faults)) {
    faults.push(...nameFaults(name).map((fault) => `function ${JSON.stringify(name)}: ${fault}`))
    const fail = (fault: string): void => { faults.push(`function ${name}: ${fault}`) }
    const resolved = resolveOne(declared, { name, mapping: options.mapping[name] ?? EMPTY, maxDepth: options.maxDepth, fail })
    if (functions.has(name)) faults.push(`function ${name}: the name is used twice; give one of them another name`)
    functions.set(name, resolved)
  }
  if (options.export !== undefined && !functions.has(options.export)) faults.push(`export names ${options.export}, which is no function`)
  for (const name of Object.keys(options.mapping)) {
    if (!functions.has(name)) faults.push(`mapping names ${name}, which is no function`)
  }
  faults.push(...conflicts([...functions.values()]))
  if (faults.length === 0) return functions
  throw new ConfigurationError({
    code: 'CONFIGURATION_INVALID',
    message: `The functions cannot be served:\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
    details: { faults },
  })
}

/** Tells whether every function has a name without looking at exports. */
export function areNamed(sources: FunctionSources): boolean {
  return !Array.isArray(sources) ||
    sources.every((source: unknown) => !isHostedFunction(source) || (source.options.name ?? source.handler.name) !== '')
}

function nameAll(sources: FunctionSources, exportNames: ReadonlyMap<unknown, string>, faults: string[]): Named[] {
  const entries: [string | undefined, unknown][] = Array.isArray(sources)
    ? sources.map((source: unknown) => [exportNames.get(source), source])
    : Object.entries(sources)
  return entries.flatMap(([key, source]) => {
    if (isHostedFunction(source)) {
      const name = source.options.name ?? key ?? source.handler.name
      if (name !== '') return [{ name, declared: source }]
      faults.push('a function has no name; give the option name, or serve the functions by name: serve({ greet })')
      return []
    }
    const methods = typeof source === 'object' && source !== null ? functionsOf(source) : []
    if (methods.length === 0) {
      const where = key === undefined ? 'an entry' : `export ${key}`
      faults.push(`${where} is neither made by defineFunction nor an instance of a class with @Funq methods`)
    }
    return methods.map((declared) => ({ name: declared.options.name ?? '', declared }))
  })
}

function nameFaults(name: string): string[] {
  if (RESERVED.has(name)) return [`the name is reserved (${[...RESERVED].join(', ')})`]
  const isSegment = name !== '' && name !== '.' && name !== '..' && !/[/?#\\\p{Cc}\p{Cs}]/u.test(name)
  return isSegment ? [] : ['the name is no path segment; use letters, digits, - and _']
}

/** What a function is resolved with. */
interface Resolution {
  readonly name: string
  readonly mapping: FunctionMapping
  readonly maxDepth: number
  readonly fail: (fault: string) => void
}

function resolveOne(declared: AnyHostedFunction, resolution: Resolution): ResolvedFunction {
  const { options, handler } = declared
  const { name, mapping, fail } = resolution
  if (declared.fault !== undefined) fail(declared.fault)
  if (typeof (handler as unknown) !== 'function') fail('it has no handler')
  else if (handler.length > 2) fail(`it has ${String(handler.length)} parameters; a function takes one input (and the context)`)
  const triggers = [options.trigger, mapping.trigger].filter((trigger) => trigger !== undefined)
  const filters = new Map(Object.entries(options.attributes ?? {}).map(([key, value]) => [key.toLowerCase(), value]))
  const caseInsensitive = options.caseInsensitive ?? false
  return {
    name,
    input: toSlot({ side: 'input', descriptor: options.input, caseInsensitive }, resolution),
    output: toSlot({ side: 'output', descriptor: options.output, caseInsensitive: false }, resolution),
    triggers: new Set(triggers.length === 0 ? [name] : triggers),
    filters,
    selective: triggers.length > 0 || filters.size > 0,
    responseType: mapping.responseType ?? options.responseType ?? `${name}.output`,
    responseSource: mapping.responseSource ?? options.responseSource ?? name,
    caseInsensitive,
    handler: handler as ResolvedFunction['handler'],
  }
}

interface Side {
  readonly side: 'input' | 'output'
  readonly descriptor: unknown
  readonly caseInsensitive: boolean
}

function toSlot({ side, descriptor, caseInsensitive }: Side, { name, maxDepth, fail }: Resolution): Slot {
  const none: Slot = { kind: 'nothing', schema: undefined, wrapped: false, function: name, maxDepth }
  if (!isDescriptor(descriptor)) {
    fail(descriptor === undefined
      ? `${side} is missing; say nothing when there is none`
      : `${side} is no descriptor; use json(schema), text, bytes, nothing or cloudEvent(…)`)
    return none
  }
  const wrapped = descriptor.kind === 'cloudEvent'
  const inner = (wrapped ? descriptor.inner : descriptor) as Descriptor
  if (!isDescriptor(inner) || inner.kind === 'cloudEvent') {
    fail(`${side}: cloudEvent holds json(schema), text, bytes or nothing`)
    return none
  }
  const schema = inner.kind === 'json' ? compile(inner.schema, caseInsensitive, (fault) => { fail(`${side}: ${fault}`) }) : undefined
  return { ...none, kind: inner.kind, schema, wrapped }
}

function compile(schema: Parameters<typeof compileSchema>[0], caseInsensitive: boolean, fail: (fault: string) => void): CompiledSchema | undefined {
  const faults = schemaFaults(schema)
  for (const fault of faults) fail(fault)
  if (faults.length > 0) return undefined
  try {
    return compileSchema(schema, caseInsensitive)
  } catch (error) {
    fail(`the schema cannot be compiled: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

function conflicts(functions: readonly ResolvedFunction[]): string[] {
  return functions.flatMap((one, index) => functions.slice(index + 1).flatMap((other) => {
    const shared = [...one.triggers].find((trigger) => other.triggers.has(trigger))
    if (shared === undefined || !(includes(one.filters, other.filters) || includes(other.filters, one.filters))) return []
    return [`functions ${one.name} and ${other.name} take the same events (trigger ${shared}); give them attributes that differ`]
  }))
}

function includes(all: ReadonlyMap<string, string>, some: ReadonlyMap<string, string>): boolean {
  return [...some].every(([name, value]) => all.get(name) === value)
}
