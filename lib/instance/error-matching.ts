import type { Definition } from '../definition/index.ts'
import type { WorkflowError } from './workflow-error.ts'

/** Tells whether an error is the one that a name of the definition's `errors` stands for. */
export type ErrorMatcher = (error: WorkflowError) => boolean

// What SonataFlow's definitions write for "any error" (decisions.md 16).
const GENERAL = new Set(['*', 'Error', 'Exception', 'Throwable', 'RuntimeException', 'java.lang.Exception', 'java.lang.RuntimeException', 'java.lang.Throwable'])
const TIMEOUTS = new Set(['timeout', 'TimedOut'])

/**
 * Compiles the errors of a definition into matchers by name (S196, S197, A10, decisions.md 16).
 *
 * An error without a code matches what was thrown under its name; a code is an HTTP status, a class, an error code, `timeout`,
 * `*`, or a regular expression on the message.
 */
export function compileErrors(definition: Definition): ReadonlyMap<string, ErrorMatcher> {
  return new Map(definition.errors.map(({ name, code }) => [name, name === '*' ? () => true : matcher(name, code)]))
}

function matcher(name: string, code: string | undefined): ErrorMatcher {
  const byName: ErrorMatcher = (error) => error.name === name || error.code === name
  if (code === undefined) return byName
  const byCode = codeMatcher(code)
  return (error) => byCode(error) || byName(error)
}

function codeMatcher(code: string): ErrorMatcher {
  if (GENERAL.has(code)) return () => true
  if (TIMEOUTS.has(code)) return ({ code: actual }) => actual === 'FUNCTION_TIMEOUT' || actual === 'STATE_TIMEOUT'
  const last = code.slice(code.lastIndexOf(':') + 1)
  if (/^\d{3}$/.test(last)) return ({ status, code: actual }) => status === Number(last) || actual === last
  const simple = code.slice(Math.max(code.lastIndexOf('.'), code.lastIndexOf('$')) + 1)
  const pattern = messagePattern(code)
  return (error) =>
    error.code === code || error.name === code || error.name === simple ||
    (error.ancestors?.includes(simple) ?? false) || error.message === code || (pattern?.test(error.message) ?? false)
}

function messagePattern(code: string): RegExp | undefined {
  try {
    return new RegExp(code)
  } catch {
    // Not a pattern: the other readings of the code remain.
    return undefined
  }
}
