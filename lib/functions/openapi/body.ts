import { createHash } from 'node:crypto'
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'
import { toText } from './encode.ts'
import type { BodyModel, Serialisation } from './model.ts'
import { compilePairs } from './serialise.ts'

/** A body as it is sent, with its media type. */
interface WrittenBody {
  readonly contentType: string
  readonly body: string | Uint8Array
}

/** Writes the value of a body. */
export type BodyWriter = (value: Json) => WrittenBody

/** Compiles how the body of an operation is written, by its media type (openapi-functions.md §2, table "Body"). */
export function compileBodyWriter(model: BodyModel): BodyWriter {
  const contentType = model.mediaType
  switch (model.kind) {
    case 'json':
      return (value) => ({ contentType, body: JSON.stringify(value) })
    case 'text':
      return (value) => ({ contentType, body: typeof value === 'string' ? value : JSON.stringify(value) })
    case 'octets':
      return (value) => ({ contentType, body: toBytes(value) })
    case 'form':
      return compileForm(model)
    case 'multipart':
      return (value) => writeMultipart(model, value)
  }
}

/** One part of a multipart body. */
interface Part {
  readonly name: string
  readonly contentType?: string
  readonly fileName?: string
  readonly content: Uint8Array
}

/** What a property of a form does when the document does not say: a list is repeated. */
const REPEATED: Serialisation = { kind: 'collection', format: 'multi' }

function compileForm(model: BodyModel): BodyWriter {
  const writers = new Map<string, ReturnType<typeof compilePairs>>()
  const writerOf = (name: string): ReturnType<typeof compilePairs> => {
    const known = writers.get(name)
    if (known !== undefined) return known
    const made = compilePairs(name, model.encoding[name]?.serialisation ?? REPEATED)
    // Only names that the document knows are kept: names from data would grow the map without end.
    if (getOwn(propertiesOf(model), name) !== undefined) writers.set(name, made)
    return made
  }
  return (value) => {
    if (!isJsonObject(value)) return { contentType: model.mediaType, body: toText(value) }
    let body = ''
    for (const name of Object.keys(value)) {
      const member = value[name]
      if (member === undefined || member === null) continue
      // A nested object has no form of its own unless `encoding` gives it a style.
      const flat = isJsonObject(member) && model.encoding[name]?.serialisation?.kind !== 'style' ? JSON.stringify(member) : member
      body = writerOf(name)(flat, body)
    }
    return { contentType: model.mediaType, body }
  }
}

function writeMultipart(model: BodyModel, value: Json): WrittenBody {
  const parts = isJsonObject(value) ? Object.keys(value).flatMap((name) => toParts(model, name, value[name] as Json)) : []
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part.name).update(part.content)
  // Derived from the content, so that a repeated call sends the same bytes, and unguessable enough not to occur in them.
  const boundary = `sonatina-${digest.digest('hex').slice(0, 32)}`
  const chunks: Uint8Array[] = parts.flatMap((part) => [Buffer.from(headOf(part, boundary)), part.content, Buffer.from('\r\n')])
  chunks.push(Buffer.from(`--${boundary}--\r\n`))
  return { contentType: `${model.mediaType}; boundary=${boundary}`, body: Buffer.concat(chunks) }
}

function headOf(part: Part, boundary: string): string {
  const name = `name="${escapeName(part.name)}"`
  const file = part.fileName === undefined ? '' : `; filename="${escapeName(part.fileName)}"`
  const type = part.contentType === undefined ? '' : `Content-Type: ${part.contentType}\r\n`
  return `--${boundary}\r\nContent-Disposition: form-data; ${name}${file}\r\n${type}\r\n`
}

function toParts(model: BodyModel, name: string, value: Json): Part[] {
  if (value === null) return []
  const schema = getOwn(propertiesOf(model), name)
  const declared = model.encoding[name]?.contentType
  if (isJsonArray(value)) return value.flatMap((item) => toParts({ ...model, schema: itemSchema(name, schema) }, name, item))
  if (isBinary(schema) && typeof value === 'string') {
    return [{ name, fileName: name, contentType: declared ?? 'application/octet-stream', content: toBytes(value) }]
  }
  const contentType = declared ?? (isJsonObject(value) ? 'application/json' : undefined)
  const text = contentType?.includes('json') === true && typeof value !== 'string' ? JSON.stringify(value) : toText(value)
  return [{ name, content: Buffer.from(text), ...(contentType !== undefined && { contentType }) }]
}

function itemSchema(name: string, schema: unknown): JsonObject | true {
  const items = isJsonObject(schema) ? schema['items'] : undefined
  return isJsonObject(items) ? { properties: { [name]: items } } : true
}

function isBinary(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false
  const { format, type, contentEncoding } = schema as { format?: unknown; type?: unknown; contentEncoding?: unknown }
  return type === 'file' || format === 'binary' || format === 'byte' || contentEncoding === 'base64'
}

function propertiesOf(model: BodyModel): object {
  const properties = model.schema === true ? undefined : model.schema['properties']
  return isJsonObject(properties) ? properties : {}
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Gives the bytes of a value: padded base64 is decoded, any other text goes as UTF-8, other values as JSON text. */
function toBytes(value: Json): Uint8Array {
  if (typeof value !== 'string') return Buffer.from(JSON.stringify(value))
  return Buffer.from(value, BASE64.test(value) ? 'base64' : 'utf8')
}

function escapeName(name: string): string {
  return name.replace(/["\r\n]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
