import type { LintWarning, LoadedDefinition } from './types.ts'
import { suggest } from './suggest.ts'
import { actionsOf, exitsOf, statePointer } from './walk.ts'

/** A warning with the file it is about. */
export interface PlacedWarning extends LintWarning {
  readonly uri: string
}

/**
 * Finds sub-flows and `continueAs` targets that are not among the loaded definitions (S017).
 *
 * Warnings, not errors: what is missing may be deployed later.
 */
export function findMissingWorkflows(loaded: readonly LoadedDefinition[]): readonly PlacedWarning[] {
  const ids = loaded.map(({ definition }) => definition.id)
  const known = new Set(loaded.flatMap(({ definition: { id, version } }) => [JSON.stringify([id]), JSON.stringify([id, version])]))
  return loaded.flatMap(({ definition, source }) => referencesOf(definition)
    .filter(({ workflowId, version }) => !known.has(JSON.stringify(version === undefined ? [workflowId] : [workflowId, version])))
    .map(({ pointer, workflowId, version }) => ({
      rule: 'missing-workflow',
      uri: source.uri,
      pointer,
      message: `workflow ${workflowId}${version === undefined ? '' : ` of version ${version}`} is not loaded; ${advise(workflowId)}`,
    })))

  function advise(workflowId: string): string {
    const versions = loaded.flatMap(({ definition: { id, version } }) => id === workflowId ? [version] : [])
    return versions.length === 0 ? suggest(workflowId, ids) : `loaded is version ${versions.join(', ')}`
  }
}

interface WorkflowReference {
  readonly pointer: string
  readonly workflowId: string
  readonly version?: string
}

function referencesOf({ states }: LoadedDefinition['definition']): readonly WorkflowReference[] {
  return states.flatMap((state, index) => {
    const place = statePointer(index)
    return [
      ...actionsOf(state, place).flatMap(({ pointer, action: { subFlowRef } }) => subFlowRef === undefined ? [] : [{ ...subFlowRef, pointer: `${pointer}/subFlowRef` }]),
      ...exitsOf(state, place).flatMap(({ pointer, exit }) => 'continueAs' in exit
        ? [{ ...exit.continueAs, pointer: `${pointer}/continueAs` }]
        : []),
    ]
  })
}
