import type { Context } from 'koa'
import type { InvocationMetrics } from './metrics.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'

/** Answers the addresses of health and metrics (function-runtime.md §6). */
export interface Observability {
  /** Answers the request when its path is one of them, and says whether it was. */
  answer(ctx: Context, path: string): Promise<boolean>
}

type Check = 'live' | 'ready' | 'started'

const TEXT_CHECKS: Readonly<Record<string, Check>> = { 'health/liveness': 'live', 'health/readiness': 'ready' }
const JSON_CHECKS: Readonly<Record<string, readonly Check[]>> = {
  'q/health': ['live', 'ready', 'started'],
  'q/health/live': ['live'],
  'q/health/liveness': ['live'],
  'q/health/ready': ['ready'],
  'q/health/readiness': ['ready'],
  'q/health/started': ['started'],
}

/** Creates the answers; `isReady` tells whether the runtime has started and is not stopping. */
export function createObservability(
  options: ResolvedFunctionRuntimeOptions,
  metrics: InvocationMetrics,
  isReady: () => boolean,
): Observability {
  const { hooks, log } = options
  const run = async (check: Check): Promise<boolean> => {
    if (check !== 'live' && !isReady()) return false
    const hook = check === 'live' ? hooks.liveness : check === 'ready' ? hooks.readiness : undefined
    try {
      await hook?.()
      return true
    } catch (error) {
      log.warn({ err: error, check }, 'A health check failed')
      return false
    }
  }
  return {
    async answer(ctx, path) {
      const text = TEXT_CHECKS[path]
      const json = JSON_CHECKS[path]
      if (text === undefined && json === undefined && path !== 'q/metrics') return false
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        answerMethod(ctx)
        return true
      }
      ctx.set('Cache-Control', 'no-store')
      if (text !== undefined) {
        const up = await run(text)
        ctx.status = up ? 200 : 503
        ctx.body = up ? 'OK' : 'Service Unavailable'
      } else if (json !== undefined) {
        const checks = await Promise.all(json.map(async (name) => ({ name, status: await run(name) ? 'UP' : 'DOWN' })))
        const up = checks.every(({ status }) => status === 'UP')
        ctx.status = up ? 200 : 503
        ctx.body = { status: up ? 'UP' : 'DOWN', checks }
      } else {
        const { contentType, text: rendered } = await metrics.render()
        ctx.set('Content-Type', contentType)
        ctx.body = rendered
      }
      return true
    },
  }
}

function answerMethod(ctx: Context): void {
  ctx.set('Allow', 'GET, HEAD')
  ctx.status = ctx.method === 'OPTIONS' ? 204 : 405
  if (ctx.status === 405) ctx.body = { message: 'This address is read with GET', code: 'METHOD_NOT_ALLOWED' }
}
