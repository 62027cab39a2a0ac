import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import type { BodyModel, PropertyEncoding, Serialisation } from './model.ts'

const COLLECTION_FORMATS = ['csv', 'ssv', 'tsv', 'pipes', 'multi'] as const
const FORM_STYLES = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

/** Media types that can be written, in order of preference. */
const KINDS: readonly (readonly [BodyModel['kind'], RegExp])[] = [
  ['json', /^application\/json$|\+json$|^\*\/\*$|^application\/\*$/],
  ['text', /^text\/(?!xml)/],
  ['form', /^application\/x-www-form-urlencoded$/],
  ['multipart', /^multipart\/form-data$/],
  ['octets', /^application\/octet-stream$/],
]

/**
 * Chooses the media type of a `requestBody`: the first that can be written in the order JSON, text, form, multipart, octets.
 *
 * @throws {@link DefinitionError} `DEFINITION_UNSUPPORTED` when there are only others, XML for one
 */
export function compileBodyModel(requestBody: Json | undefined, where: string): BodyModel | undefined {
  if (!isJsonObject(requestBody)) return undefined
  const required = requestBody['required'] === true
  const content = isJsonObject(requestBody['content']) ? requestBody['content'] : {}
  const mediaTypes = Object.keys(content)
  if (mediaTypes.length === 0) return { kind: 'json', mediaType: 'application/json', required, schema: true, encoding: {} }
  for (const [kind, pattern] of KINDS) {
    const mediaType = mediaTypes.find((candidate) => pattern.test(essence(candidate)))
    if (mediaType === undefined) continue
    const declared = isJsonObject(content[mediaType]) ? content[mediaType] : {}
    return {
      kind,
      mediaType: mediaType.includes('*') ? 'application/json' : mediaType,
      required,
      schema: isJsonObject(declared['schema']) ? declared['schema'] : true,
      encoding: encodings(declared['encoding']),
    }
  }
  throw new DefinitionError({
    code: 'DEFINITION_UNSUPPORTED',
    message: `${where} takes a body only as ${mediaTypes.join(', ')}; give the document one of application/json, text/*, ` +
      'application/x-www-form-urlencoded, multipart/form-data, application/octet-stream',
  })
}

/** Gives the body that the `formData` parameters of Swagger 2.0 make up. */
export function formBodyModel(parameters: readonly JsonObject[], consumes: readonly string[]): BodyModel {
  const hasFile = parameters.some((parameter) => parameter['type'] === 'file')
  const form = consumes.find((mediaType) => /^(multipart\/form-data|application\/x-www-form-urlencoded)$/.test(essence(mediaType)))
  const mediaType = hasFile ? 'multipart/form-data' : form ?? 'application/x-www-form-urlencoded'
  const properties = Object.fromEntries(parameters.map((parameter) => [nameOf(parameter), parameter]))
  return {
    kind: essence(mediaType) === 'multipart/form-data' ? 'multipart' : 'form',
    mediaType,
    // Each required field is checked as a parameter.
    required: false,
    schema: { type: 'object', properties },
    encoding: Object.fromEntries(parameters.map((parameter) => [nameOf(parameter), collectionEncoding(parameter)])),
  }
}

function collectionEncoding(parameter: JsonObject): PropertyEncoding {
  const format = COLLECTION_FORMATS.find((known) => known === parameter['collectionFormat'])
  return { serialisation: { kind: 'collection', format: format ?? 'csv' } }
}

function encodings(declared: Json | undefined): Record<string, PropertyEncoding> {
  if (!isJsonObject(declared)) return {}
  return Object.fromEntries(Object.entries(declared).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])).map(([name, encoding]) => {
    const { contentType } = encoding as { contentType?: Json }
    const serialisation = serialisationOf(encoding)
    return [name, { ...(typeof contentType === 'string' && { contentType }), ...(serialisation !== undefined && { serialisation }) }]
  }))
}

/** `style`, `explode` and `allowReserved` come before `contentType`, as swagger-client has it. */
function serialisationOf({ contentType, style, explode, allowReserved }: JsonObject): Serialisation | undefined {
  if (style !== undefined || explode !== undefined || allowReserved !== undefined) {
    const known = FORM_STYLES.find((candidate) => candidate === style) ?? 'form'
    return { kind: 'style', style: known, explode: typeof explode === 'boolean' ? explode : known === 'form', allowReserved: allowReserved === true }
  }
  return typeof contentType === 'string' ? { kind: 'content', mediaType: contentType } : undefined
}

function nameOf(parameter: JsonObject): string {
  return typeof parameter['name'] === 'string' ? parameter['name'] : ''
}

function essence(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}
