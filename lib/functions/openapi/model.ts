import type { Json, JsonObject } from '../../common/index.ts'

/** Where a parameter goes; `form` is `formData` of Swagger 2.0. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie' | 'form'

/** A parameter of an operation, the same for Swagger 2.0 and OpenAPI 3.x. */
export interface ParameterModel {
  readonly name: string
  readonly in: ParameterPlace
  readonly required: boolean
  /** Sent when the argument is not given. */
  readonly default?: Json
  /** Schema of the value, references resolved; `true` when the document states none. */
  readonly schema: JsonObject | true
  readonly allowEmptyValue: boolean
  readonly serialisation: Serialisation
}

/** How a value becomes text. */
export type Serialisation =
  /** OpenAPI 3.x `style`. */
  | {
    readonly kind: 'style'
    readonly style: 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'
    readonly explode: boolean
    readonly allowReserved: boolean
    /** Whether items of a list are named `name[]` (`query-param-style=ARRAY_PAIRS`). */
    readonly brackets?: boolean
  }
  /** OpenAPI 3.x `content` with one media type. */
  | { readonly kind: 'content'; readonly mediaType: string }
  /** Swagger 2.0 `collectionFormat`. */
  | { readonly kind: 'collection'; readonly format: 'csv' | 'ssv' | 'tsv' | 'pipes' | 'multi' }

/** How one property of a form is written: `encoding` of OpenAPI 3.x, `collectionFormat` of Swagger 2.0. */
export interface PropertyEncoding {
  readonly contentType?: string
  /** Absent: a list is repeated, an object is JSON text. */
  readonly serialisation?: Serialisation
}

/** The body of an operation, with the media type that is sent. */
export interface BodyModel {
  readonly kind: 'json' | 'text' | 'form' | 'multipart' | 'octets'
  readonly mediaType: string
  readonly required: boolean
  readonly schema: JsonObject | true
  /** Name under which the whole body may be given: that of the 2.0 body parameter. */
  readonly name?: string
  readonly encoding: Readonly<Record<string, PropertyEncoding>>
}

/** One security requirement: every scheme named in it must be satisfied; scheme name to scopes. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** What a document says about one operation: all that building its requests needs. */
export interface OperationModel {
  /** As written in the document. */
  readonly operationId: string
  /** How the document is called in messages: as the definition writes it. */
  readonly document: string
  readonly version: 2 | 3
  /** Upper case. */
  readonly method: string
  /** Template with `{name}`. */
  readonly path: string
  readonly parameters: readonly ParameterModel[]
  readonly body?: BodyModel
  /** Media types of the 2xx answers, in document order. */
  readonly responseTypes: readonly string[]
  /** Schema of the first 2xx answer that is JSON. */
  readonly responseSchema?: JsonObject
  /** First `servers` entry, variables replaced; may be relative; absent when the document names none. */
  readonly server?: string
  /** Alternatives, one of which must be complete; empty: none is needed. */
  readonly security: readonly SecurityRequirement[]
  /** Security schemes of the document by name, as written. */
  readonly schemes: Readonly<Record<string, JsonObject>>
  /** Things in the document that were tolerated. */
  readonly warnings: readonly string[]
}
