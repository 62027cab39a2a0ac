import { expect } from 'chai'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { listOperations, toOperationModel } from '../../../lib/functions/openapi/operation.ts'
import { compileRequestBuilder } from '../../../lib/functions/openapi/request.ts'
import { buildBoth, type Case } from './reference.ts'

// The licence of the request builder (openapi-functions.md §6): what it builds equals what swagger-client builds, but for the rows of
// test/unit/functions/openapi/reference-differences.test.ts, which the generators below keep away from.

// Together more than 10,000 requests are compared; some generated cases fall under a known difference.
const RUNS = { modern: 8500, legacy: 6000 }

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('x y', 'z,&', 'a/b', '?x=1#y', 'a;b=c', "it's (1)!*", '100%', '%41', 'é', '日本', '😀', 'a+b', '[x]', '{"a":', 'null', '0', 'true'),
)
const latinText = fc.oneof(fc.stringMatching(/^[ -~]{0,12}$/), fc.constantFrom('é', 'a,b', 'x=y'))
const name = fc.stringMatching(/^[a-z][A-Za-z0-9_-]{0,6}$/)
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))

/** A parameter of a document with a value for it that the differences do not touch. */
interface Given {
  readonly parameter: JsonObject
  readonly value: Json
}

type Shape = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'any'

function valueOf(shape: Shape, strings: fc.Arbitrary<string>): fc.Arbitrary<Json> {
  const scalar = fc.oneof(strings, number, fc.boolean())
  const nested = fc.dictionary(name, fc.oneof(scalar, fc.array(number, { maxLength: 2 }), fc.dictionary(name, number, { maxKeys: 2 })), { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  switch (shape) {
    case 'string': return strings
    case 'number': return number
    case 'boolean': return fc.boolean()
    case 'array': return fc.array(fc.oneof(scalar, fc.constant(null)), { minLength: 1, maxLength: 4 })
    case 'object': return nested
    case 'any': return fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }), nested as fc.Arbitrary<Json>)
  }
}

const shapes: readonly Shape[] = ['string', 'number', 'boolean', 'array', 'object', 'any']
const schemaOf = (shape: Shape): JsonObject => shape === 'any' ? {} : { type: shape }
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const defined = (object: Record<string, unknown>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as JsonObject

function modernParameter(place: 'path' | 'query' | 'header' | 'cookie'): fc.Arbitrary<Given> {
  const styles = { path: ['simple', 'label', 'matrix'], query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'], header: ['simple'], cookie: ['form'] }[place]
  const strings = place === 'header' ? latinText : text
  return fc.constantFrom(...shapes).chain((shape) => fc.record({
    name,
    style: optional(fc.constantFrom(...styles)),
    explode: optional(fc.boolean()),
    allowReserved: place === 'query' ? optional(fc.boolean()) : fc.constant(undefined),
    allowEmptyValue: place === 'query' ? optional(fc.boolean()) : fc.constant(undefined),
    byContent: fc.boolean(),
    value: valueOf(shape, strings),
  }).map(({ name: called, byContent, value, ...rest }) => ({
    parameter: defined({
      name: called,
      in: place,
      required: place === 'path',
      ...(byContent && typeof value !== 'string' ? { content: { 'application/json': { schema: schemaOf(shape) } } } : { ...rest, schema: schemaOf(shape) }),
    }),
    value,
  })))
}

function legacyParameter(place: 'path' | 'query' | 'header' | 'formData'): fc.Arbitrary<Given> {
  const strings = place === 'header' ? latinText : text
  return fc.constantFrom<Shape>('string', 'number', 'boolean', 'array').chain((shape) => fc.record({
    name,
    collectionFormat: shape === 'array' && place !== 'header' && place !== 'path' ? optional(fc.constantFrom('csv', 'ssv', 'tsv', 'pipes', 'multi')) : fc.constant(undefined),
    allowEmptyValue: place === 'query' ? optional(fc.boolean()) : fc.constant(undefined),
    value: shape === 'array' ? fc.array(fc.oneof(strings, number, fc.boolean()), { minLength: 1, maxLength: 4 }) as fc.Arbitrary<Json> : valueOf(shape, strings),
  }).map(({ name: called, value, ...rest }) => ({ parameter: defined({ name: called, in: place, type: shape, required: place === 'path', ...rest }), value })))
}

const modernCase: fc.Arbitrary<Case> = fc.record({
  version: fc.constantFrom('3.0.3', '3.1.0'),
  given: fc.array(fc.oneof(modernParameter('path'), modernParameter('query'), modernParameter('query'), modernParameter('header'), modernParameter('cookie')), { maxLength: 5 }),
  body: optional(fc.oneof(fc.record({ mediaType: fc.constant('application/json'), value: valueOf('object', text) }), fc.record({ mediaType: fc.constant('text/plain'), value: text }))),
}).map(({ version, given, body }) => toCase(given, (parameters, path) => ({
  openapi: version,
  info: { title: 't', version: '1' },
  paths: { [path]: { post: defined({ operationId: 'op', parameters, requestBody: body === undefined ? undefined : { content: { [body.mediaType]: { schema: {} } } }, responses: {} }) } },
}), body))

const legacyCase: fc.Arbitrary<Case> = fc.record({
  given: fc.array(fc.oneof(legacyParameter('path'), legacyParameter('query'), legacyParameter('query'), legacyParameter('header'), legacyParameter('formData')), { maxLength: 5 }),
}).map(({ given }) => toCase(given, (parameters, path) => ({
  swagger: '2.0',
  info: { title: 't', version: '1' },
  paths: { [path]: { post: { operationId: 'op', parameters, responses: {} } } },
}), undefined))

function toCase(given: readonly Given[], document: (parameters: JsonObject[], path: string) => unknown, body: Case['body']): Case {
  // One name once: members of exploded objects become names of their own.
  const taken = new Set<string>()
  const kept = given.filter(({ parameter, value }) => {
    const names = [String(parameter['name']), ...(typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [])]
    if (names.some((each) => taken.has(each))) return false
    names.forEach((each) => taken.add(each))
    return true
  })
  // swagger-client keeps the last cookie only.
  const cookies = kept.filter(({ parameter }) => parameter['in'] === 'cookie').slice(1)
  const parameters = kept.filter((each) => !cookies.includes(each))
  const path = parameters.filter(({ parameter }) => parameter['in'] === 'path').map(({ parameter }) => `/p/{${String(parameter['name'])}}`).join('')
  return {
    document: document(parameters.map(({ parameter }) => parameter), path === '' ? '/plain' : path) as JsonObject,
    args: Object.fromEntries(parameters.map(({ parameter, value }) => [String(parameter['name']), value])),
    ...(body !== undefined && { body }),
  }
}

describe('the request builder and swagger-client', function () {
  this.timeout(120_000)

  for (const [version, cases, numRuns] of [['3.x', modernCase, RUNS.modern], ['2.0', legacyCase, RUNS.legacy]] as const) {
    it(`build the same requests for ${String(numRuns)} generated documents of ${version}`, () => {
      let compared = 0
      fc.assert(fc.property(cases, (generated) => {
        const both = buildBoth(generated)
        if (both === undefined) return
        compared += 1
        expect(both.ours).to.deep.equal(both.reference)
      }), { numRuns })
      expect(compared, 'cases that no known difference touches').to.be.greaterThan(numRuns * 0.55)
    })
  }

  it('never let a value become another path or header', () => {
    const model = toOperationModel({ name: 'd', uri: 'file:///d', version: 3, document: SAFE }, listOperations(SAFE)[0]!)
    const builder = compileRequestBuilder(model)
    fc.assert(fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (value) => {
      let built
      try {
        built = builder.build({ id: value, h: value, c: value })
      } catch (error) {
        expect(error).to.have.property('code', 'FUNCTION_ARGUMENT_INVALID')
        return
      }
      expect(built.path).to.match(/^\/a\/[A-Za-z0-9\-._~%]+\/b$/)
      expect(new URL(`http://h${built.path}`).pathname).to.equal(built.path)
      expect(built.headers['h']).to.match(/^[\t\x20-\x7e\x80-\xff]*$/)
      expect(built.cookies).to.match(/^c=[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/)
      expect(decodeURIComponent(built.cookies.slice(2))).to.equal(Buffer.from(value).toString())
    }), { numRuns: 3000 })
  })
})

const SAFE = {
  openapi: '3.0.3',
  paths: {
    '/a/{id}/b': {
      get: {
        operationId: 'op',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'h', in: 'header', schema: { type: 'string' } },
          { name: 'c', in: 'cookie', schema: { type: 'string' } },
        ],
      },
    },
  },
} satisfies JsonObject
