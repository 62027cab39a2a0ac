/** One `key=value` of a settings file. */
export interface FileEntry {
  readonly key: string
  readonly value: string
  /** Line where the entry begins, from 1. */
  readonly line: number
}

/** What a settings file holds. */
export interface ParsedFile {
  /** One entry a key, the last one written. */
  readonly entries: readonly FileEntry[]
  readonly warnings: readonly string[]
}

interface LogicalLine {
  readonly text: string
  readonly line: number
}

/**
 * Parses the text of a `.properties` file (java.util.Properties, read as UTF-8).
 *
 * `=`, `:` or blanks separate, `#` and `!` begin comments, `\` continues a line, `\uXXXX` and the letter escapes are
 * resolved. Of equal keys the last wins, with a warning. `\$` and `\,` keep their backslash: they belong to the value
 * syntax of settings (configuration.md §1).
 */
export function parseProperties(text: string): ParsedFile {
  const entries = new Map<string, FileEntry>()
  const warnings: string[] = []
  for (const { text: content, line } of logicalLines(text)) {
    const { key, value } = splitEntry(content)
    const earlier = entries.get(key)
    if (earlier) warnings.push(`"${key}" is set twice, in lines ${earlier.line} and ${line}; the last one counts`)
    entries.delete(key)
    entries.set(key, { key, value, line })
  }
  return { entries: [...entries.values()], warnings }
}

function* logicalLines(text: string): Generator<LogicalLine> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1
    let content = (lines[index] ?? '').trimStart()
    if (content === '' || content.startsWith('#') || content.startsWith('!')) continue
    while (endsInContinuation(content)) {
      content = content.slice(0, -1)
      if (index + 1 >= lines.length) break
      index++
      content += (lines[index] ?? '').trimStart()
    }
    if (content !== '') yield { text: content, line }
  }
}

function endsInContinuation(text: string): boolean {
  const backslashes = /\\*$/.exec(text)?.[0].length ?? 0
  return backslashes % 2 === 1
}

function splitEntry(line: string): { key: string; value: string } {
  let end = 0
  while (end < line.length && !/[=: \t\f]/.test(line[end] ?? '')) end += line[end] === '\\' ? 2 : 1
  let start = end
  while (/[ \t\f]/.test(line[start] ?? '')) start++
  if (line[start] === '=' || line[start] === ':') start++
  return { key: unescape(line.slice(0, end)), value: unescape(line.slice(start)).trim() }
}

const LETTERS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (whole, code: string | undefined, letter: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    if (letter === '$' || letter === ',') return whole
    return letter === undefined ? whole : (LETTERS[letter] ?? letter)
  })
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\f': '\\f' }

/** Writes one line that {@link parseProperties} reads as this key and value. */
export function escapeProperty(key: string, value: string): string {
  const escapedKey = escapeBackslashes(key).replace(/[=: \t\n\r\f]|^[#!]/g, (letter) => ESCAPES[letter] ?? `\\${letter}`)
  const escapedValue = escapeBackslashes(value).replace(/[\t\n\r\f]/g, (letter) => ESCAPES[letter] ?? letter)
  return `${escapedKey}=${escapedValue}`
}

// Those of `\$` and `\,` belong to the value and are not doubled.
function escapeBackslashes(text: string): string {
  return text.replace(/\\(?![$,])/g, '\\\\')
}
