import { isJsonObject } from '../common/index.ts'
import { FunctionError, SonatinaError } from '../errors/index.ts'

/**
 * An error inside an instance, as plain data: it is stored, compared and shown, and an Error object would encode to `{}`.
 */
export interface WorkflowError {
  /** Class of the thrown error, or the name a host function gave it. */
  readonly name: string
  /** Stable code of the product, or the `code` of the thrown error. */
  readonly code: string
  readonly message: string
  /** HTTP status of a remote answer. */
  readonly status?: number
  /** Class names from the thrown error up to `Error`: any of them may be named by `errors[].code`. */
  readonly ancestors?: readonly string[]
  readonly retryable?: boolean
  /** Milliseconds that the callee asked to wait. */
  readonly retryAfter?: number
}

const LONGEST_MESSAGE = 8192

/** Makes plain data of anything that was thrown, whatever it is; never throws. */
export function toWorkflowError(thrown: unknown): WorkflowError {
  try {
    return thrown instanceof Error ? fromError(thrown) : fromValue(thrown)
  } catch {
    // A getter or a proxy that throws in its turn.
    return { name: 'Error', code: 'FUNCTION_FAILED', message: 'Something was thrown that cannot be read' }
  }
}

function fromError(thrown: Error): WorkflowError {
  const code: unknown = 'code' in thrown ? thrown.code : undefined
  return {
    name: textOr(thrown.name, 'Error'),
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : 'FUNCTION_FAILED',
    message: cut(textOr(thrown.message, '')),
    ancestors: ancestorsOf(thrown),
    ...remoteFacts(thrown),
  }
}

// Of an object only what an error has is kept: the rest need not be JSON, and the error is stored.
function fromValue(thrown: unknown): WorkflowError {
  if (!isJsonObject(thrown)) return { name: 'Error', code: 'FUNCTION_FAILED', message: cut(describe(thrown)) }
  const { name, code, message, status, ancestors, retryable, retryAfter } = thrown
  return {
    name: textOr(name, 'Error'),
    code: textOr(code, 'FUNCTION_FAILED'),
    message: cut(typeof message === 'string' ? message : describe(thrown)),
    ...(typeof status === 'number' ? { status } : {}),
    ...(Array.isArray(ancestors) ? { ancestors: ancestors.map(String) } : {}),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

function remoteFacts(thrown: Error): Pick<WorkflowError, 'status' | 'retryable' | 'retryAfter'> {
  if (!(thrown instanceof FunctionError)) return {}
  return {
    retryable: thrown.retryable,
    ...(thrown.status === undefined ? {} : { status: thrown.status }),
    ...(thrown.retryAfter === undefined ? {} : { retryAfter: thrown.retryAfter }),
  }
}

function ancestorsOf(error: Error): readonly string[] {
  const names: string[] = []
  let prototype: unknown = Object.getPrototypeOf(error)
  while (prototype instanceof Object && prototype !== Object.prototype) {
    const constructor: unknown = prototype.constructor
    if (typeof constructor === 'function' && constructor.name !== '' && constructor !== SonatinaError) names.push(constructor.name)
    prototype = Object.getPrototypeOf(prototype)
  }
  return names
}

function describe(value: unknown): string {
  try {
    // Undefined and functions have no JSON.
    const text: unknown = JSON.stringify(value)
    return typeof text === 'string' ? text : String(value)
  } catch {
    return 'a value that is not JSON was thrown'
  }
}

function cut(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
}

/** What timed out. */
export type TimeoutKind = 'action' | 'state' | 'branch' | 'event' | 'workflow'

/** The error of a timeout; `errors[].code` names it `timeout` (A14, decisions.md 16). */
export function timeoutError(kind: TimeoutKind, milliseconds: number): WorkflowError {
  return {
    name: 'TimeoutError',
    code: kind === 'action' ? 'FUNCTION_TIMEOUT' : 'STATE_TIMEOUT',
    message: `The ${kind} did not end within ${String(milliseconds)} ms`,
    retryable: true,
  }
}
