import type { ErrorCode } from './codes.ts'

/** What every error of the product is made from. */
export interface ErrorOptions<Code extends ErrorCode> {
  /** Stable code, upper snake case; `docs/errors/<code>.md` explains it. */
  readonly code: Code
  /** What happened, where, and what to do about it. */
  readonly message: string
  /** JSON facts for programs that catch the error; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
  /** What led to it. */
  readonly cause?: unknown
}

const MARK = Symbol.for('sonatina.error')

/**
 * Base of all errors that the product throws on purpose.
 *
 * `toJSON` gives plain data, because a bare `Error` encodes to `{}`; stack and cause stay out of it.
 */
export abstract class SonatinaError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly details: Readonly<Record<string, unknown>>

  constructor(options: ErrorOptions<Code>) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code
    this.details = options.details ?? {}
    // Subclasses keep their own name, also when a bundler renames the constructor of a caller's copy.
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true })
    Object.defineProperty(this, MARK, { value: true })
  }

  /** Tells whether a value is an error of the product, also when it comes from another copy of the package. */
  static is(value: unknown): value is SonatinaError {
    return typeof value === 'object' && value !== null && MARK in value
  }

  /** Gives `{name, code, message, details}` as plain data. */
  toJSON(): { name: string; code: Code; message: string; details: Readonly<Record<string, unknown>> } {
    return { name: this.name, code: this.code, message: this.message, details: this.details }
  }
}
