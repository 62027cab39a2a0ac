import { isJsonObject } from '../common/index.ts'
import { invalid } from './invalid.ts'
import { toDefinition, type NormaliseOptions } from './normalise/to-definition.ts'
import type { Definition } from './types.ts'
import { validate } from './validate.ts'

/**
 * Makes the normalised definition of a document: short forms written out, defaults filled in, timeouts inherited,
 * durations in milliseconds.
 *
 * Pure: reads no file, clock or environment; external references must have been resolved (`loadDefinition` does).
 * Idempotent: a normalised
 * definition normalises to itself.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` with every fault of the document
 *
 * @example
 * const definition = normalise({ id: 'hello', states: [{ name: 'Greet', type: 'inject', data: { hello: 'world' },
 * end: true }] })
 * definition.start.stateName // 'Greet'
 */
export function normalise(document: unknown, options: NormaliseOptions = {}): Definition {
  const violations = validate(document, options)
  if (violations.length > 0 || !isJsonObject(document)) throw invalid('The document', violations)
  return toDefinition(document, options)
}
