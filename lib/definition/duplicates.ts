import { DefinitionError, type Violation } from '../errors/index.ts'
import type { LoadedDefinition } from './types.ts'

/**
 * Checks that no two definitions have the same id and version (decisions.md 3); different versions of one id live
 * together.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` naming both files of each pair
 */
export function checkDuplicates(loaded: readonly LoadedDefinition[]): void {
  const first = new Map<string, LoadedDefinition>()
  const violations: Violation[] = []
  for (const candidate of loaded) {
    const { id, version } = candidate.definition
    const key = JSON.stringify([id, version])
    const other = first.get(key)
    if (other === undefined) {
      first.set(key, candidate)
    } else {
      violations.push({
        pointer: '/id',
        message: `Duplicated item found with id ${id}. Please review the .sw files ${other.source.uri} and ${candidate.source.uri}: both have version ${version}`,
        hint: 'give one of them another id or version',
      })
    }
  }
  if (violations.length === 0) return
  throw new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: violations.map(({ message, hint }) => `${message} (${String(hint)})`).join('\n'),
    violations,
  })
}
