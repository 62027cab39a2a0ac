import { DefinitionError } from '../errors/index.ts'
import type { LoadedDefinition } from './types.ts'

/** A definition that cannot be served beside another one. */
export interface Duplicate {
  readonly loaded: LoadedDefinition
  /** `DEFINITION_INVALID`, naming both files. */
  readonly error: DefinitionError
}

/**
 * Of definitions with the same id and version keeps the first; different versions of one id live together (decisions.md 3).
 */
export function withoutDuplicates(loaded: readonly LoadedDefinition[]): { readonly kept: readonly LoadedDefinition[]; readonly duplicates: readonly Duplicate[] } {
  const first = new Map<string, LoadedDefinition>()
  const duplicates: Duplicate[] = []
  for (const candidate of loaded) {
    const { id, version } = candidate.definition
    const key = JSON.stringify([id, version])
    const other = first.get(key)
    if (other === undefined) first.set(key, candidate)
    else duplicates.push({ loaded: candidate, error: duplicateError(other, candidate) })
  }
  return { kept: [...first.values()], duplicates }
}

function duplicateError(other: LoadedDefinition, { source, definition: { id, version } }: LoadedDefinition): DefinitionError {
  const message = `Duplicated item found with id ${id}. Please review the .sw files ${other.source.uri} and ${source.uri}: both have version ${version}`
  const hint = 'give one of them another id or version'
  return new DefinitionError({ code: 'DEFINITION_INVALID', message: `${message} (${hint})`, violations: [{ pointer: '/id', message, hint }] })
}
