import { fromPointer, type Json } from '../../../../lib/common/index.ts'

/** An operation of RFC 6902 as the cases use it. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: Json
}

type Container = Json[] | Record<string, Json>

/** Applies patch operations to a copy. */
export function applyPatch(document: Json, operations: readonly PatchOperation[]): Json {
  const result = structuredClone(document)
  for (const { op, path, value } of operations) {
    const tokens = fromPointer(path)
    const last = tokens.pop() ?? ''
    const parent = tokens.reduce<Json>((place, token) => (place as Record<string, Json>)[token] ?? null, result) as Container
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : Number(last)
      parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value ?? null]))
    } else if (op === 'remove') {
      Reflect.deleteProperty(parent, last)
    } else {
      parent[last] = value ?? null
    }
  }
  return result
}
