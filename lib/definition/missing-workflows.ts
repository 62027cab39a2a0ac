import { createSourceLocator } from './source-places.ts'
import type { LintWarning, LoadedDefinition } from './types.ts'
import { suggest } from './suggest.ts'
import { actionsOf, exitsOf, statePointer } from './walk.ts'

/**
 * Finds sub-flows and `continueAs` targets of a definition that are not among the loaded ones (S017).
 *
 * Warnings, not errors: what is missing may be deployed later.
 */
export function findMissingWorkflows({ definition, source }: LoadedDefinition, loaded: readonly LoadedDefinition[]): readonly LintWarning[] {
  const locate = createSourceLocator(source)
  return referencesOf(definition).flatMap(({ pointer, workflowId, version }) => {
    const versions = loaded.flatMap((other) => other.definition.id === workflowId ? [other.definition.version] : [])
    if (version === undefined ? versions.length > 0 : versions.includes(version)) return []
    const missing = version === undefined ? workflowId : `${workflowId} of version ${version}`
    const advice = versions.length > 0
      ? `loaded is version ${versions.join(', ')}`
      : suggest(workflowId, [...new Set(loaded.map((other) => other.definition.id))])
    const { file, line } = locate(pointer) ?? {}
    return [{ rule: 'missing-workflow', pointer, ...(line === undefined ? {} : { line }), message: `workflow ${missing} is not loaded; ${advice}${file === undefined ? '' : ` [in ${file}]`}` }]
  })
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
