import type Koa from 'koa'
import type { Clock, Logger } from '../common/index.ts'
import { RequestError } from '../errors/index.ts'
import { logContext } from './correlation.ts'
import { clientAddress } from './location.ts'
import type { Authenticate } from './options.ts'
import type { CorsSettings } from './settings.ts'

// Each of these stands in the chain only when it is switched on: what is off costs nothing.

/** Logs every request when it has been answered. */
export function accessLog(log: Logger, clock: Clock): Koa.Middleware {
  return async (ctx, next) => {
    const begun = clock.now()
    ctx.res.once('close', () => {
      log.info({ ...logContext(ctx.req), method: ctx.method, path: ctx.path, status: ctx.res.statusCode, ms: clock.now() - begun }, 'request')
    })
    await next()
  }
}

/** Lets pages of the allowed origins call the service; anyone else gets no CORS headers (Fetch standard, CORS protocol). */
export function cors(settings: CorsSettings): Koa.Middleware {
  const origins = new Set(settings.origins)
  // Pages without an origin say `null`; a pattern that matches everything does not mean them.
  const isAllowed = (origin: string): boolean => origins.has(origin) || (origin !== '' && origin !== 'null' && settings.patterns.some((pattern) => pattern.test(origin)))
  return async (ctx, next) => {
    const origin = ctx.get('Origin')
    ctx.vary('Origin')
    if (!isAllowed(origin)) { await next(); return }
    ctx.set('Access-Control-Allow-Origin', origin)
    if (settings.credentials) ctx.set('Access-Control-Allow-Credentials', 'true')
    const asked = ctx.get('Access-Control-Request-Method')
    if (ctx.method !== 'OPTIONS' || asked === '') {
      if (settings.exposedHeaders.length > 0) ctx.set('Access-Control-Expose-Headers', settings.exposedHeaders.join(', '))
      await next()
      return
    }
    ctx.vary('Access-Control-Request-Method')
    ctx.vary('Access-Control-Request-Headers')
    ctx.set('Access-Control-Allow-Methods', (settings.methods.length > 0 ? settings.methods : ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).join(', '))
    const headers = settings.headers.length > 0 ? settings.headers.join(', ') : ctx.get('Access-Control-Request-Headers')
    if (headers !== '') ctx.set('Access-Control-Allow-Headers', headers)
    if (settings.maxAge !== undefined) ctx.set('Access-Control-Max-Age', String(settings.maxAge))
    ctx.status = 204
  }
}

/** Checks who calls before the body is read; the caller stands in `ctx.state.identity`. */
export function authentication(authenticate: Authenticate): Koa.Middleware {
  return async (ctx, next) => {
    const identity = await authenticate({ method: ctx.method, path: ctx.path, headers: ctx.req.headers, socket: ctx.req.socket })
    if (identity !== undefined) (ctx.state as { identity?: unknown })['identity'] = identity
    await next()
  }
}

/** Refuses requests beyond so many at a time. */
export function concurrencyLimit(limit: number): Koa.Middleware {
  let running = 0
  return async (ctx, next) => {
    if (running >= limit) {
      throw new RequestError({ code: 'NOT_AVAILABLE', message: `${String(limit)} requests are being answered, as many as sonatina.http.limits.max-concurrent allows.`, details: { retryAfter: 1 } })
    }
    running++
    try {
      await next()
    } finally {
      running--
    }
  }
}

/** Clients whose bucket is remembered; a full bucket need not be. */
const REMEMBERED_CLIENTS = 10_000

/** Refuses requests of a client beyond so many a second; `burst` may come at once (token bucket). */
export function rateLimit(rate: { readonly perSecond: number; readonly burst: number }, clock: Clock, forwarding: boolean): Koa.Middleware {
  const buckets = new Map<string, { tokens: number; at: number }>()
  const take = (client: string): number => {
    const now = clock.now()
    const known = buckets.get(client) ?? { tokens: rate.burst, at: now }
    const tokens = Math.min(rate.burst, known.tokens + (now - known.at) * rate.perSecond / 1000)
    buckets.delete(client)
    const [oldest] = buckets.keys()
    if (buckets.size >= REMEMBERED_CLIENTS && oldest !== undefined) buckets.delete(oldest)
    buckets.set(client, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now })
    return tokens >= 1 ? 0 : (1 - tokens) / rate.perSecond
  }
  return async (ctx, next) => {
    const seconds = take(clientAddress(ctx.req, forwarding))
    if (seconds > 0) {
      throw new RequestError({
        code: 'TOO_MANY_REQUESTS',
        message: `More than ${String(rate.perSecond)} requests a second (${String(rate.burst)} at once) come from this address.`,
        details: { retryAfter: seconds },
      })
    }
    await next()
  }
}
