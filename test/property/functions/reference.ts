import SwaggerClient from 'swagger-client'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { FunctionError } from '../../../lib/errors/index.ts'
import { listOperations, toOperationModel } from '../../../lib/functions/openapi/operation.ts'
import type { ResolvedDocument } from '../../../lib/functions/openapi/resolved-document.ts'
import { compileRequestBuilder, type RequestBuilder } from '../../../lib/functions/openapi/request.ts'
import type { OperationModel } from '../../../lib/functions/openapi/model.ts'

/** One call of the first operation of a document. */
export interface Case {
  readonly document: JsonObject
  /** Arguments without the body. */
  readonly args: Readonly<Record<string, Json>>
  readonly body?: { readonly mediaType: string; readonly value: Json }
}

/** What both sides are compared by. */
export interface Comparable {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

const BASE = 'http://service.test/base'

/** Compiles the first operation of a document that has no references. */
function compileFirst(document: JsonObject): { readonly model: OperationModel; readonly builder: RequestBuilder } {
  const source: ResolvedDocument = { name: 'generated.yaml', uri: 'file:///generated.yaml', version: 'swagger' in document ? 2 : 3, document }
  const model = toOperationModel(source, listOperations(document)[0]!)
  return { model, builder: compileRequestBuilder(model) }
}

/** Builds a request with our builder. */
export function buildOurs({ document, args, body }: Case): Comparable {
  const { model, builder } = compileFirst(document)
  // A body is given under the name `body` when it is no object of its own, or could be taken for one.
  const built = builder.build(body === undefined ? args : { ...args, body: body.value })
  const headers: Record<string, string> = Object.fromEntries(Object.entries(built.headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (built.cookies !== '') headers['cookie'] = built.cookies
  return {
    method: model.method,
    target: `/base${built.path}${built.query === '' ? '' : `?${built.query}`}`,
    headers,
    // Parts are compared by test/unit/functions/openapi/body.test.ts: swagger-client makes a FormData, which is no bytes yet.
    body: built.body === undefined ? undefined : built.contentType?.startsWith('multipart/') === true ? 'multipart' : String(built.body),
  }
}

/** Builds the same request with swagger-client. */
export function buildReference({ document, args, body }: Case): Comparable {
  const built = SwaggerClient.buildRequest({
    spec: document,
    // Resolving rewrites ids; swagger-client knows the operation by the new one.
    operationId: String(listOperations(document)[0]!.operation['operationId']),
    parameters: args,
    baseURL: BASE,
    ...(body !== undefined && { requestBody: body.value, requestContentType: body.mediaType }),
  })
  const headers = Object.entries(built.headers)
    .filter(([name]) => !['accept', 'content-type'].includes(name.toLowerCase()))
    .map(([name, value]) => [name.toLowerCase(), String(value)])
  const sent = built.body
  return {
    method: built.method,
    target: built.url.slice('http://service.test'.length),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: sent instanceof FormData ? 'multipart' : sent === undefined || sent === '' ? undefined : typeof sent === 'string' ? sent : JSON.stringify(sent),
  }
}

/** Builds both; `undefined` when a known difference touches the case. */
export function buildBoth(given: Case): { readonly ours: Comparable; readonly reference: Comparable } | undefined {
  let ours: Comparable
  try {
    ours = buildOurs(given)
  } catch (error) {
    if (error instanceof FunctionError && error.code === 'FUNCTION_ARGUMENT_INVALID') return undefined
    throw error
  }
  return isKnownDifference(given) ? undefined : { ours, reference: buildReference(given) }
}

type Row = (parameter: JsonObject, value: Json, modern: boolean) => boolean

const texts = (value: Json): string[] => typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap((item) => texts(item)) : []

/** The rows of reference-differences.test.ts, as predicates. */
const ROWS: readonly Row[] = [
  // A text for an array or object that is no JSON: swagger-client throws.
  (parameter, value, modern) => modern && typeof value === 'string' && ['array', 'object'].includes(String((parameter['schema'] as JsonObject | undefined)?.['type'])),
  // `allowReserved` leaves `#`, `&` and `+` as they are.
  (parameter, value) => parameter['allowReserved'] === true && /[#&+]/.test(JSON.stringify(value)),
  // Items of a list in `content` that read as JSON are parsed.
  (parameter, value) => parameter['content'] !== undefined && Array.isArray(value) && texts(value).length > 0,
  // Cookies: `%` and quotes stay.
  (parameter, value) => parameter['in'] === 'cookie' && /[%"]/.test(JSON.stringify(value).replaceAll('"', '')) ,
  (parameter, value) => parameter['in'] === 'cookie' && (texts(value).some((each) => /[%"\\\u0000-\u001f\u007f]/.test(each)) || parameter['content'] !== undefined || typeof value === 'object'),
  // Names in a path are not encoded; those of the generators need no encoding, but for members.
  (parameter, value, modern) => !modern && parameter['in'] === 'path' && (Array.isArray(value) || texts(value).some((each) => /[%[\]]/.test(each))),
  // Swagger 2.0 drops `0` and `false` where a text is asked; the generators give them where they are asked, but for lists.
  (parameter, value, modern) => !modern && parameter['in'] === 'formData' && value === '',
  (parameter, value, modern) => !modern && (value === 0 || value === false) && parameter['type'] !== (typeof value === 'number' ? 'number' : 'boolean'),
  // Lone surrogates: URIError.
  (_parameter, value, modern) => !modern && texts(value).some((each) => Buffer.from(each).toString() !== each),
]

function isKnownDifference({ document, args, body }: Case): boolean {
  if (body?.value === '') return true
  const modern = !('swagger' in document)
  const operation = listOperations(document)[0]!.operation
  return (operation['parameters'] as JsonObject[] | undefined ?? []).some((parameter) => {
    const value = args[String(parameter['name'])]
    return value !== undefined && ROWS.some((row) => row(parameter, value, modern))
  })
}

