/** One group of a test file in jq's format: a program that must be refused, or one with its input and outputs. */
export type JqTest = { readonly line: number; readonly program: string } & (
  | { readonly kind: 'refused' }
  | { readonly kind: 'run'; readonly input: string; readonly outputs: readonly string[] }
)

/**
 * Reads a test file of jq: groups of program, input and outputs, separated by blank lines; `#` begins a comment line,
 * `%%FAIL` a program that must not compile (its message follows).
 */
export function readJqTests(text: string): JqTest[] {
  const lines = text.split('\n')
  const tests: JqTest[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (isSkipped(line)) continue
    const refused = line.startsWith('%%FAIL')
    let end = at + 1
    while (end < lines.length && (lines[end] ?? '').trim() !== '') end += 1
    const group = lines.slice(at, end)
    if (refused) tests.push({ kind: 'refused', line: at + 2, program: group[1] ?? '' })
    else tests.push({ kind: 'run', line: at + 1, program: line, input: group[1] ?? 'null', outputs: group.slice(2).filter((output) => !isSkipped(output)) })
    at = end
  }
  return tests
}

function isSkipped(line: string): boolean {
  return line.trim() === '' || line.trimStart().startsWith('#')
}
