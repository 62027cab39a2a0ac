import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { Arrivals } from '../common/index.ts'
import type { ServerContext } from './context.ts'
import { assignRequestId } from './correlation.ts'
import { answerErrors } from './error-answer.ts'
import { accessLog, authentication, concurrencyLimit, cors, rateLimit } from './filters.ts'
import type { Authenticate, Mount } from './options.ts'
import { RESERVED, firstSegment } from './reserved.ts'
import { createEventEndpoint } from './routes/events.ts'
import { addInstanceRoutes } from './routes/instances.ts'
import { addManagementRoutes } from './routes/management.ts'
import { addOpenApiRoutes } from './routes/openapi.ts'
import { addQueryRoutes } from './routes/queries.ts'
import { addLogLevelRoutes, addServiceRoutes, addTopicRoutes } from './routes/service.ts'
import { addSwaggerUiRoutes } from './routes/swagger-ui.ts'
import { createStart, type Start } from './start.ts'
import { answerUnrouted } from './unrouted.ts'

/** Which addresses an application answers: all, or its half of two listeners. */
export type Surface = 'all' | 'workflows' | 'management'

/** What stands before and beside the routes. */
export interface AppParts {
  readonly authenticate?: Authenticate | undefined
  readonly mounts: readonly Mount[]
}

/** Composes the Koa application of one listener. What is switched off is not in the chain. */
export function createApp(server: ServerContext, surface: Surface, parts: AppParts): Koa {
  const { settings } = server
  // Koa reads NODE_ENV unless it is told; nothing here depends on it.
  const app = new Koa({ env: 'production' })
  answerErrors(app, server)
  if (settings.accessLog) app.use(accessLog(server.log, server.clock))
  const mounts = parts.mounts.filter(({ path }) => surface === 'all' || path === '/' || isManagement(path) === (surface === 'management'))
  addMounts(app, settings.rootPath, mounts.filter(({ stage }) => stage === 'first'))
  addGuards(app, server, parts.authenticate)
  const start = createStart(server)
  if (surface !== 'management') app.use(hotPath(server, start))
  app.use(closeWhileDraining(server))
  if (surface !== 'management') app.use(events(server))
  addMounts(app, settings.rootPath, mounts.filter(({ stage }) => stage !== 'first'))
  const fixed = fixedRoutes(server, surface)
  app.use(fixed.routes())
  const workflows = new Router({ ...(settings.rootPath === '' ? {} : { prefix: settings.rootPath }), sensitive: true })
  if (surface !== 'management') addInstanceRoutes(workflows, server, start)
  app.use(forWorkflows(server, workflows))
  app.use(answerUnrouted(server, fixed, workflows))
  return app
}

function addMounts(app: Koa, rootPath: string, mounts: readonly Mount[]): void {
  for (const { path, middleware } of mounts) if (middleware !== undefined) app.use(under(rootPath, path, middleware))
}

function addGuards(app: Koa, { settings, clock }: ServerContext, authenticate: Authenticate | undefined): void {
  if (settings.cors !== undefined) app.use(cors(settings.cors))
  if (settings.rate !== undefined) app.use(rateLimit(settings.rate, clock, settings.forwarding))
  if (settings.maxConcurrent !== undefined) app.use(concurrencyLimit(settings.maxConcurrent))
  if (authenticate !== undefined) app.use(authentication(authenticate))
}

/** Makes the listener of requests that Node calls: what every request needs, before Koa. */
export function createListener(app: Koa, server: ServerContext): RequestListener {
  const handle = app.callback()
  const requests = new Arrivals<{ readonly request: IncomingMessage; readonly response: ServerResponse }>(({ request, response }) => {
    assignRequestId(request, response, server.ids)
    if (server.lifecycle.draining) response.shouldKeepAlive = false
    if (request.url?.startsWith('/') !== true) request.url = toOriginForm(request.url ?? '')
    void handle(request, response)
  })
  return (request: IncomingMessage, response: ServerResponse) => { requests.add({ request, response }) }
}

// A request target may be a whole address (RFC 9112 §3.2.2); what is none leads to an address that does not exist.
function toOriginForm(target: string): string {
  if (!URL.canParse(target)) return '/%00'
  const { pathname, search } = new URL(target)
  return pathname.startsWith('/') ? pathname + search : '/%00'
}

// Matched by a Map before the router: most requests are these (performance.md).
function hotPath({ workflows: { byPath } }: ServerContext, start: Start): Koa.Middleware {
  return (ctx, next) => {
    if (ctx.req.method !== 'POST') return next()
    const url = ctx.req.url ?? ''
    let route = byPath.get(url)
    if (route === undefined) {
      const query = url.indexOf('?')
      if (query !== -1) route = byPath.get(url.slice(0, query))
    }
    return route === undefined ? next() : start(ctx, route)
  }
}

function closeWhileDraining({ lifecycle }: ServerContext): Koa.Middleware {
  return async (ctx, next) => {
    await next()
    if (lifecycle.draining && !ctx.headerSent) ctx.set('Connection', 'close')
  }
}

function events(server: ServerContext): Koa.Middleware {
  const endpoint = createEventEndpoint(server)
  return (ctx, next) => (endpoint.accepts(ctx.path) ? endpoint.answer(ctx) : next())
}

// Without this, `/q/nothing` would be looked up as an instance of a workflow `q`.
function forWorkflows({ settings: { rootPath } }: ServerContext, router: Router): Koa.Middleware {
  const route = router.routes() as unknown as (ctx: Koa.Context, next: Koa.Next) => Promise<void>
  return (ctx, next) => (RESERVED.has(firstSegment(ctx.path, rootPath)) ? next() : route(ctx, next))
}

function isManagement(path: string): boolean {
  return path === '/inspect' || path.startsWith('/inspect/')
}

function under(rootPath: string, path: string, middleware: Koa.Middleware): Koa.Middleware {
  if (path === '/') return middleware
  const prefix = rootPath + path
  return (ctx, next) => (ctx.path === prefix || ctx.path.startsWith(`${prefix}/`) ? middleware(ctx, next) as unknown : next())
}

function fixedRoutes(server: ServerContext, surface: Surface): Router {
  const { settings } = server
  const router = new Router({ ...(settings.rootPath === '' ? {} : { prefix: settings.rootPath }), sensitive: true })
  if (surface !== 'management') addTopicRoutes(router, server)
  if (surface === 'workflows') return router
  addServiceRoutes(router, server)
  addOpenApiRoutes(router, server)
  if (settings.swaggerUi) addSwaggerUiRoutes(router, server)
  if (settings.management) {
    addManagementRoutes(router, server)
    addQueryRoutes(router, server)
    addLogLevelRoutes(router, server)
  }
  return router
}
