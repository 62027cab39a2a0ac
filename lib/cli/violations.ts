import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Violation } from '../errors/index.ts'

/** Words an error of a definition file: every violation with place, the line itself, a caret, and the cure. */
export function wordViolations(file: string, error: { readonly message: string; readonly violations?: readonly Violation[] }, options: { readonly cwd?: string; readonly text?: string } = {}): string {
  const name = options.cwd === undefined ? file : relative(options.cwd, file) || file
  const violations = error.violations ?? []
  if (violations.length === 0) return `${name}: ${error.message}`
  const lines = (options.text ?? readQuietly(file)).split('\n')
  return violations.map((violation) => wordViolation(name, violation, lines)).join('\n')
}

/** Words one violation with the line it stands in. */
export function wordViolation(name: string, violation: Violation, lines: readonly string[]): string {
  const { line, column, pointer, message, hint } = violation
  const place = [name, line, line === undefined ? undefined : column].filter((part) => part !== undefined).join(':')
  const source = line === undefined ? undefined : lines[line - 1]
  return [
    `${place}: ${message}${pointer === '' ? '' : ` (at ${pointer})`}`,
    ...(source === undefined || column === undefined ? [] : excerpt(source, column)),
    ...(hint === undefined ? [] : [`    hint: ${hint}`]),
  ].join('\n')
}

/** Longest part of a line that is shown. */
const WIDTH = 100

// Definitions may be written on one line: only the surroundings are shown.
function excerpt(source: string, column: number): string[] {
  const text = source.replace(/\r$/, '').replaceAll('\t', ' ')
  const from = column <= WIDTH - 10 ? 0 : column - Math.floor(WIDTH / 2)
  return [`    ${text.slice(from, from + WIDTH)}`, `    ${' '.repeat(Math.max(0, column - 1 - from))}^`]
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file.startsWith('file:') ? new URL(file) : file, 'utf8')
  } catch {
    // An inline document, or a file that went away: the violation is told without its line.
    return ''
  }
}
