import type { Context, Next } from 'koa'
import { RequestError } from '../errors/index.ts'
import { eventModeOf } from '../events/index.ts'
import type { CallSurroundings } from './context.ts'
import { toEventAnswer } from './answer-event.ts'
import { answerEvent, contextEvent, readEvent, readEventInput, type EventRequest } from './event-form.ts'
import type { FunctionInvoker } from './invoker.ts'
import type { InvocationMetrics } from './metrics.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'
import { answerPlain, readPlainInput } from './plain-form.ts'
import { answerProblem } from './problem.ts'
import type { ResolvedFunction } from './resolve-functions.ts'
import type { Routing } from './routing.ts'

/** What answering a request takes. */
export interface ExchangeParts {
  readonly options: ResolvedFunctionRuntimeOptions
  readonly invoker: FunctionInvoker
  readonly metrics: InvocationMetrics
  readonly isClosing: () => boolean
}

/** Answers the request of a function, or passes it on when its path means none; never throws for a bad request. */
export type Exchange = (ctx: Context, target: { readonly routing: Routing; readonly name: string }, next: Next) => Promise<void>

/** Creates the exchange: the form is decided once, and the answer takes the same (function-runtime.md §3, rule 6). */
export function createExchange(parts: ExchangeParts): Exchange {
  const { options, invoker, metrics } = parts
  const { clock, ids } = options

  const plain = async (ctx: Context, one: ResolvedFunction): Promise<void> => {
    const input = await readPlainInput(ctx, one, options)
    answerPlain(ctx, one, await invoker.invoke(one, input, surroundings(ctx)))
  }

  const event = async (ctx: Context, one: ResolvedFunction, request: EventRequest): Promise<void> => {
    const input = readEventInput(one, request)
    const given = await invoker.invoke(one, input, surroundings(ctx, () => contextEvent(one, request, input)))
    answerEvent(ctx, request.mode, toEventAnswer(one, given, { specversion: request.record.specversion, ids }))
  }

  const passOn = async (ctx: Context, name: string, next: Next): Promise<void> => {
    await next()
    if (ctx.status === 404 && (ctx.body === undefined || ctx.body === null)) answerProblem(ctx, { error: unknownName(name) }, options)
  }

  return async (ctx, { routing, name }, next) => {
    const arrived = clock.now()
    const mode = eventModeOf(ctx.req.headers)
    let one = mode === undefined ? routing.byName(name) : undefined
    if (mode === undefined && one === undefined) {
      await passOn(ctx, name, next)
      return
    }
    try {
      if (answerMethod(ctx)) return
      if (parts.isClosing()) throw new RequestError({ code: 'NOT_AVAILABLE', message: 'The runtime is stopping' })
      assertIdentity(ctx)
      if (mode !== undefined) {
        const request = await readEvent(ctx, mode, options)
        one = routing.byEvent(request.record)
        await event(ctx, one, request)
      } else if (one !== undefined) {
        await plain(ctx, one)
      }
    } catch (error) {
      answerProblem(ctx, { error, name: one?.name }, options)
    }
    if (one !== undefined) metrics.record({ name: one.name, form: mode ?? 'plain', status: ctx.status, seconds: (clock.now() - arrived) / 1000 })
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
