import { toPointer, type JsonObject } from '../../common/index.ts'
import { readDuration } from '../duration.ts'
import { durationsOf } from '../durations-of.ts'
import { findSchemaViolations } from '../schema-violations.ts'
import type { Definition, LintWarning } from '../types.ts'

/** Finds what only the tolerant reading lets pass: each would be refused by the specification to the letter. */
export function findTolerances(document: JsonObject, original: JsonObject, definition: Definition): readonly LintWarning[] {
  return [
    ...findFormTolerances(document, original),
    ...durationsOf(document).flatMap(({ pointer, text }): LintWarning[] => {
      const warning = readDuration(text, definition.constants)?.warning
      return warning === undefined ? [] : [{ rule: 'tolerated-duration-form', pointer, message: warning }]
    }),
    ...findNumbersForTexts(original),
    ...findIterationParams(document),
    ...definition.events.flatMap(({ kind, name, source }, index): LintWarning[] => kind === 'produced' || source !== undefined
      ? []
      : [{ rule: 'tolerated-missing-source', pointer: toPointer(['events', index]), message: `consumed event ${name} has no source; it matches by type only` }]),
    ...(definition.specVersion.startsWith('v')
      ? [{ rule: 'tolerated-spec-version', pointer: '/specVersion', message: `write "${definition.specVersion.slice(1)}", without v` }]
      : []),
  ]
}

/** The strict schema is the specification to the letter; its faults that carry a tolerance are the tolerances used. */
function findFormTolerances(document: JsonObject, original: JsonObject): readonly LintWarning[] {
  // Resolved schemas are inline because the loader put them there.
  const { dataOutputSchema: _output, ...written } = document
  const { dataInputSchema } = original
  return findSchemaViolations({ ...written, ...(dataInputSchema === undefined ? {} : { dataInputSchema }) }, 'strict')
    .flatMap(({ pointer, message, hint, tolerance }) => tolerance === undefined
      ? []
      : [{ rule: `tolerated-${tolerance}`, pointer, message: hint === undefined ? message : `${message} (${hint})` }])
}

function findNumbersForTexts(original: JsonObject): readonly LintWarning[] {
  return ['version', 'specVersion'].flatMap((name) => typeof original[name] === 'number'
    ? [{ rule: 'tolerated-number-for-text', pointer: toPointer([name]), message: `${name} is written as a number; quote it` }]
    : [])
}

function findIterationParams(document: JsonObject): readonly LintWarning[] {
  const states = document['states'] as readonly JsonObject[]
  return states.flatMap(({ iterationParam }, index) => typeof iterationParam === 'string' && /[${}.]/.test(iterationParam)
    ? [{
        rule: 'tolerated-iteration-param',
        pointer: toPointer(['states', index, 'iterationParam']),
        message: `${iterationParam} is read as a name: iterationParam is no expression (S086)`,
      }]
    : [])
}
