import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { SonatinaError } from '../errors/index.ts'
import { JSON_TYPE } from './answer.ts'
import type { ServerContext } from './context.ts'
import { assignRequestId, logContext } from './correlation.ts'
import { lingerAndEnd } from './linger.ts'
import { internalProblem, toProblem, type Problem } from './problem.ts'

/** Headers of an answer that was given up for an error. */
const GIVEN_UP = ['Content-Encoding', 'Content-Length', 'Content-Type', 'ETag', 'Last-Modified', 'Location', 'Preference-Applied', 'Transfer-Encoding', 'Content-Security-Policy']

/**
 * Makes an application answer errors as the contract says (http-contract.md §4), in place of Koa's own text.
 *
 * Koa calls `ctx.onerror` at the end of the chain, so no middleware has to stand around every request for it.
 */
export function answerErrors(app: Koa, server: ServerContext): void {
  app.context.onerror = function onerror(this: Koa.Context, error: unknown): void {
    if (error === null || error === undefined) return
    const { req: request, res: response } = this
    if (response.headersSent || !this.writable) {
      // A caller that went away is no fault of the service.
      server.log.debug({ ...logContext(request), err: error }, 'the answer could not be sent')
      response.destroy()
      return
    }
    const problem = problemOf(error, this, server)
    for (const name of GIVEN_UP) response.removeHeader(name)
    for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value)
    if (!response.hasHeader('X-Request-Id')) assignRequestId(request, response, server.ids)
    if (problem.close || server.lifecycle.draining) response.setHeader('Connection', 'close')
    const body = Buffer.from(JSON.stringify(problem.body))
    response.statusCode = problem.status
    response.statusMessage = STATUS_CODES[problem.status] ?? ''
    response.setHeader('Content-Type', JSON_TYPE)
    response.setHeader('Content-Length', body.length)
    if (this.method === 'HEAD') response.end()
    else if (problem.close) lingerAndEnd(request, response, body)
    else response.end(body)
  }
}

function problemOf(error: unknown, ctx: Koa.Context, { log, ids }: ServerContext): Problem {
  const context = { ...logContext(ctx.req), method: ctx.method, path: ctx.path }
  if (SonatinaError.is(error)) {
    const problem = toProblem(error)
    // Stack and cause stay in the log; a request that is merely wrong is worth a line only to who looks for it.
    if (problem.status >= 500) log.error({ ...context, err: error }, error.message)
    else log.debug({ ...context, code: error.code }, error.message)
    return problem
  }
  const errorId = ids.next()
  log.error({ ...context, errorId, err: error }, 'defect: an error of no known class')
  return internalProblem(errorId)
}
