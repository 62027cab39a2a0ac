import { expect } from 'chai'
import type { Json, JsonObject } from '../../../../lib/common/index.ts'
import { DefinitionError } from '../../../../lib/errors/index.ts'
import { listOperations, toOperationModel, type QueryStyle } from '../../../../lib/functions/openapi/operation.ts'
import { compileRequestBuilder, type BuiltRequest, type RequestBuilderOptions } from '../../../../lib/functions/openapi/request.ts'
import { compileArgumentValidation } from '../../../../lib/functions/openapi/validate.ts'

function documentOf(operation: JsonObject, { method = 'post', path = '/p', version = '3.0.3' } = {}): JsonObject {
  const head: JsonObject = version === '2.0' ? { swagger: '2.0' } : { openapi: version }
  return { ...head, paths: { [path]: { [method]: { operationId: 'op', ...operation } } } }
}

function build(document: JsonObject, args: Json | undefined, options: RequestBuilderOptions = {}, style?: QueryStyle): BuiltRequest {
  const source = { name: 'd.yaml', uri: 'file:///d.yaml', version: 'swagger' in document ? 2 as const : 3 as const, document }
  return compileRequestBuilder(toOperationModel(source, listOperations(document)[0]!, style), options).build(args)
}

const content = (mediaType: string, schema: JsonObject = {}, more: JsonObject = {}): JsonObject => ({ content: { [mediaType]: { schema, ...more } } })
const bodyOf = ({ body }: BuiltRequest): string => Buffer.from(body ?? '').toString()

describe('functions/openapi/request', () => {
  it('takes what no parameter takes as the body', () => {
    const document = documentOf({ parameters: [{ name: 'q', in: 'query', schema: {} }], requestBody: content('application/json') })
    expect(bodyOf(build(document, { q: 1, a: 2, b: { c: 3 } }))).to.equal('{"a":2,"b":{"c":3}}')
    expect(bodyOf(build(document, { body: [1] }))).to.equal('[1]')
    expect(bodyOf(build(document, { body: [1], a: 1 }))).to.equal('{"body":[1],"a":1}')
    expect(bodyOf(build(document, [1, 2]))).to.equal('[1,2]')
    expect(bodyOf(build(document, 'text'))).to.equal('"text"')
    expect(build(document, { q: 1 }).body).to.equal(undefined)
    expect(build(document, undefined).body).to.equal(undefined)
  })

  it('keeps an argument named body a property where the schema has one', () => {
    const document = documentOf({ requestBody: content('application/json', { properties: { body: {} } }) })
    expect(bodyOf(build(document, { body: 1 }))).to.equal('{"body":1}')
  })

  it('unwraps the body parameter of 2.0 by its name', () => {
    const document = documentOf({ parameters: [{ name: 'order', in: 'body', required: true, schema: {} }] }, { version: '2.0' })
    expect(bodyOf(build(document, { order: { a: 1 } }))).to.equal('{"a":1}')
    expect(bodyOf(build(document, { a: 1, b: 2 }))).to.equal('{"a":1,"b":2}')
    expect(() => build(document, {})).to.throw('required body')
  })

  it('sends 2.0 form fields and defaults', () => {
    const document = documentOf({ parameters: [{ name: 'a', in: 'formData', type: 'string' }, { name: 'l', in: 'formData', type: 'array', collectionFormat: 'pipes' }, { name: 'd', in: 'query', type: 'string', default: 'x' }] }, { version: '2.0' })
    const request = build(document, { a: 'b c', l: [1, 2] })
    expect([request.body, request.contentType, request.query]).to.deep.equal(['a=b%20c&l=1|2', 'application/x-www-form-urlencoded', 'd=x'])
    expect(() => build(document, { a: 'b', typo: 1 })).to.throw('"typo"')
  })

  it('writes every media type that it can, the most telling first', () => {
    expect(build(documentOf({ requestBody: { content: { 'text/plain': {}, 'application/vnd.x+json': {} } } }), { a: 1 })).to.include({ contentType: 'application/vnd.x+json', body: '{"a":1}' })
    expect(build(documentOf({ requestBody: content('text/plain') }), 'redrum')).to.include({ contentType: 'text/plain', body: 'redrum' })
    expect(build(documentOf({ requestBody: content('text/csv') }), { a: 1 })).to.include({ contentType: 'text/csv', body: '{"a":1}' })
    expect(bodyOf(build(documentOf({ requestBody: content('application/octet-stream') }), 'aGk='))).to.equal('hi')
    expect(bodyOf(build(documentOf({ requestBody: content('application/octet-stream') }), 'not base64!'))).to.equal('not base64!')
    expect(build(documentOf({ requestBody: content('*/*') }), { a: 1 })).to.include({ contentType: 'application/json' })
    expect(() => build(documentOf({ requestBody: content('application/xml') }), {})).to.throw(DefinitionError, 'application/xml')
  })

  it('writes urlencoded forms by the encoding of the document', () => {
    const encoding = { list: { explode: false }, deep: { style: 'deepObject' }, json: { contentType: 'application/json' } }
    const document = documentOf({ requestBody: content('application/x-www-form-urlencoded', {}, { encoding }) })
    const request = build(document, { plain: "it's", list: ['a', 'b'], other: [1, 2], deep: { x: 1 }, json: { y: 2 }, nested: { z: 3 }, none: null, empty: '' })
    expect(request.body).to.equal("plain=it's&list=a,b&other=1&other=2&deep%5Bx%5D=1&json=%7B%22y%22%3A2%7D&nested=%7B%22z%22%3A3%7D&empty=")
  })

  it('writes multipart parts, equal for equal contents', () => {
    const schema = { properties: { file: { type: 'string', format: 'binary' }, files: { type: 'array', items: { type: 'string', format: 'byte' } } } }
    const document = documentOf({ requestBody: content('multipart/form-data', schema, { encoding: { note: { contentType: 'text/x-note' } } }) })
    const args = { file: 'aGk=', files: ['YQ==', 'Yg=='], note: 'n', meta: { a: 1 }, 'quo"te\r\n': 1 }
    const request = build(document, args)
    const boundary = /boundary=(\S+)$/.exec(request.contentType ?? '')?.[1] ?? ''
    const parts = bodyOf(request).split(`--${boundary}`).slice(1, -1).map((part) => part.trim())
    expect(parts).to.deep.equal([
      'Content-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\nhi',
      'Content-Disposition: form-data; name="files"; filename="files"\r\nContent-Type: application/octet-stream\r\n\r\na',
      'Content-Disposition: form-data; name="files"; filename="files"\r\nContent-Type: application/octet-stream\r\n\r\nb',
      'Content-Disposition: form-data; name="note"\r\nContent-Type: text/x-note\r\n\r\nn',
      'Content-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}',
      'Content-Disposition: form-data; name="quo%22te%0D%0A"\r\n\r\n1',
    ])
    expect(build(document, args)).to.deep.equal(request)
  })

  it('ignores header parameters that OpenAPI reserves, and bodies of GET', () => {
    const parameters = ['Accept', 'content-type', 'Authorization', 'X-Mine'].map((name) => ({ name, in: 'header', schema: {} }))
    expect(build(documentOf({ parameters }), { Accept: 'a', 'content-type': 'b', Authorization: 'c', 'X-Mine': 'd' }).headers).to.deep.equal({ 'X-Mine': 'd' })
    expect(build(documentOf({ requestBody: content('application/json') }, { method: 'get' }), {}).body).to.equal(undefined)
  })

  it('merges path-level parameters, and the operation wins', () => {
    const document: JsonObject = { openapi: '3.0.3', paths: { '/p/{id}': { parameters: [{ name: 'id', in: 'path', required: true, schema: {} }, { name: 'q', in: 'query', schema: {}, explode: false }], get: { operationId: 'op', parameters: [{ name: 'q', in: 'query', schema: {}, style: 'pipeDelimited', explode: false }] } } } }
    expect(build(document, { id: 1, q: ['a', 'b'] })).to.include({ path: '/p/1', query: 'q=a|b' })
  })

  it('writes lists as configured where the document does not say', () => {
    const silent = documentOf({ parameters: [{ name: 'a', in: 'query', schema: { type: 'array' } }] })
    const telling = documentOf({ parameters: [{ name: 'a', in: 'query', schema: { type: 'array' }, explode: true }] })
    expect([undefined, 'COMMA_SEPARATED', 'ARRAY_PAIRS'].map((style) => build(silent, { a: [1, 2] }, {}, style as QueryStyle | undefined).query)).to.deep.equal(['a=1&a=2', 'a=1,2', 'a%5B%5D=1&a%5B%5D=2'])
    expect(build(telling, { a: [1, 2] }, {}, 'COMMA_SEPARATED').query).to.equal('a=1&a=2')
  })

  it('keeps names of objects data: __proto__, constructor', () => {
    const document = documentOf({ parameters: [{ name: 'constructor', in: 'query', schema: {} }], requestBody: content('application/json') })
    expect(build(document, {}).query).to.equal('')
    expect(bodyOf(build(document, JSON.parse('{"__proto__":{"x":1},"a":1}') as Json))).to.equal('{"__proto__":{"x":1},"a":1}')
  })

  it('drops unknown arguments where that is asked, and tells', () => {
    const told: string[] = []
    expect(build(documentOf({}, { method: 'get' }), { a: 1, b: 2 }, { onUnknown: (names) => told.push(...names) }).query).to.equal('')
    expect(told).to.deep.equal(['a', 'b'])
  })

  for (const version of ['2.0', '3.0.3', '3.1.0']) {
    it(`checks parameters and body against the schemas of ${version} when asked`, () => {
      const schema = { type: 'string', enum: ['text', 'mail'] }
      const numbers = { type: 'integer', minimum: 3 }
      const document = version === '2.0'
        ? documentOf({ parameters: [{ name: 'e', in: 'query', ...schema }, { name: 'n', in: 'query', ...numbers }, { name: 'b', in: 'body', schema: { required: ['x'] } }] }, { version })
        : documentOf({ parameters: [{ name: 'e', in: 'query', schema }, { name: 'n', in: 'query', schema: numbers }], requestBody: content('application/json', { required: ['x'] }) }, { version })
      const source = { name: 'd', uri: 'file:///d', version: version === '2.0' ? 2 as const : 3 as const, document }
      const operation = toOperationModel(source, listOperations(document)[0]!)
      const checked = (args: Json): BuiltRequest => compileRequestBuilder(operation, { validate: compileArgumentValidation(operation, document) }).build(args)
      expect(checked({ e: 'text', n: '7', x: 1 }).query).to.equal('e=text&n=7')
      expect(() => checked({ e: 'other', x: 1 })).to.throw('text, mail')
      expect(() => checked({ n: 2, x: 1 })).to.throw('query parameter "n"')
      expect(() => checked({ e: 'text', y: 1 })).to.throw('the body')
    })
  }
})
