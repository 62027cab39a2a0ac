import type { FileEntry, ParsedFile } from './properties.ts'

const LINE = /^\s*(?:export\s+)?([\w.%"-]+)\s*=\s*(.*)$/

/**
 * Parses the text of a `.env` file: `NAME=value`, an optional `export`, `#` comments, single or double quotes.
 *
 * Lines of another form are skipped with a warning that names the line, not its content, which may be a secret.
 */
export function parseDotenv(text: string): ParsedFile {
  const entries = new Map<string, FileEntry>()
  const warnings: string[] = []
  for (const [index, raw] of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/).entries()) {
    if (/^\s*(#|$)/.test(raw)) continue
    const match = LINE.exec(raw)
    if (match?.[1] === undefined) {
      warnings.push(`line ${index + 1} is not NAME=value and is ignored`)
      continue
    }
    entries.set(match[1], { key: match[1], value: unquote(match[2] ?? ''), line: index + 1 })
  }
  return { entries: [...entries.values()], warnings }
}

function unquote(text: string): string {
  const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/.exec(text)
  if (quoted?.[1] !== undefined) return quoted[1].replace(/\\([\\"nrt])/g, (_, letter: string) => ({ n: '\n', r: '\r', t: '\t' })[letter] ?? letter)
  if (quoted?.[2] !== undefined) return quoted[2]
  return text.replace(/\s+#.*$/, '').trim()
}
