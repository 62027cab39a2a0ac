import type { Fields } from '../case-file.ts'

/** Names of the functions that documents declare, with type and operation. */
export function declaredFunctions(documents: readonly Fields[]): readonly { readonly name: string; readonly type: string; readonly operation: string }[] {
  return documents.flatMap(({ functions }) => (Array.isArray(functions) ? functions as readonly Fields[] : []))
    .map(({ name, type, operation }) => ({ name: String(name), type: String(type ?? 'rest'), operation: String(operation ?? '') }))
}

/** A workflow that a definition continues as. */
export interface ContinuationTarget {
  readonly workflowId: string
  readonly version?: string
}

/** Finds every `continueAs` in a definition. */
export function continuationTargets(document: Fields | undefined): readonly ContinuationTarget[] {
  const found: ContinuationTarget[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { continueAs } = value as Fields
    if (typeof continueAs === 'string') found.push({ workflowId: continueAs })
    if (typeof continueAs === 'object' && continueAs !== null) {
      const { workflowId, version } = continueAs as Fields
      found.push({ workflowId: String(workflowId), ...(typeof version === 'string' ? { version } : {}) })
    }
    Object.values(value).forEach(visit)
  }
  visit(document)
  return found
}

/** Tells the name of the state that a definition starts with, and whether an event starts it. */
export function startState(document: Fields | undefined): { readonly name: string; readonly byEvent: boolean } | undefined {
  const states = Array.isArray(document?.['states']) ? document['states'] as readonly Fields[] : []
  const start = document?.['start']
  const name = typeof start === 'object' && start !== null ? (start as Fields)['stateName'] : start
  const state = states.find((candidate) => candidate['name'] === name) ?? (name === undefined ? states[0] : undefined)
  return state === undefined ? undefined : { name: String(state['name']), byEvent: state['type'] === 'event' }
}
