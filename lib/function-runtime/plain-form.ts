import type { Context } from 'koa'
import { FunctionError, RequestError } from '../errors/index.ts'
import { BATCH_MEDIA_TYPE, isUtf8, parseMediaType } from '../events/index.ts'
import { answerOf } from './answer-event.ts'
import { readBody } from './body.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'
import { readQuery } from './query.ts'
import { eventNeeded } from './registry.ts'
import type { ResolvedFunction } from './resolve-functions.ts'
import { parseJson, readJson, writeBody } from './values.ts'

/**
 * Reads the input of a plain HTTP request (function-runtime.md §4).
 *
 * @throws {@link RequestError} or {@link FunctionError} that says what is wrong with the request
 */
export async function readPlainInput(ctx: Context, one: ResolvedFunction, options: ResolvedFunctionRuntimeOptions): Promise<unknown> {
  const { name, input, output } = one
  if (input.wrapped || input.kind === 'bytes' || output.kind === 'bytes') throw eventNeeded(name)
  if (ctx.method !== 'POST') return readGet(ctx.querystring, one)
  const contentType = ctx.req.headers['content-type']
  if (contentType !== undefined) assertJson(contentType)
  const body = await readBody(ctx.req, options.maxBodySize)
  if (body.byteLength === 0) return readJson(input, undefined)
  if (contentType === undefined) throw notAcceptable('without a media type')
  if (input.kind === 'nothing') {
    options.log.warn({ function: name }, `Function ${name} does not accept input; the body was ignored`)
    return undefined
  }
  return readJson(input, parseJson(body, options.maxDepth))
}

/**
 * Answers a plain HTTP request with what the handler gave (function-runtime.md §4).
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` when the output is not what the function promises
 */
export function answerPlain(ctx: Context, one: ResolvedFunction, given: unknown): void {
  const { data } = answerOf(one, given)
  if (data === undefined) {
    ctx.status = 204
    return
  }
  const { body, contentType } = writeBody(one.output, data.value)
  ctx.status = 200
  ctx.set('Content-Type', contentType)
  ctx.body = body
}

function readGet(query: string, one: ResolvedFunction): unknown {
  const { name, input } = one
  if (input.kind === 'nothing') return undefined
  const { schema } = input
  const kind = schema?.shapes.of(schema.schema).kind
  if (schema === undefined || (kind !== 'object' && kind !== 'map')) {
    throw new FunctionError({
      code: 'FUNCTION_ARGUMENT_INVALID',
      message: `Function ${name} takes no object, so a query cannot call it; use POST with a JSON body`,
    })
  }
  return readJson(input, readQuery(query, schema, one.caseInsensitive))
}

function assertJson(contentType: string): void {
  const mediaType = parseMediaType(contentType)
  const isJson = mediaType !== undefined && isUtf8(mediaType) && mediaType.essence !== BATCH_MEDIA_TYPE &&
    (mediaType.essence === 'application/json' || mediaType.essence.endsWith('+json'))
  if (!isJson) throw notAcceptable(`as ${contentType.slice(0, 80)}`)
}

function notAcceptable(how: string): RequestError {
  return new RequestError({
    code: 'MEDIA_TYPE_UNSUPPORTED',
    message: `A body ${how} cannot be read: send application/json in UTF-8, or a CloudEvent (one, not a batch)`,
  })
}
