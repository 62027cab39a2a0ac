import { FunctionError } from '../errors/index.ts'

const LONGEST_DESCRIPTION = 200

/** Makes the error of a credential that could not be had (configuration.md §4, §5). */
export function authFailed(message: string, options: { readonly retryable?: boolean; readonly cause?: unknown; readonly details?: Readonly<Record<string, unknown>> } = {}): FunctionError {
  return new FunctionError({ code: 'AUTH_FAILED', message, ...options })
}

/** Cuts a text of an authorization server to 200 characters and removes control characters, so that it may stand in a message. */
export function safeText(value: unknown): string {
  if (typeof value !== 'string') return ''
  // eslint's no-control-regex is about accidents; here the control characters are the point.
  return value.replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST_DESCRIPTION)
}
