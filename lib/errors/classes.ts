import type { CodeOf } from './codes.ts'
import { SonatinaError, type ErrorOptions } from './sonatina-error.ts'

/** One fault of a definition or another document. */
export interface Violation {
  /** JSON pointer of the offending place. */
  readonly pointer: string
  /** File that holds the place, when it is another than the document's own: a part may be referenced. */
  readonly file?: string
  /** Line in the author's file, from 1; absent when the document did not come from text. */
  readonly line?: number
  /** Column in the author's file, from 1. */
  readonly column?: number
  /** What is wrong. */
  readonly message: string
  /** What would be right. */
  readonly hint?: string
}

/** A definition cannot be used: it is malformed, asks for something absent, or does not exist. */
export class DefinitionError extends SonatinaError<CodeOf<'DefinitionError'>> {
  /** All faults found, in document order. */
  readonly violations: readonly Violation[]

  constructor(options: ErrorOptions<CodeOf<'DefinitionError'>> & { readonly violations?: readonly Violation[] }) {
    super({ ...options, details: { ...options.details, violations: options.violations ?? [] } })
    this.violations = options.violations ?? []
  }
}

/** A setting is missing or wrong; the message names key, environment form and where it was looked for. */
export class ConfigurationError extends SonatinaError<CodeOf<'ConfigurationError'>> {}

/** Input or output data does not fit the definition's JSON Schema. */
export class DataInputError extends SonatinaError<CodeOf<'DataInputError'>> {}

/** Facts of an {@link ExpressionError}. */
export interface ExpressionErrorDetails {
  readonly language: string
  readonly text: string
  readonly offset?: number
  readonly line?: number
  readonly column?: number
  readonly pointer?: string
  readonly purpose?: string
  /** Id of the workflow. */
  readonly workflow?: string
  /** File of the definition, and the line there. */
  readonly file?: string
  readonly fileLine?: number
  /** Expression function that the text is the operation of. */
  readonly function?: string
  /** What is wrong, without place and hint. */
  readonly reason?: string
  /** What would be right. */
  readonly hint?: string
  /** Limit that was exceeded. */
  readonly limit?: string
}

/** An expression does not parse, failed while running, or went over a limit. */
export class ExpressionError extends SonatinaError<CodeOf<'ExpressionError'>> {
  constructor(options: Omit<ErrorOptions<CodeOf<'ExpressionError'>>, 'details'> & { readonly details: ExpressionErrorDetails }) {
    super({ ...options, details: { ...options.details } })
  }
}

/** A function call failed; `onErrors` of a definition can match it. */
export class FunctionError extends SonatinaError<CodeOf<'FunctionError'>> {
  /** Whether trying again may help. */
  readonly retryable: boolean
  /** Milliseconds the callee asked to wait, when it said so. */
  readonly retryAfter: number | undefined
  /** HTTP status of a remote answer. */
  readonly status: number | undefined

  constructor(
    options: ErrorOptions<CodeOf<'FunctionError'>> & {
      readonly retryable?: boolean
      readonly retryAfter?: number
      readonly status?: number
    },
  ) {
    super(options.status === undefined ? options : { ...options, details: { ...options.details, status: options.status } })
    this.retryable = options.retryable ?? false
    this.retryAfter = options.retryAfter
    this.status = options.status
  }
}

/** A CloudEvent is malformed or lacks what its correlation needs. */
export class EventError extends SonatinaError<CodeOf<'EventError'>> {}

/** An instance does not exist, is in conflict, or ended in a way that its caller must see. */
export class InstanceError extends SonatinaError<CodeOf<'InstanceError'>> {}

/** The host of instances cannot do its work: the store is away, locked, full or closed. */
export class HostError extends SonatinaError<CodeOf<'HostError'>> {}

/** A policy document is invalid, or a call was denied by one. */
export class TenancyError extends SonatinaError<CodeOf<'TenancyError'>> {}

/** An HTTP request cannot be answered as asked. */
export class RequestError extends SonatinaError<CodeOf<'RequestError'>> {}
