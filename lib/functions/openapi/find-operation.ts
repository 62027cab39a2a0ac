import { DefinitionError } from '../../errors/index.ts'
import { nameNearest } from '../name-nearest.ts'
import { listOperations } from './operation.ts'
import type { FoundOperation, ResolvedDocument } from './resolved-document.ts'

/**
 * Finds an operation by id: exactly, else when both are equal after camel-casing, as generated clients name them.
 *
 * @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` listing the nearest ids; `DEFINITION_INVALID` when two fit, listing both
 */
export function findOperation(source: ResolvedDocument, operationId: string): FoundOperation {
  const operations = listOperations(source.document)
  const exact = operations.filter((operation) => operation.operationId === operationId)
  const wanted = camelCase(operationId)
  const fitting = exact.length > 0 ? exact : operations.filter((operation) => camelCase(operation.operationId) === wanted)
  const [found, second] = fitting
  if (found === undefined) {
    const ids = operations.map((operation) => operation.operationId)
    throw new DefinitionError({
      code: 'DEFINITION_NOT_FOUND',
      message: `Document "${source.name}" has no operation "${operationId}"; ` +
        (ids.length === 0 ? 'none of its operations has an operationId' : nameNearest(operationId, ids)),
    })
  }
  if (second !== undefined) {
    const list = fitting.map((operation) => `${operation.operationId} (${operation.method.toUpperCase()} ${operation.path})`).join(', ')
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${source.name}": "${operationId}" fits several operations: ${list}` })
  }
  return found
}

/** Ids may hold blanks, dots and commas; generated code joins the words. */
function camelCase(id: string): string {
  const words = id.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  return words.map((word, index) => (index === 0 ? word.charAt(0).toLowerCase() : word.charAt(0).toUpperCase()) + word.slice(1)).join('')
}
