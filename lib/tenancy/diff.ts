import { isJsonObject, toPointer } from '../common/index.ts'
import { nameOf } from './documents.ts'

/** How one document differs between two sets. */
export interface DocumentDifference {
  /** `kind namespace/name`. */
  readonly document: string
  readonly change: 'added' | 'removed' | 'changed'
  /** JSON pointers of the differing places, of a changed document. */
  readonly pointers: readonly string[]
}

/** Finds the first place where two JSON values differ, as a JSON pointer; `undefined` when they are equal. */
export function firstDifference(left: unknown, right: unknown): string | undefined {
  return differencesOf(left, right)[0]
}

/**
 * Compares two sets of documents by kind, namespace and name; the order of documents does not matter.
 */
export function diffDocuments(before: readonly unknown[], after: readonly unknown[]): DocumentDifference[] {
  const old = byIdentity(before)
  const current = byIdentity(after)
  const found: DocumentDifference[] = []
  for (const [document, value] of old) {
    if (!current.has(document)) found.push({ document, change: 'removed', pointers: [] })
    const pointers = current.has(document) ? differencesOf(value, current.get(document)) : []
    if (pointers.length > 0) found.push({ document, change: 'changed', pointers })
  }
  for (const document of current.keys()) if (!old.has(document)) found.push({ document, change: 'added', pointers: [] })
  return found
}

/** Names a document by kind, namespace and name: what a cluster takes for the same object. */
export function identityOf(document: unknown, position: string): string {
  if (!isJsonObject(document)) return position
  return `${typeof document['kind'] === 'string' ? document['kind'] : '?'} ${nameOf(document, position)}`
}

function byIdentity(documents: readonly unknown[]): Map<string, unknown> {
  return new Map(documents.map((document, index) => [identityOf(document, `#${String(index + 1)}`), document]))
}

function differencesOf(left: unknown, right: unknown, path: readonly (string | number)[] = []): string[] {
  if (left === right) return []
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.max(left.length, right.length)
    return Array.from({ length }, (_, index) => differencesOf(left[index], right[index], [...path, index])).flat()
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return keys.flatMap((key) => differencesOf(left[key], right[key], [...path, key]))
  }
  return [toPointer(path)]
}
