import { getOwn, isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import { isJsonArray } from '../json-array.ts'
import { compileBodyModel, formBodyModel } from './body-model.ts'
import type { OperationModel, ParameterModel, ParameterPlace, SecurityRequirement, Serialisation } from './model.ts'
import type { FoundOperation, ResolvedDocument } from './resolved-document.ts'
import { serverOf } from './server.ts'

const SUCCESSFUL = /^2(?:\d\d|XX)$/i
const PLACES: Readonly<Record<string, ParameterPlace>> = { path: 'path', query: 'query', header: 'header', cookie: 'cookie', formData: 'form' }
const SERIALISED_STYLES = ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

/** `query-param-style`: how lists are written in a query where the document does not say. */
export type QueryStyle = 'MULTI_PAIRS' | 'COMMA_SEPARATED' | 'ARRAY_PAIRS'

/** What decides about the reading of one parameter. */
interface Reading {
  readonly place: ParameterPlace
  readonly version: 2 | 3
  readonly queryStyle: QueryStyle
}

/** Keywords by which a document says how a list is written. */
const STATEMENTS = ['style', 'explode', 'collectionFormat'] as const

/**
 * Gives what a document says about an operation in one shape for Swagger 2.0 and OpenAPI 3.x (openapi-functions.md §2).
 *
 * @throws {@link DefinitionError} `DEFINITION_UNSUPPORTED` when the operation cannot be called: no media type that can be written
 */
export function toOperationModel(source: ResolvedDocument, found: FoundOperation, queryStyle: QueryStyle = 'MULTI_PAIRS'): OperationModel {
  const { version, document } = source
  const warnings: string[] = []
  const parameters = mergeParameters(found)
  const models = parameters.flatMap((parameter) => {
    const place = PLACES[text(parameter['in']) ?? '']
    return place === undefined ? [] : [toParameter(parameter, { place, version, queryStyle })]
  })
  warnAboutNames(models, warnings)
  const method = found.method.toUpperCase()
  const where = `operation ${found.operationId} of ${source.name}`
  let body = version === 2 ? legacyBody(source, found, parameters) : compileBodyModel(found.operation['requestBody'], where)
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    warnings.push(`${where} declares a body for ${method}, which is not sent`)
    body = undefined
  }
  if (found.path.includes('#')) {
    throw new DefinitionError({ code: 'DEFINITION_UNSUPPORTED', message: `${where} has a "#" in its path "${found.path}", which no request can carry` })
  }
  const server = serverOf(source, found)
  const responseSchema = schemaOfAnswer(found.operation, version)
  return {
    operationId: found.operationId,
    document: source.name,
    version,
    method,
    path: found.path,
    parameters: models,
    ...(body !== undefined && { body }),
    responseTypes: responseTypes(found.operation, document, version),
    ...(responseSchema !== undefined && { responseSchema }),
    ...(server !== undefined && { server }),
    security: securityOf(found.operation['security'] ?? document['security']),
    schemes: objects(version === 2 ? document['securityDefinitions'] : object(document['components'])['securitySchemes']),
    warnings,
  }
}

/** Path-level parameters first, then those of the operation, which win on equal name and place. */
function mergeParameters({ operation, pathItem }: FoundOperation): JsonObject[] {
  const merged = new Map<string, JsonObject>()
  for (const list of [pathItem['parameters'], operation['parameters']]) {
    if (!isJsonArray(list)) continue
    for (const parameter of list) {
      if (isJsonObject(parameter)) merged.set(JSON.stringify([parameter['in'], parameter['name']]), parameter)
    }
  }
  return [...merged.values()]
}

function toParameter(parameter: JsonObject, reading: Reading): ParameterModel {
  const { place, version } = reading
  const content = version === 3 && isJsonObject(parameter['content']) ? parameter['content'] : undefined
  const [mediaType] = content === undefined ? [] : Object.keys(content)
  const declared = version === 2 ? parameter : mediaType === undefined ? parameter['schema'] : object(content?.[mediaType])['schema']
  const schema = isJsonObject(declared) ? declared : true
  // In 3.x a default stands in the schema and says what the server assumes: it is not sent, as swagger-client does not.
  const byDefault = parameter['default']
  return {
    name: text(parameter['name']) ?? '',
    in: place,
    required: parameter['required'] === true || place === 'path',
    ...(byDefault !== undefined && { default: byDefault }),
    schema,
    allowEmptyValue: parameter['allowEmptyValue'] === true,
    serialisation: mediaType === undefined ? toSerialisation(parameter, reading) : { kind: 'content', mediaType },
  }
}

function toSerialisation(parameter: JsonObject, { place, version, queryStyle }: Reading): Serialisation {
  const configured = place === 'query' && queryStyle !== 'MULTI_PAIRS' && STATEMENTS.every((keyword) => parameter[keyword] === undefined)
  if (configured) return { kind: 'style', style: 'form', explode: queryStyle === 'ARRAY_PAIRS', allowReserved: false, brackets: queryStyle === 'ARRAY_PAIRS' }
  if (version === 2) {
    const format = (['csv', 'ssv', 'tsv', 'pipes', 'multi'] as const).find((known) => known === parameter['collectionFormat'])
    return { kind: 'collection', format: format ?? 'csv' }
  }
  const byDefault = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const style = SERIALISED_STYLES.find((known) => known === parameter['style']) ?? byDefault
  // A cookie's `form` explodes by the specification; swagger-client, the reference, does not: `c=a;c=b` cannot be told from two cookies.
  const explode = typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form' && place !== 'cookie'
  return { kind: 'style', style, explode, allowReserved: parameter['allowReserved'] === true }
}

function legacyBody({ name, document }: ResolvedDocument, found: FoundOperation, parameters: readonly JsonObject[]): OperationModel['body'] {
  const consumes = found.operation['consumes'] ?? document['consumes']
  const mediaTypes = isJsonArray(consumes) ? consumes.filter((item): item is string => typeof item === 'string') : []
  const where = `operation ${found.operationId} of ${name}`
  const form = parameters.filter((parameter) => parameter['in'] === 'formData')
  if (form.length > 0) return formBodyModel(form, mediaTypes)
  const body = parameters.find((parameter) => parameter['in'] === 'body')
  if (body === undefined) return undefined
  const schema = isJsonObject(body['schema']) ? body['schema'] : {}
  const content = Object.fromEntries((mediaTypes.length === 0 ? ['application/json'] : mediaTypes).map((mediaType) => [mediaType, { schema }]))
  const model = compileBodyModel({ content, required: body['required'] === true }, where)
  return model === undefined ? undefined : { ...model, name: text(body['name']) ?? 'body' }
}

function responseTypes(operation: JsonObject, document: JsonObject, version: 2 | 3): string[] {
  if (version === 2) {
    const produces = operation['produces'] ?? document['produces']
    return isJsonArray(produces) ? produces.filter((item): item is string => typeof item === 'string') : []
  }
  const responses = object(operation['responses'])
  const successful = Object.keys(responses).filter((code) => SUCCESSFUL.test(code))
  return [...new Set(successful.flatMap((code) => Object.keys(object(object(responses[code])['content']))))]
}

function schemaOfAnswer(operation: JsonObject, version: 2 | 3): JsonObject | undefined {
  const responses = object(operation['responses'])
  for (const code of Object.keys(responses)) {
    if (!SUCCESSFUL.test(code)) continue
    const response = object(responses[code])
    const content = object(response['content'])
    const mediaType = Object.keys(content).find((candidate) => candidate.includes('json') || candidate.includes('*'))
    const schema = version === 2 ? response['schema'] : object(mediaType === undefined ? undefined : content[mediaType])['schema']
    if (isJsonObject(schema)) return schema
  }
  return undefined
}

function securityOf(declared: Json | undefined): SecurityRequirement[] {
  if (!isJsonArray(declared)) return []
  return declared.filter(isJsonObject).map((requirement) => Object.fromEntries(
    Object.entries(requirement).map(([scheme, scopes]) => [scheme, isJsonArray(scopes) ? scopes.map(String) : []]),
  ))
}

function warnAboutNames(parameters: readonly ParameterModel[], warnings: string[]): void {
  const places = new Map<string, string[]>()
  for (const parameter of parameters) places.set(parameter.name, [...places.get(parameter.name) ?? [], parameter.in])
  for (const [name, used] of places) {
    if (used.length > 1) {
      warnings.push(`parameter "${name}" exists in ${used.join(' and ')}: one argument fills all; ${used.map((place) => `"${place}.${name}"`).join(' or ')} fills one`)
    }
  }
}

function objects(value: Json | undefined): Record<string, JsonObject> {
  return Object.fromEntries(Object.entries(object(value)).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])))
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** Lists the operations of a resolved document that have an id, in document order. */
export function listOperations(document: JsonObject): FoundOperation[] {
  const found: FoundOperation[] = []
  const paths = object(document['paths'])
  for (const path of Object.keys(paths)) {
    const pathItem = object(getOwn(paths, path) as Json)
    for (const method of METHODS) {
      const operation = pathItem[method]
      if (!isJsonObject(operation)) continue
      // swagger-client renames equal ids and keeps the author's here.
      const operationId = text(operation['__originalOperationId']) ?? text(operation['operationId'])
      if (operationId !== undefined) found.push({ operationId, method, path, operation, pathItem })
    }
  }
  return found
}
