import type { JsonObject } from '../../common/index.ts'

/** A document with its references resolved. */
export interface ResolvedDocument {
  /** As the definition writes it; for messages. */
  readonly name: string
  /** Absolute address it was read from. */
  readonly uri: string
  readonly version: 2 | 3
  readonly document: JsonObject
}

/** An operation as it was found in a document: everything is resolved. */
export interface FoundOperation {
  readonly operationId: string
  /** As the path item's key: lower case. */
  readonly method: string
  readonly path: string
  readonly operation: JsonObject
  readonly pathItem: JsonObject
}
