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

/** Makes plain data of anything that was thrown. */
export function toWorkflowError(thrown: unknown): WorkflowError {
  if (isWorkflowError(thrown)) return thrown
  if (!(thrown instanceof Error)) {
    const message = typeof thrown === 'string' ? thrown : describe(thrown)
    const name = isJsonObject(thrown) && typeof thrown['name'] === 'string' ? thrown['name'] : 'Error'
    const code = isJsonObject(thrown) && typeof thrown['code'] === 'string' ? thrown['code'] : 'FUNCTION_FAILED'
    return { name, code, message: cut(message) }
  }
  const code: unknown = 'code' in thrown ? thrown.code : undefined
  return {
    name: thrown.name,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : 'FUNCTION_FAILED',
    message: cut(thrown.message),
    ancestors: ancestorsOf(thrown),
    ...remoteFacts(thrown),
  }
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

function isWorkflowError(value: unknown): value is WorkflowError {
  return isJsonObject(value) && !(value instanceof Error) &&
    typeof value['name'] === 'string' && typeof value['code'] === 'string' && typeof value['message'] === 'string'
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
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
