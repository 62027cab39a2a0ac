import type { Json, JsonObject } from '../../common/index.ts'
import { isJsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'
import { encodeAllowingReserved, encodeComponent, encodeUnreserved, toText } from './encode.ts'
import type { ParameterModel, Serialisation } from './model.ts'

/** Text of a value in a place: already percent-encoded where the place wants it. */
export type ValueWriter = (value: Json) => string

/** Appends pairs to a query or form: gives the new text, pairs joined by `&`, nothing for an empty value. */
export type PairWriter = (value: Json, written: string) => string

type Style = Extract<Serialisation, { kind: 'style' }>
type Encode = (text: string) => string

/**
 * Compiles how a path parameter is written (openapi-functions.md §2; OpenAPI 3.1 §4.8.12, Swagger 2.0).
 *
 * Names of object members are encoded too: left alone, a `/` in one would change the path.
 */
export function compilePathWriter(parameter: ParameterModel): ValueWriter {
  const { serialisation } = parameter
  switch (serialisation.kind) {
    case 'content':
      return (value) => encodeUnreserved(toContent(value, serialisation.mediaType))
    case 'collection': {
      const separator = COLLECTION_SEPARATORS[serialisation.format]
      return (value) => isJsonArray(value) ? value.map((item) => encodeComponent(toText(item))).join(separator) : encodeComponent(toText(value))
    }
    case 'style':
      return compileStyle(parameter.name, serialisation, encodeUnreserved)
  }
}

/** Compiles how a header parameter is written: style `simple`, nothing is encoded. */
export function compileHeaderWriter(parameter: ParameterModel): ValueWriter {
  const { serialisation } = parameter
  if (serialisation.kind === 'content') return (value) => toContent(value, serialisation.mediaType)
  if (serialisation.kind === 'collection') return (value) => isJsonArray(value) ? value.map(toText).join(',') : toText(value)
  return compileStyle(parameter.name, { ...serialisation, style: 'simple' }, asItIs)
}

/** Compiles how the value of a cookie parameter is written, before it is encoded as a cookie value. */
export function compileCookieWriter(parameter: ParameterModel): ValueWriter {
  const { name, serialisation } = parameter
  if (serialisation.kind === 'content') return (value) => toContent(value, serialisation.mediaType)
  if (serialisation.kind === 'collection') return toText
  const { explode } = serialisation
  return (value) => {
    if (isJsonArray(value)) return explode ? value.map((item) => `${name}=${toText(item)}`).join('&') : value.map(toText).join(',')
    return isJsonObject(value) ? joinMembers(value, { between: explode ? '&' : ',', inside: explode ? '=' : ',', encode: asItIs }) : toText(value)
  }
}

/**
 * Compiles how a query or form parameter is written, as pairs.
 *
 * An empty array or object writes nothing; an empty text writes `name=` only where the document allows empty values.
 */
export function compilePairWriter(parameter: ParameterModel): PairWriter {
  const { name, serialisation, allowEmptyValue } = parameter
  const write = compilePairs(name, serialisation)
  // The empty text is what swagger-client leaves out; `allowEmptyValue` is the document's way to ask for `name=`.
  const empty = allowEmptyValue ? `${encodeUnreserved(name)}=` : undefined
  return (value, written) => {
    if (value !== '') return write(value, written)
    return empty === undefined ? written : append(written, empty)
  }
}

/** Compiles pairs for a property of a form body, where an empty text is a value like any other. */
export function compilePairs(name: string, serialisation: Serialisation): PairWriter {
  switch (serialisation.kind) {
    case 'content': {
      const key = encodeComponent(name)
      return (value, written) => append(written, `${key}=${encodeComponent(toContent(value, serialisation.mediaType))}`)
    }
    case 'collection':
      return compileCollection(name, serialisation.format)
    case 'style':
      return compileQueryStyle(name, serialisation)
  }
}

/** Gives a value as its media type wants it. For JSON a text that is JSON already goes as it is; for others a text goes as it is. */
function toContent(value: Json, mediaType: string): string {
  if (!mediaType.includes('json')) return toText(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  try {
    JSON.parse(value)
    return value
  } catch {
    return JSON.stringify(value)
  }
}

const COLLECTION_SEPARATORS = { csv: ',', ssv: '%20', tsv: '%09', pipes: '|', multi: ',' } as const
const STYLE_SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '|', deepObject: ',', simple: ',', label: ',', matrix: ',' } as const

function compileCollection(name: string, format: Extract<Serialisation, { kind: 'collection' }>['format']): PairWriter {
  const key = `${encodeComponent(name)}=`
  const separator = COLLECTION_SEPARATORS[format]
  return (value, written) => {
    if (!isJsonArray(value)) return append(written, key + encodeComponent(toText(value)))
    if (value.length === 0) return written
    if (format === 'multi') return value.reduce((text: string, item: Json) => append(text, key + encodeComponent(toText(item))), written)
    return append(written, key + value.map((item) => encodeComponent(toText(item))).join(separator))
  }
}

function compileQueryStyle(name: string, { style, explode, allowReserved, brackets = false }: Style): PairWriter {
  const encode = allowReserved ? encodeAllowingReserved : encodeUnreserved
  const key = `${encode(name)}=`
  const itemKey = brackets ? `${encode(`${name}[]`)}=` : key
  const separator = STYLE_SEPARATORS[style]
  const writeArray = (items: readonly Json[], written: string): string => {
    if (items.length === 0) return written
    if (explode) return items.reduce((text: string, item) => append(text, itemKey + encode(toText(item))), written)
    return append(written, key + items.map((item) => encode(toText(item))).join(separator))
  }
  const writeObject = (object: JsonObject, written: string): string => {
    const keys = Object.keys(object)
    if (keys.length === 0) return written
    if (!explode && style !== 'deepObject') {
      return append(written, key + joinMembers(object, { between: ',', inside: ',', encode }))
    }
    return keys.reduce((text, member) => {
      const memberKey = style === 'deepObject' ? encode(`${name}[${member}]`) : encode(member)
      return append(text, `${memberKey}=${encode(toText(object[member] as Json))}`)
    }, written)
  }
  return (value, written) => {
    if (typeof value !== 'object' || value === null) return append(written, key + encode(toText(value)))
    return isJsonObject(value) ? writeObject(value, written) : writeArray(value, written)
  }
}

/** RFC 6570 expansion for `simple`, `label` and `matrix`. */
function compileStyle(name: string, { style, explode }: Style, encode: Encode): ValueWriter {
  const prefix = encode(name)
  const lead = style === 'label' ? '.' : ''
  const between = style === 'label' ? '.' : ','
  return (value) => {
    if (isJsonArray(value)) {
      const items = value.map((item) => encode(toText(item)))
      if (style !== 'matrix') return lead + items.join(between)
      if (items.length === 0) return ''
      return explode ? items.map((item) => `;${prefix}=${item}`).join('') : `;${prefix}=${items.join(',')}`
    }
    if (isJsonObject(value)) {
      if (style !== 'matrix') return lead + joinMembers(value, { between, inside: explode ? '=' : between, encode })
      if (Object.keys(value).length === 0) return ''
      return explode
        ? `;${joinMembers(value, { between: ';', inside: '=', encode })}`
        : `;${prefix}=${joinMembers(value, { between: ',', inside: ',', encode })}`
    }
    const text = encode(toText(value))
    return style === 'matrix' ? `;${prefix}=${text}` : lead + text
  }
}

function joinMembers(object: JsonObject, { between, inside, encode }: { between: string; inside: string; encode: Encode }): string {
  return Object.keys(object).map((key) => encode(key) + inside + encode(toText(object[key] as Json))).join(between)
}

function append(written: string, pair: string): string {
  return written === '' ? pair : `${written}&${pair}`
}

function asItIs(text: string): string {
  return text
}
