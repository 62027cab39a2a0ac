import { fromPointer, setOwn } from '../../../../lib/common/index.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import { CaseFault } from '../case-fault.ts'

/** Applies operations of JSON Patch (RFC 6902: add, remove, replace, move) to a copy of a document. */
export function applyPatch(document: unknown, operations: readonly Fields[]): unknown {
  const result = { root: structuredClone(document) }
  for (const operation of operations) {
    assertKnown(operation, ['op', 'path', 'from', 'value', 'why'], 'an operation of patch')
    const path = String(operation['path'])
    switch (operation['op']) {
      case 'add':
        add(result, path, structuredClone(operation['value']))
        break
      case 'remove':
        remove(result, path)
        break
      case 'replace':
        remove(result, path)
        add(result, path, structuredClone(operation['value']))
        break
      case 'move':
        add(result, path, remove(result, String(operation['from'])))
        break
      default:
        throw new CaseFault(`patch has the operation "${String(operation['op'])}", which this runner does not know`)
    }
  }
  return result.root
}

type Parent = Record<string, unknown> | unknown[]

function locate(holder: { root: unknown }, path: string): { readonly parent: Parent; readonly key: string } {
  const tokens = ['root', ...fromPointer(path)]
  let parent: unknown = holder
  for (const token of tokens.slice(0, -1)) parent = typeof parent === 'object' && parent !== null ? (parent as Fields)[token] : undefined
  if (typeof parent !== 'object' || parent === null) throw new CaseFault(`patch: nothing is at the parent of ${path}`)
  return { parent: parent as Parent, key: tokens.at(-1) ?? '' }
}

function add(holder: { root: unknown }, path: string, value: unknown): void {
  const { parent, key } = locate(holder, path)
  if (!Array.isArray(parent)) {
    setOwn(parent, key, value)
    return
  }
  const index = key === '-' ? parent.length : Number(key)
  if (!Number.isInteger(index) || index < 0 || index > parent.length) throw new CaseFault(`patch: ${path} is no place in the list`)
  parent.splice(index, 0, value)
}

function remove(holder: { root: unknown }, path: string): unknown {
  const { parent, key } = locate(holder, path)
  if (!Object.hasOwn(parent, key)) throw new CaseFault(`patch: nothing is at ${path}`)
  if (Array.isArray(parent)) return parent.splice(Number(key), 1)[0]
  const value = parent[key]
  Reflect.deleteProperty(parent, key)
  return value
}
