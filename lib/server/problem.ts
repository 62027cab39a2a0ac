import type { ErrorCode, SonatinaError } from '../errors/index.ts'
import type { InstanceFailure, InstanceRecord } from '../hosts/index.ts'

/**
 * HTTP status of every error code (http-contract.md §4). A failure of an instance goes through {@link failureProblem}, where the
 * status of a remote answer counts too.
 */
export const STATUS = {
  DEFINITION_INVALID: 400,
  DEFINITION_UNSUPPORTED: 400,
  DEFINITION_NOT_FOUND: 404,
  CONFIGURATION_MISSING: 400,
  CONFIGURATION_INVALID: 400,
  DATA_INPUT_INVALID: 400,
  DATA_OUTPUT_INVALID: 400,
  EXPRESSION_SYNTAX: 400,
  EXPRESSION_FAILED: 400,
  EXPRESSION_LIMIT: 400,
  FUNCTION_NOT_FOUND: 500,
  FUNCTION_ARGUMENT_INVALID: 400,
  FUNCTION_FAILED: 500,
  FUNCTION_TIMEOUT: 500,
  REST_STATUS: 500,
  AUTH_FAILED: 500,
  CLOUD_EVENT_INVALID: 400,
  CORRELATION_MISSING: 400,
  INSTANCE_NOT_FOUND: 404,
  INSTANCE_CONFLICT: 409,
  INSTANCE_ABORTED: 404,
  INSTANCE_LOOP: 500,
  INSTANCE_FAILED: 400,
  INSTANCE_NOT_FAILED: 400,
  INSTANCE_START_INVALID: 400,
  NODE_NOT_FOUND: 404,
  STATE_TIMEOUT: 500,
  STORE_UNAVAILABLE: 503,
  STORE_LOCKED: 503,
  HOST_CLOSED: 503,
  HOST_BUSY: 503,
  SNAPSHOT_INCOMPATIBLE: 500,
  TENANCY_INVALID: 400,
  TENANCY_DENIED: 403,
  REQUEST_INVALID: 400,
  REQUEST_NOT_JSON: 400,
  ADDRESS_UNKNOWN: 404,
  METHOD_NOT_ALLOWED: 405,
  MEDIA_TYPE_UNSUPPORTED: 415,
  BODY_TOO_LARGE: 413,
  HEADERS_TOO_LARGE: 431,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  TOO_MANY_REQUESTS: 429,
  NOT_AVAILABLE: 503,
  INTERNAL: 500,
} as const satisfies Record<ErrorCode, number>

/** An error as it is answered: every member of the body is text. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, string>>
  /** The connection is closed because the rest of the request is not read. */
  readonly close: boolean
}

const MESSAGE_LIMIT = 8192
/** Seconds after which a caller may try again when nothing better is known. */
const RETRY_AFTER = 5
/** Statuses of a remote service that are handed on as they are. */
const HANDED_ON = new Set([400, 403, 404, 409, 412])
/** Facts of an error that callers may see, by the name they see them under. */
const FIELDS = ['id', 'failedNodeId', 'processInstanceId', 'nodeId', 'nodeInstanceId'] as const

/** Tells whether a text is an error code of the product. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(STATUS, code)
}

/** Makes the answer for an error that the product threw on purpose. */
export function toProblem(error: SonatinaError): Problem {
  const { code, details } = error
  const status = STATUS[code]
  // What the service itself failed over may name where its store and its engine are: that is for the log.
  const message = status >= 500 ? withoutTokens(withoutPlaces(error.message)) : error.message
  const body: Record<string, string> = { message: cut(message), code }
  for (const field of FIELDS) {
    const value = details[field]
    if (typeof value === 'string') body[field] = value
  }
  if (code === 'INSTANCE_CONFLICT' || code === 'INSTANCE_NOT_FOUND') nameInstance(body, details)
  return { status, headers: headersOf(status, details), body, close: code === 'BODY_TOO_LARGE' }
}

// Hosts call it `instanceId`, callers know it as `processInstanceId`.
function nameInstance(body: Record<string, string>, details: Readonly<Record<string, unknown>>): void {
  if (typeof details['instanceId'] === 'string') body['processInstanceId'] ??= details['instanceId']
}

function headersOf(status: number, details: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers: Record<string, string> = {}
  if (status === 405 && Array.isArray(details['allow'])) headers['Allow'] = details['allow'].join(', ')
  if (status === 401) headers['WWW-Authenticate'] = typeof details['challenge'] === 'string' ? details['challenge'] : 'Bearer'
  if (status === 415) headers['Accept-Post'] = typeof details['acceptPost'] === 'string' ? details['acceptPost'] : 'application/json'
  if (status === 503 || status === 429) {
    const seconds = typeof details['retryAfter'] === 'number' ? Math.max(1, Math.ceil(details['retryAfter'])) : RETRY_AFTER
    headers['Retry-After'] = String(seconds)
  }
  return headers
}

/** Makes the answer for an instance that failed without a handler; it stays live in status error. */
export function failureProblem(record: InstanceRecord, failure: InstanceFailure): Problem {
  const code: ErrorCode = isErrorCode(failure.code) ? failure.code : 'FUNCTION_FAILED'
  const body: Record<string, string> = {
    message: failureMessage(failure),
    code,
    id: record.id,
    failedNodeId: failure.failedNodeId,
  }
  let status: number = STATUS[code]
  if (failure.status !== undefined) {
    body['errorCode'] = String(failure.status)
    status = HANDED_ON.has(failure.status) ? failure.status : 500
  }
  // Within a run, an unknown or ended instance, a full store and the like are failures of the workflow and not of the call.
  else if (status === 404 || status === 503) status = 500
  return { status, headers: {}, body, close: false }
}

/** Makes the answer for a defect of the runtime: its id leads to the log line, nothing else goes out. */
export function internalProblem(errorId: string): Problem {
  const message = `The service failed in a way it should not. Its log has the details under error id ${errorId}.`
  return { status: 500, headers: {}, body: { message, code: 'INTERNAL' }, close: false }
}

/** Gives the message of a failure without addresses, file paths and tokens. */
export function failureMessage(failure: InstanceFailure): string {
  // The text of a remote answer is the caller's own business; only what authenticates stays out of it.
  const text = failure.status === undefined ? withoutPlaces(failure.message) : failure.message
  return cut(withoutTokens(text))
}

function withoutPlaces(text: string): string {
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi, '<address>')
    .replace(/(?<![\w./])\/(?:[\w.@+-]+\/)+[\w.@+-]*\.[a-z]{1,5}(?::\d+)*/gi, '<file>')
    .replace(/\b(E[A-Z]{4,}|ENOTFOUND)\s+[^\s,;]+/g, '$1')
    .replace(/(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])/g, '<address>')
    .replace(/\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d{2,5}\b/gi, '<address>')
    .replace(/\b[a-z]:\\[^\s"']+/gi, '<file>')
}

function withoutTokens(text: string): string {
  return text.replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***')
}

function cut(text: string): string {
  return text.length <= MESSAGE_LIMIT ? text : `${text.slice(0, MESSAGE_LIMIT - 1)}…`
}
