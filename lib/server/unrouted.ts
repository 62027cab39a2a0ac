import type Router from '@koa/router'
import type Koa from 'koa'
import { RequestError } from '../errors/index.ts'
import { RESERVED, firstSegment } from './reserved.ts'
import type { ServerContext } from './context.ts'
import { findWorkflow } from './routes/instances.ts'

/** Answers what no route took: OPTIONS and other methods of known addresses, and unknown addresses (http-contract.md §1). */
export function answerUnrouted(server: ServerContext, fixed: Router, workflows: Router): Koa.Middleware {
  const { rootPath } = server.settings
  return (ctx) => {
    const methods = methodsOf(fixed, ctx.path)
    if (methods.size > 0) { answerMethods(ctx, methods); return }
    const segment = firstSegment(ctx.path, rootPath)
    const below = rootPath === '' || ctx.path.startsWith(`${rootPath}/`)
    if (segment === '' || !below || RESERVED.has(segment) || workflows.stack.length === 0) throw unknownAddress(ctx.path)
    const route = findWorkflow(server, decode(segment))
    const offered = methodsOf(workflows, ctx.path)
    if (offered.size === 0) throw unknownAddress(ctx.path)
    if (route.startedBy !== undefined) offered.delete('POST')
    answerMethods(ctx, offered)
  }
}

function methodsOf(router: Router, path: string): Set<string> {
  // Names of methods are listed in the order in which people read them.
  const offered = new Set(router.match(path, 'OPTIONS').path.flatMap((layer) => layer.methods))
  return new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => offered.has(method)))
}

function answerMethods(ctx: Koa.Context, methods: ReadonlySet<string>): void {
  const allow = [...methods, 'OPTIONS']
  if (ctx.method !== 'OPTIONS') {
    throw new RequestError({ code: 'METHOD_NOT_ALLOWED', message: `${ctx.method} is not offered here. There are ${allow.join(', ')}.`, details: { allow } })
  }
  ctx.set('Allow', allow.join(', '))
  ctx.status = 204
}

function unknownAddress(path: string): RequestError {
  return new RequestError({ code: 'ADDRESS_UNKNOWN', message: `Nothing is served at ${JSON.stringify(path.slice(0, 200))}. /q/openapi describes what is.` })
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not percent-encoding: taken as it stands, as the router does.
    return segment
  }
}
