import { isJsonObject } from '../common/index.ts'
import type { Violation } from '../errors/index.ts'
import { compileDataSchema } from './data-schema.ts'
import { toDefinition, type NormaliseOptions } from './normalise/to-definition.ts'
import { findSchemaViolations, withStateName, type SchemaFinding } from './schema-violations.ts'
import { checkSemantics } from './semantics/check.ts'
import type { SemanticFinding } from './semantics/scope.ts'
import type { Definition } from './types.ts'

/** Most faults that are told: an endless list helps nobody. */
const MAX_VIOLATIONS = 100

/**
 * Finds everything that is wrong with a document: its form (our schema of 0.8), then its meaning (S017).
 *
 * Pure, and never throws. External references must have been resolved: a text in the place of a list is taken as not
 * there.
 *
 * @returns the faults with JSON pointers, without lines; none when the document can be run
 */
export function validate(document: unknown, options: NormaliseOptions = {}): readonly Violation[] {
  return findFaults(document, options).findings.map(({ pointer, message, hint }) => ({ pointer, message, ...(hint === undefined ? {} : { hint }) }))
}

/** What was found in a document. */
interface Faults {
  readonly findings: readonly SemanticFinding[]
  /** Whether the document can be written out as a definition, its faults notwithstanding. */
  readonly isReadable: boolean
}

/**
 * Finds the same with the marks that tell an unsupported feature from a fault.
 *
 * @internal
 */
export function findFaults(document: unknown, options: NormaliseOptions): Faults {
  if (!isJsonObject(document)) {
    return { findings: [{ pointer: '', message: 'the document is not an object', hint: 'a definition is an object with id and states' }], isReadable: false }
  }
  const form = findSchemaViolations(document, 'tolerant')
  if (form.some(breaksReading)) return { findings: form.slice(0, MAX_VIOLATIONS).map(toPlain), isReadable: false }
  const definition = toDefinition(document, options)
  const meaning = [...checkSemantics(definition, document), ...checkDataSchemas(definition)]
    .map((finding) => ({ ...finding, message: withStateName(finding.message, finding.pointer, document) }))
    // What is malformed is not told a second time for what it then fails to mean.
    .filter(({ pointer }) => !form.some((fault) => pointer === fault.pointer))
  return { findings: [...form.map(toPlain), ...meaning].slice(0, MAX_VIOLATIONS), isReadable: true }
}

/** After these the parts of the document cannot be told from each other. */
function breaksReading({ keyword, pointer }: SchemaFinding): boolean {
  return keyword === 'type' || (keyword === 'enum' && /^\/states\/\d+\/type$/.test(pointer)) || (keyword === 'required' && /^$|^\/states\/\d+$/.test(pointer))
}

function toPlain({ pointer, message, hint }: SchemaFinding): Violation {
  return { pointer, message, ...(hint === undefined ? {} : { hint }) }
}

function checkDataSchemas({ dataInputSchema, dataOutputSchema }: Definition): readonly Violation[] {
  return ([['/dataInputSchema', dataInputSchema], ['/dataOutputSchema', dataOutputSchema]] as const).flatMap(([pointer, schema]) => {
    if (schema === undefined) return []
    try {
      compileDataSchema(schema)
      return []
    } catch (error) {
      return [{ pointer, message: error instanceof Error ? error.message : String(error), hint: 'correct the schema' }]
    }
  })
}
