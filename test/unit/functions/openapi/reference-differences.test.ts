import { expect } from 'chai'
import { createRequire } from 'node:module'
import type { Json, JsonObject } from '../../../../lib/common/index.ts'
import { FunctionError } from '../../../../lib/errors/index.ts'
import { buildOurs, buildReference, type Case, type Comparable } from '../../../property/functions/reference.ts'

// Every known difference between the request builder and swagger-client (openapi-functions.md §6), with what both do. A row that no
// longer holds, on either side, fails: a new version of swagger-client goes through this table.

type Part = 'target' | 'body' | 'headers'

interface Row {
  readonly difference: string
  readonly parameter?: JsonObject
  readonly value?: Json
  readonly more?: { readonly parameters: readonly JsonObject[]; readonly args: Record<string, Json> }
  readonly body?: { readonly mediaType: string; readonly value: Json; readonly declared?: JsonObject } | undefined
  readonly legacy?: boolean
  readonly compare: Part
  readonly reference: unknown
  /** What the builder gives, or the error it refuses with. */
  readonly builder: unknown
}

const REFUSED = 'FUNCTION_ARGUMENT_INVALID'
const THROWS = 'throws'
const query = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({ name: 'v', in: 'query', schema, ...more })
const path = (more: JsonObject = {}): JsonObject => ({ name: 'v', in: 'path', required: true, schema: {}, ...more })
const STRING = { type: 'string' }
const form = (value: Json): Row['body'] => ({ mediaType: 'application/x-www-form-urlencoded', value })

const ROWS: readonly Row[] = [
  { difference: 'null for a required path parameter', parameter: path(), value: null, compare: 'target', reference: '/base/p/{v}', builder: REFUSED },
  { difference: 'path value ".."', parameter: path(), value: '..', compare: 'target', reference: '/base/p/..', builder: REFUSED },
  { difference: 'path value "."', parameter: path(), value: '.', compare: 'target', reference: '/base/p/.', builder: REFUSED },
  { difference: 'empty path value', parameter: path(), value: '', compare: 'target', reference: '/base/p/', builder: REFUSED },
  { difference: 'control character in a path', parameter: path(), value: 'a\r\nb', compare: 'target', reference: '/base/p/a%0D%0Ab', builder: REFUSED },
  { difference: 'member names in a path are encoded', parameter: path({ explode: true }), value: { 'a/b': 1 }, compare: 'target', reference: '/base/p/a/b=1', builder: '/base/p/a%2Fb=1' },
  { difference: 'header value with a line break', parameter: { name: 'v', in: 'header', schema: STRING }, value: 'a\r\nb: c', compare: 'headers', reference: { v: 'a\r\nb: c' }, builder: REFUSED },
  { difference: 'header value outside Latin-1', parameter: { name: 'v', in: 'header', schema: STRING }, value: '日', compare: 'headers', reference: { v: '日' }, builder: REFUSED },
  { difference: 'integer that lost digits', parameter: query({ type: 'integer' }), value: 2 ** 53, compare: 'target', reference: '/base/plain?v=9007199254740992', builder: REFUSED },
  { difference: 'number out of range', parameter: query({ type: 'number' }), value: Infinity, compare: 'target', reference: '/base/plain?v=Infinity', builder: REFUSED },
  { difference: 'object where a scalar is asked', parameter: query(STRING, { explode: true }), value: { a: 1 }, compare: 'target', reference: '/base/plain?a=1', builder: REFUSED },
  { difference: 'unknown argument without a body', more: { parameters: [], args: { typo: 1 } }, compare: 'target', reference: '/base/plain', builder: REFUSED },
  { difference: 'required body not given', body: { mediaType: 'application/json', value: null, declared: { required: true } }, compare: 'body', reference: undefined, builder: REFUSED },
  { difference: 'enum is not enforced', parameter: query({ type: 'string', enum: ['a'] }), value: 'b', compare: 'target', reference: '/base/plain?v=b', builder: '/base/plain?v=b' },
  { difference: 'text that is no JSON for a list', parameter: query({ type: 'array' }), value: 'a', compare: 'target', reference: THROWS, builder: '/base/plain?v=a' },
  { difference: 'empty list, not exploded', parameter: query({ type: 'array' }, { explode: false }), value: [], compare: 'target', reference: '/base/plain?v=', builder: '/base/plain' },
  { difference: 'empty object, not exploded', parameter: query({ type: 'object' }, { explode: false }), value: {}, compare: 'target', reference: '/base/plain?v=', builder: '/base/plain' },
  { difference: 'reserved characters that would end the value', parameter: query(STRING, { allowReserved: true }), value: 'a#b&c+d/e', compare: 'target', reference: '/base/plain?v=a#b&c+d/e', builder: '/base/plain?v=a%23b%26c%2Bd/e' },
  { difference: 'text as JSON content', parameter: query({}, { content: { 'application/json': {} } }), value: 'a', compare: 'target', reference: '/base/plain?v=a', builder: '/base/plain?v=%22a%22' },
  { difference: 'items of JSON content that read as JSON', parameter: query({}, { content: { 'application/json': {} } }), value: ['1'], compare: 'target', reference: '/base/plain?v=%5B1%5D', builder: '/base/plain?v=%5B%221%22%5D' },
  {
    difference: 'several cookies',
    more: { parameters: [{ name: 'a', in: 'cookie', schema: STRING }, { name: 'b', in: 'cookie', schema: STRING }], args: { a: 'x', b: 'y' } },
    compare: 'headers', reference: { cookie: 'b=y' }, builder: { cookie: 'a=x; b=y' },
  },
  { difference: 'percent sign in a cookie', parameter: { name: 'v', in: 'cookie', schema: STRING }, value: '100%', compare: 'headers', reference: { cookie: 'v=100%' }, builder: { cookie: 'v=100%25' } },
  { difference: 'quoted cookie', parameter: { name: 'v', in: 'cookie', schema: STRING }, value: '"a"', compare: 'headers', reference: { cookie: 'v="a"' }, builder: { cookie: 'v=%22a%22' } },
  { difference: 'list in a urlencoded form', body: form({ l: [1, 2] }), compare: 'body', reference: 'l=1,2', builder: 'l=1&l=2' },
  { difference: 'text of a form that reads as JSON', body: form({ n: '1e3' }), compare: 'body', reference: 'n=1000', builder: 'n=1e3' },
  { difference: '2.0: false as text', legacy: true, parameter: { name: 'v', in: 'query', type: 'string' }, value: false, compare: 'target', reference: '/base/plain', builder: '/base/plain?v=false' },
  { difference: '2.0: null in a list', legacy: true, parameter: { name: 'v', in: 'query', type: 'array' }, value: [null, 1], compare: 'target', reference: '/base/plain?v=null,1', builder: '/base/plain?v=,1' },
  { difference: '2.0: empty list', legacy: true, parameter: { name: 'v', in: 'query', type: 'array' }, value: [], compare: 'target', reference: '/base/plain?v=', builder: '/base/plain' },
  { difference: '2.0: path value that looks encoded', legacy: true, parameter: { name: 'v', in: 'path', type: 'string' }, value: '%2e%2e', compare: 'target', reference: '/base/p/%2e%2e', builder: '/base/p/%252e%252e' },
  { difference: '2.0: square brackets in a path', legacy: true, parameter: { name: 'v', in: 'path', type: 'string' }, value: '[a]', compare: 'target', reference: '/base/p/[a]', builder: '/base/p/%5Ba%5D' },
  { difference: '2.0: list in a path', legacy: true, parameter: { name: 'v', in: 'path', type: 'array' }, value: [1, 2], compare: 'target', reference: '/base/p/1%2C2', builder: '/base/p/1,2' },
  { difference: '2.0: lone surrogate', legacy: true, parameter: { name: 'v', in: 'query', type: 'string' }, value: '\ud800', compare: 'target', reference: THROWS, builder: '/base/plain?v=%EF%BF%BD' },
]

function toCase(row: Row): Case {
  const parameters = row.more?.parameters ?? (row.parameter === undefined ? [] : [row.parameter])
  const operation: JsonObject = {
    operationId: 'op',
    parameters: [...parameters],
    responses: {},
    ...(row.body !== undefined && { requestBody: { ...row.body.declared, content: { [row.body.mediaType]: { schema: {} } } } }),
  }
  const template = parameters.some((parameter) => parameter['in'] === 'path') ? '/p/{v}' : '/plain'
  return {
    document: { ...(row.legacy === true ? { swagger: '2.0' } : { openapi: '3.0.3' }), paths: { [template]: { post: operation } } },
    args: row.more?.args ?? (row.value === undefined ? {} : { v: row.value }),
    ...(row.body !== undefined && { body: row.body }),
  }
}

function outcome(row: Row, build: (given: Case) => Comparable): unknown {
  try {
    return build(toCase(row))[row.compare]
  } catch (error) {
    return error instanceof FunctionError ? error.code : THROWS
  }
}

describe('differences between the request builder and swagger-client', () => {
  it('were measured with this version', () => {
    const { version } = createRequire(import.meta.url)('swagger-client/package.json') as { version: string }
    expect(version).to.equal('3.37.3')
  })

  for (const row of ROWS) {
    it(row.difference, () => {
      expect(outcome(row, buildReference), 'swagger-client').to.deep.equal(row.reference)
      expect(outcome(row, buildOurs), 'the builder').to.deep.equal(row.builder)
    })
  }

  it('one name in two places fills both, and the document is warned about at load', () => {
    const parameters = [{ name: 'v', in: 'path', required: true, schema: {} }, { name: 'v', in: 'query', schema: {} }]
    const given: Case = { document: { openapi: '3.0.3', paths: { '/p/{v}': { get: { operationId: 'op', parameters } } } }, args: { v: 'a' } }
    expect(buildOurs(given).target).to.equal('/base/p/a?v=a')
    expect(buildOurs({ ...given, args: { 'path.v': 'a', 'query.v': 'b' } }).target).to.equal('/base/p/a?v=b')
    expect(buildOurs({ ...given, args: { v: 'a', 'query.v': 'b' } }).target).to.equal('/base/p/a?v=a')
  })
})
