import { FunctionError } from '../errors/index.ts'

interface Reason {
  readonly text: string
  readonly retryable?: true
  readonly timeout?: true
}

const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: { text: 'the connection was refused', retryable: true },
  ECONNRESET: { text: 'the connection was reset', retryable: true },
  EPIPE: { text: 'the connection was reset', retryable: true },
  EHOSTUNREACH: { text: 'the host cannot be reached', retryable: true },
  ENETUNREACH: { text: 'the network cannot be reached', retryable: true },
  ENOTFOUND: { text: 'the host name is unknown', retryable: true },
  EAI_AGAIN: { text: 'the host name could not be resolved', retryable: true },
  ETIMEDOUT: { text: 'connecting took too long', retryable: true, timeout: true },
  UND_ERR_CONNECT_TIMEOUT: { text: 'connecting took too long', retryable: true, timeout: true },
  UND_ERR_SOCKET: { text: 'the connection was closed before the answer was complete', retryable: true },
  UND_ERR_HEADERS_OVERFLOW: { text: 'the headers of the answer are too large' },
  HPE_HEADER_OVERFLOW: { text: 'the headers of the answer are too large' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { text: 'the answer is shorter than it says' },
  UND_ERR_INVALID_ARG: { text: 'the request is malformed' },
  UND_ERR_NOT_SUPPORTED: { text: 'the request is malformed' },
  UND_ERR_DESTROYED: { text: 'the client is closed' },
  UND_ERR_CLOSED: { text: 'the client is closed' },
  ABORT_ERR: { text: 'the call was cancelled' },
}

/** Gives the system's code of an error, looking through causes and the attempts of a dual-stack connect. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as NodeJS.ErrnoException).code
    if (typeof code === 'string') return code
    if (current instanceof AggregateError) return systemCode(current.errors[0])
  }
  return undefined
}

/**
 * Turns what undici or the system reports into the error that `onErrors` can match (openapi-functions.md §5).
 *
 * The message names client and reason; the address stays in the log and in the cause.
 */
export function toFunctionError(client: string, purpose: string | undefined, error: unknown): FunctionError {
  if (error instanceof FunctionError) return error
  const code = systemCode(error)
  const reason = code === undefined ? describeName(error) : (REASONS[code] ?? describeCode(code))
  const text = reason?.text ?? 'the call could not be made'
  return new FunctionError({
    code: reason?.timeout ? 'FUNCTION_TIMEOUT' : 'FUNCTION_FAILED',
    message: `${subject(client, purpose)}: ${text}${code === undefined ? '' : ` (${code})`}`,
    retryable: reason?.retryable ?? false,
    cause: error,
  })
}

// undici's parser errors carry a code only for some faults.
function describeName(error: unknown): Reason | undefined {
  return error instanceof Error && error.name === 'HTTPParserError' ? { text: 'the answer is not HTTP' } : undefined
}

function describeCode(code: string): Reason | undefined {
  if (code.startsWith('HPE_')) return { text: 'the answer is not HTTP' }
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/.test(code)) return { text: 'no secure connection could be made; check trust-store, key-store and verify-host' }
  return undefined
}

/** Words who calls what, for messages. */
function subject(client: string, purpose: string | undefined): string {
  return purpose === undefined ? `The call to "${client}" failed` : `The call to "${client}" (${purpose}) failed`
}

/** Makes the error of a call that took too long. */
export function timeoutError(client: string, purpose: string | undefined, what: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_TIMEOUT', message: `${subject(client, purpose)}: ${what}`, retryable: true })
}

/** Makes the error of a call that one of our limits or rules ended. */
export function refusal(client: string, purpose: string | undefined, what: string, retryable = false): FunctionError {
  return new FunctionError({ code: 'FUNCTION_FAILED', message: `${subject(client, purpose)}: ${what}`, retryable })
}
