import { ExpressionError } from '../errors/index.ts'
import type { ExpressionLanguageName, Site } from './evaluator.ts'
import { ProgramFailure } from './language.ts'
import type { SyntaxFault } from './syntax-fault.ts'

/** Where an expression comes from: what the author wrote and which part of it is compiled. */
export interface Source {
  /** The text as written, wrapper included. */
  readonly text: string
  /** Offset of the expression in the text. */
  readonly offset: number
  readonly site: Site
  readonly language: ExpressionLanguageName
  /** What the text is for: `condition`, `filter`, `argument` and so on. */
  readonly purpose: string
  /** Id of the workflow and name of the file, when known. */
  readonly workflow?: string
  readonly file?: string
  /** Name of the expression function whose operation this is, when it came by `fn:`. */
  readonly function?: string
}

/** Turns a fault found while compiling into the error that the author sees. */
export function syntaxError(fault: SyntaxFault, source: Source): ExpressionError {
  const details = position(source, fault.offset)
  return new ExpressionError({
    code: 'EXPRESSION_SYNTAX',
    message: `${fault.message} at line ${details.line}, column ${details.column} of ${quote(source)}; ${fault.hint}`,
    details: { ...details, reason: fault.message, hint: fault.hint },
    cause: fault,
  })
}

/** Turns a failure of a running program into the error that `onErrors` can match; its message is the language's own. */
export function evaluationError(error: unknown, source: Source): unknown {
  if (!(error instanceof ProgramFailure)) return error
  const details = position(source, error.offset ?? 0)
  if (error.kind === 'failed') {
    const message = error.message.length > LONGEST_MESSAGE ? `${error.message.slice(0, LONGEST_MESSAGE)}…` : error.message
    return new ExpressionError({ code: 'EXPRESSION_FAILED', message, details, cause: error.cause })
  }
  const where = [source.workflow, source.site.pointer].filter((part) => part !== undefined && part !== '').join(' ')
  return new ExpressionError({
    code: 'EXPRESSION_LIMIT',
    message: `${error.message}, at line ${details.line}, column ${details.column} of ${quote(source)}${where === '' ? '' : ` (${where})`}`,
    details: { ...details, limit: error.message.split(':')[0] ?? '' },
  })
}

function position(source: Source, offset: number) {
  const at = Math.min(source.text.length, source.offset + offset)
  const before = source.text.slice(0, at).split('\n')
  return {
    language: source.language,
    text: source.text,
    offset: at,
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    pointer: source.site.pointer,
    purpose: source.purpose,
    ...(source.workflow !== undefined && { workflow: source.workflow }),
    ...(source.file !== undefined && { file: source.file }),
    ...(source.site.line !== undefined && { fileLine: source.site.line + before.length - 1 }),
    ...(source.function !== undefined && { function: source.function }),
  }
}

const SHOWN = 80
// A program can raise a text of any length.
const LONGEST_MESSAGE = 2000

function quote(source: Source): string {
  const text = source.text.length > SHOWN ? `${source.text.slice(0, SHOWN)}…` : source.text
  return `${JSON.stringify(text)}${source.function === undefined ? '' : ` (expression function ${source.function})`}`
}

/**
 * Prints an expression error for people: place, the line of the text, and a caret under the fault.
 *
 * Follows expressions.md "Errors".
 */
export function formatExpressionError(error: ExpressionError): string {
  const { text, line = 1, column = 1, pointer, workflow, file, fileLine, reason = error.message, hint, function: name } = error.details as Readonly<Record<string, unknown>> & {
    readonly text: string; readonly line?: number; readonly column?: number; readonly pointer?: string
    readonly workflow?: string; readonly file?: string; readonly fileLine?: number; readonly reason?: string; readonly hint?: string; readonly function?: string
  }
  const place = [workflow, name === undefined ? undefined : `function ${name}`, pointer].filter((part) => part !== undefined && part !== '').join(' · ')
  const origin = file === undefined ? '' : ` (${file}${fileLine === undefined ? '' : `:${fileLine}`})`
  const shown = text.split('\n')[line - 1] ?? ''
  return [
    `${error.code}${place === '' ? '' : ` ${place}`}${origin}`,
    `  ${shown}`,
    `  ${' '.repeat(column - 1)}^ line ${line}, column ${column}: ${reason}${hint === undefined ? '' : `; ${hint}`}`,
  ].join('\n')
}
