import type { Context, Next } from 'koa'
import { createExchange } from './exchange.ts'
import { createObservability } from './health.ts'
import { createInvoker } from './invoker.ts'
import { createInvocationMetrics } from './metrics.ts'
import { resolveFunctionRuntimeOptions, type FunctionRuntimeOptions } from './options.ts'
import { areNamed, resolveFunctions, type FunctionSources } from './resolve-functions.ts'
import { createRouting, type Routing } from './routing.ts'

/** Koa middleware that serves functions, with a lifecycle. */
export interface FunctionService {
  (ctx: Context, next: Next): Promise<void>
  /**
   * Runs the hook `init`; to be awaited before the port opens. Further calls do nothing.
   *
   * @param exportNames names of functions that were listed without one, by identity
   * @throws {@link ConfigurationError} as {@link serve}; whatever `init` throws
   */
  start(exportNames?: ReadonlyMap<unknown, string>): Promise<void>
  /** Gives the names of the functions; empty before they are settled by the start. */
  names(): readonly string[]
  /** Takes no more requests, waits for running functions, aborts those left at the end of the timeout, runs the hook `shutdown`. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const SERVICE = Symbol.for('sonatina.function-service')

/**
 * Serves functions by plain HTTP and by CloudEvent, as Koa middleware (function-runtime.md).
 *
 * Requests below the root path that mean no function go on to the next middleware and are answered 404 when nothing takes them.
 *
 * @param sources functions and instances with `@Funq` methods, in a list or by export name
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` listing every fault; from `start` when a name is known only then
 *
 * @example
 * const hello = defineFunction({ name: 'hello', input: nothing, output: text }, () => 'Hello')
 * await using server = await listenFunctions(serve([hello]), { port: 0 })
 * const answer = await fetch(`${server.url}/hello`)
 * await answer.json() // => 'Hello'
 */
export function serve(sources: FunctionSources, options: FunctionRuntimeOptions = {}): FunctionService {
  const resolved = resolveFunctionRuntimeOptions(options)
  const { hooks } = resolved
  const invoker = createInvoker(resolved)
  const metrics = createInvocationMetrics()
  let routing: Routing | undefined
  let names: readonly string[] = []
  let started: Promise<void> | undefined
  let closed: Promise<void> | undefined
  let state: 'new' | 'ready' | 'closing' = 'new'

  const resolve = (exportNames?: ReadonlyMap<unknown, string>): Routing => {
    if (routing === undefined) {
      const functions = resolveFunctions(sources, resolved, exportNames)
      names = [...functions.keys()]
      routing = createRouting(functions, resolved.export)
    }
    return routing
  }
  if (areNamed(sources)) resolve()

  const start = (exportNames?: ReadonlyMap<unknown, string>): Promise<void> => started ??= (async () => {
    resolve(exportNames)
    await hooks.init?.()
    state = 'ready'
  })()
  const close = (): Promise<void> => closed ??= (async () => {
    state = 'closing'
    await invoker.close()
    await hooks.shutdown?.()
  })()

  const observability = createObservability(resolved, metrics, () => state === 'ready')
  const exchange = createExchange({ options: resolved, invoker, metrics, isClosing: () => state === 'closing' })
  const middleware = async (ctx: Context, next: Next): Promise<void> => {
    const name = nameBelow(resolved.rootPath, ctx.path)
    if (name === undefined) {
      await next()
      return
    }
    if (resolved.observability && await observability.answer(ctx, name)) return
    if (state === 'new') await start()
    await exchange(ctx, { routing: resolve(), name }, next)
  }
  Object.defineProperty(middleware, SERVICE, { value: true })
  return Object.assign(middleware, { start, close, names: () => names, [Symbol.asyncDispose]: close })
}

/** Tells whether a value was made by {@link serve}, also by another copy of the package. */
export function isFunctionService(value: unknown): value is FunctionService {
  return typeof value === 'function' && SERVICE in value
}

// The part of the path below the root, decoded, without slashes around it; undefined when the path is elsewhere.
function nameBelow(rootPath: string, path: string): string | undefined {
  if (!path.startsWith(rootPath)) return undefined
  const rest = path.slice(rootPath.length)
  if (rest !== '' && !rest.startsWith('/')) return undefined
  const name = rest.slice(1, rest.length > 1 && rest.endsWith('/') ? -1 : undefined)
  if (!name.includes('%')) return name
  try {
    return decodeURIComponent(name)
  } catch {
    // No function has such a name.
    return name
  }
}
