import { readFileSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Violation } from '../errors/index.ts'

/** What a definition file is worded with. */
interface WordingOptions {
  /** Files below it are named relative to it. */
  readonly cwd?: string
  /** Text of the file. @default read from it */
  readonly text?: string
}

/** Words an error of a definition file: every violation with place, the line itself, a caret, and the cure. */
export function wordViolations(file: string, error: { readonly message: string; readonly violations?: readonly Violation[] }, { cwd, text }: WordingOptions = {}): string {
  const violations = error.violations ?? []
  if (violations.length === 0) return `${nameFile(file, cwd)}: ${error.message}`
  const texts = new Map<string, readonly string[]>()
  const linesOf = (name: string): readonly string[] => {
    const lines = texts.get(name) ?? (name === file && text !== undefined ? text : readQuietly(name)).split('\n')
    texts.set(name, lines)
    return lines
  }
  return violations.map((violation) => wordViolation(nameFile(violation.file ?? file, cwd), violation, linesOf(violation.file ?? file))).join('\n')
}

/** Names a file relative to a directory when it is below it, by its full path otherwise: `../../x` is hard to read. */
export function nameFile(file: string, cwd: string | undefined): string {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file
  if (cwd === undefined || !isAbsolute(path)) return path
  const name = relative(cwd, path)
  return name === '' || name.startsWith('..') ? path : name
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
