import { toPointer } from '../common/index.ts'
import type { Definition } from '../definition/index.ts'
import type { WorkflowError } from './workflow-error.ts'

/** Tells whether an error is the one that a name of the definition's `errors` stands for. */
export type ErrorMatcher = (error: WorkflowError) => boolean

// What SonataFlow's definitions write for "any error" (decisions.md 16).
const GENERAL = new Set(['*', 'Error', 'Exception', 'Throwable', 'RuntimeException', 'java.lang.Exception', 'java.lang.RuntimeException', 'java.lang.Throwable'])
const TIMEOUTS = new Set(['timeout', 'TimedOut'])

/** Compiles a regular expression; gives `undefined` for one that is refused, which has been told by then. */
export type PatternCompiler = (pattern: string, pointer: string) => ((text: string) => boolean) | undefined

/**
 * Compiles the errors of a definition into matchers by name (S196, S197, A10, decisions.md 16).
 *
 * An error without a code matches what was thrown under its name; a code is an HTTP status, a class, an error code, `timeout`,
 * `*`, or a regular expression on the message.
 */
export function compileErrors(definition: Definition, compilePattern: PatternCompiler): ReadonlyMap<string, ErrorMatcher> {
  return new Map(definition.errors.map(({ name, code }, index) => {
    const pattern = (text: string): ReturnType<PatternCompiler> => compilePattern(text, toPointer(['errors', index, 'code']))
    return [name, name === '*' ? () => true : matcher(name, code, pattern)]
  }))
}

function matcher(name: string, code: string | undefined, compile: (text: string) => ReturnType<PatternCompiler>): ErrorMatcher {
  const byName: ErrorMatcher = (error) => error.name === name || error.code === name
  if (code === undefined) return byName
  const byCode = codeMatcher(code, compile)
  return (error) => byCode(error) || byName(error)
}

function codeMatcher(code: string, compile: (text: string) => ReturnType<PatternCompiler>): ErrorMatcher {
  if (GENERAL.has(code)) return () => true
  if (TIMEOUTS.has(code)) return ({ code: actual }) => actual === 'FUNCTION_TIMEOUT' || actual === 'STATE_TIMEOUT'
  const last = code.slice(code.lastIndexOf(':') + 1)
  if (/^\d{3}$/.test(last)) return ({ status, code: actual }) => status === Number(last) || actual === last
  const simple = code.slice(Math.max(code.lastIndexOf('.'), code.lastIndexOf('$')) + 1)
  const isMatch = messageMatcher(code, compile)
  return (error) =>
    error.code === code || error.name === code || error.name === simple ||
    (error.ancestors?.includes(simple) ?? false) || error.message === code || (isMatch?.(error.message) ?? false)
}

function messageMatcher(code: string, compile: (text: string) => ReturnType<PatternCompiler>): ReturnType<PatternCompiler> {
  let pattern: RegExp
  try {
    pattern = new RegExp(code)
  } catch {
    // Not a pattern: the other readings of the code remain.
    return undefined
  }
  // Without repetition and choice no engine takes longer than linear time; most codes are plain names, and need no other loaded.
  return /^[\w\s.:-]*$/.test(code) ? (text) => pattern.test(text) : compile(code)
}
