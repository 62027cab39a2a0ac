import { FunctionError, SonatinaError } from '../errors/index.ts'

const DELIBERATE = Symbol.for('sonatina.http-error')

/**
 * Makes an error that the caller gets with the given status, by plain HTTP and by event alike. Throw it from a handler.
 *
 * A status outside of 400–599 is answered as 500.
 *
 * @example
 * httpError(404, 'No order 17').status // => 404
 */
export function httpError(status: number, message: string): FunctionError {
  const known = Number.isInteger(status) && status >= 400 && status <= 599
  const error = new FunctionError({ code: 'FUNCTION_FAILED', message, status: known ? status : 500 })
  return Object.defineProperty(error, DELIBERATE, { value: true })
}

/** Tells whether an error was made by {@link httpError}. */
export function isHttpError(error: unknown): error is FunctionError & { readonly status: number } {
  return SonatinaError.is(error) && DELIBERATE in error
}
