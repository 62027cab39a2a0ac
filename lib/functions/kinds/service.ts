import { getOwn, isJsonObject, type Json } from '../../common/index.ts'
import { FunctionError } from '../../errors/index.ts'
import { describeFunction, malformed, unavailable, type FunctionSource } from '../compile-options.ts'
import { freezeData, toJson } from '../host-data.ts'
import type { CallContext, Invoker } from '../invoker.ts'
import { nameNearest } from '../name-nearest.ts'

/** What a host method is told besides its arguments; always the last parameter. */
export type HostContext = CallContext

type Method = (...values: readonly unknown[]) => unknown

/** `service:<class>::<method>`, the class also in Java's way: `java:org.acme.Helper`. */
const OPERATION = /^(?:(?:java|typescript|javascript|ts|js):)?([^:]+(?::[^:]+)*)::([^:]+)$/

/**
 * Compiles `service:<class>::<method>` (S125): a call of a method of a host class, by its full name or the last segment of it.
 *
 * - without arguments the method gets the data of the action: `method(data, context)`
 * - named arguments come as one object: `method({ a, b }, context)`, or one by one where the class declares their names
 *   (`static parameters = { add: ['augend', 'addend'] }`): `add(augend, addend, context)`
 * - arguments that are a list or a single value come as they are: `method(value, context)`
 *
 * Methods that change nothing outside may be named (`static pure = ['check']`): a durable instance calls them without being written before.
 *
 * The method may be asynchronous. What it gets is frozen; what it gives becomes JSON and is merged; what it throws is the error of the
 * action, matched by class name, ancestors, `code` and message (decisions.md 16).
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for an operation without class or method
 */
export function compileService(operation: string, source: FunctionSource): Invoker {
  const match = OPERATION.exec(operation)
  const className = match?.[1]
  const methodName = match?.[2]
  if (className === undefined || methodName === undefined) throw malformed(source, '"service:<class>::<method>"')
  const { hostClasses } = source.options
  const host = hostClasses.get(className) ?? hostClasses.get(simpleName(className))
  if (host === undefined) {
    const known = [...hostClasses.keys()]
    return unavailable(source, `no host class "${className}" is registered; ` + (known.length === 0
      ? 'none are: name their modules in sonatina.host-classes or register them in code'
      : nameNearest(simpleName(className), known)))
  }
  const method = methodOf(host, methodName)
  if (method === undefined) {
    return unavailable(source, `host class "${className}" has no method "${methodName}"; ${nameNearest(methodName, methodNames(host))}`)
  }
  return createInvoker({ host, method, names: parameterNames(host, methodName), isPure: isPure(host, methodName), callee: describeFunction(source) })
}

/** A method with the object it belongs to and, where declared, the names of its parameters. */
interface BoundMethod {
  readonly host: object
  readonly method: Method
  readonly names: readonly string[] | undefined
  readonly isPure: boolean
  readonly callee: string
}

function createInvoker({ host, method, names, isPure, callee }: BoundMethod): Invoker {
  const call = (values: readonly unknown[]): unknown => method.apply(host, [...values])
  return {
    ...(isPure ? { isPure } : {}),
    invoke(request) {
      const { context } = request
      // The headers are shared by all calls of the instance.
      Object.freeze(context.headers)
      const given = request.arguments
      const result = given !== undefined && names !== undefined && isJsonObject(given)
        ? call([...positional(given, names, callee), context])
        : call([freezeData(given ?? request.data), context])
      // Thenables of other libraries count as promises too.
      return isThenable(result) ? Promise.resolve(result).then((value) => ({ output: toJson(value, callee) })) : { output: toJson(result, callee) }
    },
  }
}

function positional(given: Readonly<Record<string, Json>>, names: readonly string[], callee: string): unknown[] {
  const unknown = Object.keys(given).filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    throw new FunctionError({
      code: 'FUNCTION_ARGUMENT_INVALID',
      message: `${callee} does not know the arguments ${unknown.map((name) => `"${name}"`).join(', ')}; its parameters are ${names.join(', ')}`,
    })
  }
  return names.map((name) => {
    const value = getOwn(given, name) as Json | undefined
    return value === undefined ? undefined : freezeData(value)
  })
}

function methodOf(host: object, name: string): Method | undefined {
  if (!methodNames(host).includes(name)) return undefined
  const method = (host as Record<string, unknown>)[name]
  return typeof method === 'function' ? method as Method : undefined
}

/** Methods of the object and its classes; never those every object has: `constructor`, `toString`. */
function methodNames(host: object): string[] {
  const names = new Set<string>()
  for (let level: object | null = host; level !== null && level !== Object.prototype && level !== Function.prototype; level = Object.getPrototypeOf(level) as object | null) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (name !== 'constructor' && typeof value === 'function') names.add(name)
    }
  }
  return [...names]
}

/** What the object says of its methods, or its class. */
function declaredBy(host: object, name: 'parameters' | 'pure'): unknown {
  return (host as Record<typeof name, unknown>)[name] ?? (host.constructor as unknown as Record<typeof name, unknown>)[name]
}

function isPure(host: object, method: string): boolean {
  const declared = declaredBy(host, 'pure')
  return Array.isArray(declared) && declared.includes(method)
}

function parameterNames(host: object, method: string): readonly string[] | undefined {
  const declared = declaredBy(host, 'parameters')
  if (typeof declared !== 'object' || declared === null) return undefined
  const names = getOwn(declared, method)
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined
}

function simpleName(className: string): string {
  return className.split(/[.$:]/).at(-1) ?? className
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

