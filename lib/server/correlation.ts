import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IdSource } from '../common/index.ts'

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/
const NO_TRACE = '0'.repeat(32)

/**
 * Takes the request id of the caller, or makes one; it is echoed, and stands among the headers for whoever logs later
 * (decisions.md 23).
 */
export function assignRequestId(request: IncomingMessage, response: ServerResponse, ids: IdSource): void {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : ids.next()
  request.headers['x-request-id'] = id
  response.setHeader('X-Request-Id', id)
}

/** What log lines of a request carry: its id, and trace and span of its caller when it has a W3C trace context. */
export function logContext(request: IncomingMessage): Record<string, string> {
  const context: Record<string, string> = {}
  const id = request.headers['x-request-id']
  if (typeof id === 'string') context['requestId'] = id
  const parent = request.headers['traceparent']
  const match = typeof parent === 'string' ? TRACE_PARENT.exec(parent.trim()) : null
  if (match?.[1] !== undefined && match[2] !== undefined && match[1] !== NO_TRACE) {
    context['traceId'] = match[1]
    context['spanId'] = match[2]
  }
  return context
}
