import { isJsonObject, type JsonObject } from '../common/index.ts'
import { findTolerances } from './lint/tolerances.ts'
import { findWithoutEffect } from './lint/without-effect.ts'
import { findDoubtful } from './lint/doubtful.ts'
import { toDefinition, type NormaliseOptions } from './normalise/to-definition.ts'
import { withStateName } from './schema-violations.ts'
import type { LintWarning } from './types.ts'

/** What `lint` has to know besides the document. */
export interface LintOptions extends NormaliseOptions {
  /** Namespaces of `custom` operations that the host has registered; others are warned about when this is given. */
  readonly functionTypes?: readonly string[]
  /** The document as written, where it differs: references unresolved, numbers as numbers. */
  readonly original?: unknown
}

/**
 * Finds what a valid document is only tolerated for, what in it has no effect, and what is probably a mistake.
 *
 * Pure. The names of tolerances begin with `tolerated-`; docs/definitions.md lists all rules.
 */
export function lint(document: JsonObject, options: LintOptions = {}): readonly LintWarning[] {
  const definition = toDefinition(document, options)
  const original = isJsonObject(options.original) ? options.original : document
  const warnings = [
    ...findTolerances(document, original, definition),
    ...findWithoutEffect(document, definition),
    ...findDoubtful(document, definition, options.functionTypes),
  ]
  return warnings.map((warning) => ({ ...warning, message: withStateName(warning.message, warning.pointer, document) }))
}
