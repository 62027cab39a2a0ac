import type { Context, Next } from 'koa'
import { RequestError } from '../errors/index.ts'
import { eventModeOf } from '../events/index.ts'
import type { CallSurroundings } from './context.ts'
import { answerEvent, contextEvent, readEvent, readEventInput } from './event-form.ts'
import { createObservability } from './health.ts'
import { createInvoker } from './invoker.ts'
import { createInvocationMetrics } from './metrics.ts'
import { resolveFunctionRuntimeOptions, type FunctionRuntimeOptions } from './options.ts'
import { answerPlain, readPlainInput } from './plain-form.ts'
import { answerProblem } from './problem.ts'
import { areNamed, resolveFunctions, type FunctionSources, type ResolvedFunction } from './resolve-functions.ts'
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
 * const functions = serve({ greet })
 * await functions.start()
 * new Koa().use(functions).listen(8080)
 */
export function serve(sources: FunctionSources, options: FunctionRuntimeOptions = {}): FunctionService {
  const resolved = resolveFunctionRuntimeOptions(options)
  const invoker = createInvoker(resolved)
  const metrics = createInvocationMetrics()
  let routing: Routing | undefined
  let started: Promise<void> | undefined
  let state: 'new' | 'ready' | 'closing' = 'new'
  const resolve = (exportNames?: ReadonlyMap<unknown, string>): Routing =>
    routing ??= createRouting(resolveFunctions(sources, resolved, exportNames), resolved.export)
  if (areNamed(sources)) resolve()

  const observability = createObservability(resolved, metrics, () => state === 'ready')
  const start = (exportNames?: ReadonlyMap<unknown, string>): Promise<void> => started ??= (async () => {
    resolve(exportNames)
    await resolved.hooks.init?.()
    state = 'ready'
  })()
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => closed ??= (async () => {
    state = 'closing'
    await invoker.close()
    await resolved.hooks.shutdown?.()
  })()

  const middleware = async (ctx: Context, next: Next): Promise<void> => {
    const name = nameBelow(resolved.rootPath, ctx.path)
    if (name === undefined) return next()
    if (resolved.observability && await observability.answer(ctx, name)) return
    await exchange(ctx, name, next)
  }

  const exchange = async (ctx: Context, name: string, next: Next): Promise<void> => {
    const arrived = resolved.clock.now()
    const mode = eventModeOf(ctx.req.headers)
    let one: ResolvedFunction | undefined
    try {
      if (state === 'new') await start()
      const routes = resolve()
      one = mode === undefined ? routes.byName(name) : undefined
      if (mode === undefined && one === undefined) {
        await next()
        if (ctx.status === 404 && (ctx.body === undefined || ctx.body === null)) throw unknownName(name)
        return
      }
      if (answerMethod(ctx)) return
      if (state === 'closing') throw new RequestError({ code: 'NOT_AVAILABLE', message: 'The runtime is stopping' })
      assertIdentity(ctx)
      if (mode === undefined) {
        one = one as ResolvedFunction
        answerPlain(ctx, one, await invoker.invoke(one, await readPlainInput(ctx, one, resolved), surroundings(ctx)))
      } else {
        const request = await readEvent(ctx, mode, resolved)
        one = routes.byEvent(request.record)
        const input = readEventInput(one, request, resolved.maxDepth)
        const taken = one
        const given = await invoker.invoke(one, input, surroundings(ctx, () => contextEvent(taken, request, input)))
        answerEvent(ctx, one, given, request, resolved.ids.next)
      }
    } catch (error) {
      answerProblem(ctx, error, one?.name, resolved)
    }
    if (one !== undefined) metrics.record(one.name, mode ?? 'plain', ctx.status, (resolved.clock.now() - arrived) / 1000)
  }

  Object.defineProperty(middleware, SERVICE, { value: true })
  return Object.assign(middleware, { start, close, [Symbol.asyncDispose]: close })
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

function unknownName(name: string): RequestError {
  return new RequestError({
    code: 'ADDRESS_UNKNOWN',
    message: name === '' ? 'There is no function at the root; name one in the path' : `There is no function ${JSON.stringify(name.slice(0, 80))}`,
  })
}

// Answers OPTIONS; lets GET, HEAD and POST pass.
function answerMethod(ctx: Context): boolean {
  if (ctx.method === 'GET' || ctx.method === 'HEAD' || ctx.method === 'POST') return false
  if (ctx.method !== 'OPTIONS') {
    throw new RequestError({ code: 'METHOD_NOT_ALLOWED', message: `Functions are called with GET or POST, not with ${ctx.method}` })
  }
  ctx.set('Allow', 'GET, HEAD, POST, OPTIONS')
  ctx.status = 204
  return true
}

function assertIdentity(ctx: Context): void {
  const encoding = ctx.req.headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new RequestError({ code: 'MEDIA_TYPE_UNSUPPORTED', message: 'A compressed body cannot be read; send it as it is' })
}

function surroundings(ctx: Context, event?: CallSurroundings['event']): CallSurroundings {
  const { req, res } = ctx
  return {
    headers: req.headers,
    ...(event === undefined ? {} : { event }),
    onCallerLeft(callback) {
      const onClose = (): void => { if (!res.writableFinished) callback() }
      if (res.destroyed || res.closed) onClose()
      else res.once('close', onClose)
      return () => { res.off('close', onClose) }
    },
  }
}
