import type { Context } from 'koa'
import { SonatinaError, type ErrorCode } from '../errors/index.ts'
import { isHttpError } from './http-error.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'

const MAX_MESSAGE = 8 * 1024

/** Statuses of the errors that invoking a function can end in (function-runtime.md §3–§5); anything else is 500. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  REQUEST_INVALID: 400,
  REQUEST_NOT_JSON: 400,
  FUNCTION_ARGUMENT_INVALID: 400,
  CLOUD_EVENT_INVALID: 400,
  ADDRESS_UNKNOWN: 404,
  FUNCTION_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  MEDIA_TYPE_UNSUPPORTED: 406,
  BODY_TOO_LARGE: 413,
  HEADERS_TOO_LARGE: 431,
  NOT_AVAILABLE: 503,
  FUNCTION_TIMEOUT: 504,
}

/** Tells the status that an error is answered with. */
function statusOf(error: unknown): number {
  if (!SonatinaError.is(error)) return 500
  const own = 'status' in error && typeof error.status === 'number' ? error.status : undefined
  return own ?? STATUS[error.code] ?? 500
}

interface Problem {
  readonly error: unknown
  /** The function that was called, where one was found. */
  readonly name?: string | undefined
}

/**
 * Answers an error as `{message, code}`; never with `ce-*` headers or a stack.
 *
 * A function that failed is logged; in production its message stays in the log and the answer holds the id of the line.
 */
export function answerProblem(ctx: Context, { error, name }: Problem, options: ResolvedFunctionRuntimeOptions): void {
  const status = statusOf(error)
  const deliberate = isHttpError(error)
  let message = SonatinaError.is(error) ? error.message : 'The runtime failed'
  if (status === 500 && !deliberate) {
    const errorId = options.ids.next()
    options.log.error({ err: error, function: name, errorId }, 'A function failed')
    if (options.isProduction || !SonatinaError.is(error)) message = `The function failed; the log has the reason under ${errorId}`
  }
  ctx.status = status
  ctx.set('Content-Type', 'application/json')
  if (status === 405) ctx.set('Allow', 'GET, POST')
  if (status === 413) ctx.set('Connection', 'close')
  if (status === 503 && !deliberate) ctx.set('Retry-After', '1')
  ctx.body = JSON.stringify({ message: message.slice(0, MAX_MESSAGE), code: SonatinaError.is(error) ? error.code : 'INTERNAL' })
}
