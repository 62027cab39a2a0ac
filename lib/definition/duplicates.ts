import { DefinitionError } from '../errors/index.ts'
import type { LoadFailure } from './catalogue.ts'
import type { LoadedDefinition } from './types.ts'

/**
 * Of definitions with the same id and version keeps the first; different versions of one id live together (decisions.md 3).
 *
 * @returns those to be served, and for each other one a failure `DEFINITION_INVALID` that names both files
 */
export function withoutDuplicates(definitions: readonly LoadedDefinition[]): { readonly loaded: readonly LoadedDefinition[]; readonly failures: readonly LoadFailure[] } {
  const first = new Map<string, LoadedDefinition>()
  const failures: LoadFailure[] = []
  for (const candidate of definitions) {
    const { id, version } = candidate.definition
    const key = JSON.stringify([id, version])
    const other = first.get(key)
    if (other === undefined) first.set(key, candidate)
    else failures.push({ uri: candidate.source.uri, error: duplicateError(other, candidate) })
  }
  return { loaded: [...first.values()], failures }
}

function duplicateError(other: LoadedDefinition, { source, definition: { id, version } }: LoadedDefinition): DefinitionError {
  const message = `Duplicated item found with id ${id}. Please review the .sw files ${other.source.uri} and ${source.uri}: both have version ${version}`
  const hint = 'give one of them another id or version'
  return new DefinitionError({ code: 'DEFINITION_INVALID', message: `${message} (${hint})`, violations: [{ pointer: '/id', message, hint }] })
}
