import { DefinitionError, type Violation } from '../errors/index.ts'

/**
 * Makes the error for a document with faults; its message names file, line, pointer, fault and cure of each (the
 * first ten).
 *
 * @internal
 */
export function invalid(
  uri: string,
  violations: readonly Violation[],
  { unsupported = false, cause }: { readonly unsupported?: boolean; readonly cause?: unknown } = {},
): DefinitionError {
  const shown = violations.slice(0, 10).map((violation) => `  ${describeViolation(violation)}`)
  const more = violations.length > shown.length ? [`  … and ${String(violations.length - shown.length)} more`] : []
  const count = violations.length === 1 ? 'a fault' : `${String(violations.length)} faults`
  return new DefinitionError({
    code: unsupported ? 'DEFINITION_UNSUPPORTED' : 'DEFINITION_INVALID',
    message: [`${uri} has ${count}:`, ...shown, ...more].join('\n'),
    details: { uri },
    violations,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Words one fault on one line: place, pointer, what is wrong, and what would be right. */
export function describeViolation({ file, line, column, pointer, message, hint }: Violation): string {
  const origin = file === undefined ? '' : `${file} `
  const place = line === undefined ? '' : `line ${String(line)}${column === undefined ? '' : `:${String(column)}`} `
  return `${origin}${place}${pointer === '' ? '' : `${pointer}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
}

/** Orders faults by place: what has none comes first, what stands in another file last. */
export function inDocumentOrder(left: Violation, right: Violation): number {
  const byFile = (left.file ?? '').localeCompare(right.file ?? '')
  return byFile || (left.line ?? 0) - (right.line ?? 0) || (left.column ?? 0) - (right.column ?? 0)
}
