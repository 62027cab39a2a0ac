import { expect } from 'chai'
import fc from 'fast-check'
import { eventDefinition } from '../../support/fake-host.ts'
import { openBench, type Answer, type Bench } from './setup.ts'

const json = { 'content-type': 'application/json' }
const bytes = (...values: number[]): Buffer => Buffer.from(values)
const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels)

/** Bodies that are no JSON object, or hostile in another way; each with the statuses it may have. */
const BODIES: [body: string | Buffer, ...statuses: number[]][] = [
  // Cut off at every place.
  ...Array.from('{"a":{"b":[1,true,null,"x\\n\\u00e9"]},"c":-1.5e+3}'.slice(0, -1), (_, index, text = '{"a":{"b":[1,true,null,"x\\n\\u00e9"]},"c":-1.5e+3}') =>
    [text.slice(0, index), index === 0 ? 201 : 400] as [string, number]),
  // Values that are no object.
  ...['[]', '[1]', '1', '-0', '1e999', 'true', 'false', '"x"', '""'].map((body) => [body, 400] as [string, number]),
  ['null', 201],
  [' \n\t', 400],
  // Not JSON, though some parsers take it.
  ...['{a:1}', "{'a':1}", '{"a":1,}', '[1,]', '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":1.}', '{"a":0x10}', '{"a":NaN}', '{"a":Infinity}', '{"a":undefined}', '{"a":1}//x', '/*x*/{}', '{"a":"\t"}', '{"a":"\\x41"}',
    '{"a":"\\u12"}', '{"a":tru}', '{"a":TRUE}', '{"a" 1}', '{"a":1 "b":2}', '{,}', '{}{}', '{} {}', '{}]', '}', ']', '{"a":1}\0', '\0', '<a/>', '--', 'a=1&b=2', '---\na: 1', '{"a":\u00a01}', '\u2028{}', '{"a":1e}', '{"a":1e+}', '{"":}', '{1:1}', '{"a":-}'].map((body) => [body, 400] as [string, number]),
  // Encodings.
  [bytes(0xff), 400], [bytes(0xc0, 0xaf), 400], [bytes(0xed, 0xa0, 0x80), 400], [bytes(0xf5, 0x80, 0x80, 0x80), 400], [bytes(0x80), 400],
  [Buffer.from('{"a":"\u00e9"}', 'latin1'), 400], [Buffer.from('{"a":1}', 'utf16le'), 400], [Buffer.concat([bytes(0xff, 0xfe), Buffer.from('{}', 'utf16le')]), 400],
  [Buffer.concat([bytes(0xef, 0xbb, 0xbf), Buffer.from('{}')]), 201], [Buffer.concat([bytes(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf), Buffer.from('{}')]), 400], [bytes(0xef, 0xbb, 0xbf), 400, 201], [bytes(0x1f, 0x8b, 8, 0), 400],
  // Depth and size.
  [`{"a":${nested('[', ']', 999)}}`, 201], [`{"a":${nested('[', ']', 1000)}}`, 400], [`{"a":${nested('{"a":', '}', 5000).replace('{"a":}', '{}')}}`, 400],
  [nested('[', ']', 200_000), 400], ['['.repeat(1_000_000), 400], ['{"a":'.repeat(200_000), 400], [`{"a":"${'['.repeat(5000)}"}`, 201],
  // Names and numbers.
  ['{"__proto__":{"x":1}}', 201], ['{"constructor":{"prototype":{"x":1}}}', 201], ['{"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4}', 201], ['{"then":1}', 201], ['{"workflowdata":{"then":1}}', 201],
  ['{"a":1,"a":2}', 201], ['{"":1}', 201], ['{"a":9007199254740993}', 201], ['{"a":1e308}', 201], ['{"a":-1e-400}', 201], ['{"a":1e999}', 201], ['{"a":"\\ud800"}', 201], ['{"a":"\\udc00\\ud800"}', 201], ['{"a":"\\u0000"}', 201],
  [`{"a":${'9'.repeat(10_000)}}`, 201], [`{${Array.from({ length: 20_000 }, (_, n) => `"k${String(n)}":0`).join(',')}}`, 201], [`{"${'k'.repeat(100_000)}":1}`, 201],
  // workflowdata.
  ...['1', 'true', '"x"', '[]', '" "', '0', 'false', '[{}]'].map((value) => [`{"workflowdata":${value}}`, 400] as [string, number]),
  ...['null', '""', '{}', '{"workflowdata":1}'].map((value) => [`{"workflowdata":${value}}`, 201] as [string, number]),
]

describe('server: malformed and hostile bodies', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    bench.catalogue.add(eventDefinition('ev', 't'))
    bench.host.behaviours.set('hello', (_request, record) => ({ ...record, status: 'completed' }))
  })
  after(() => bench.close())

  const sound = async (answer: Answer): Promise<void> => {
    if (answer.status >= 400) {
      expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8')
      expect(Object.keys(answer.json as object)).to.deep.equal(['message', 'code'])
    }
    expect((await bench.send('POST', '/hello', { body: { next: 1 } })).status).to.equal(201)
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined)
  }

  it(`answers ${String(BODIES.length)} of them with the right status, and the next request each time`, async () => {
    expect(BODIES.length).to.be.greaterThan(100)
    for (const [body, ...statuses] of BODIES) {
      const answer = await bench.send('POST', '/hello', { body, headers: json })
      expect(statuses, `${JSON.stringify(body.toString('utf8').slice(0, 60))}: ${answer.text.slice(0, 200)}`).to.include(answer.status)
      await sound(answer)
    }
  }).timeout(60_000)

  it('never answers bytes of any kind with a server error', async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('POST /hello', 'PUT /hello/x', 'PATCH /hello/x', 'POST /'), async (body, target) => {
      const [method = '', path = ''] = target.split(' ')
      const answer = await bench.send(method, path, { body: Buffer.from(body), headers: json })
      expect(answer.status, answer.text).to.be.oneOf([201, 202, 400, 404])
    }), { numRuns: 200 })
  }).timeout(60_000)

  it('never answers damaged JSON with a server error', async () => {
    await fc.assert(fc.asyncProperty(fc.json(), fc.nat(), fc.string({ maxLength: 4 }), async (text, at, noise) => {
      const cut = at % (text.length + 1)
      const body = text.slice(0, cut) + noise + text.slice(cut + 1)
      const answer = await bench.send('POST', '/hello', { body, headers: json })
      expect(answer.status, answer.text).to.be.oneOf([201, 400])
    }), { numRuns: 200 })
  }).timeout(60_000)

  it('never answers headers of any kind with a server error', async () => {
    const name = fc.constantFrom('content-type', 'content-encoding', 'prefer', 'idempotency-key', 'x-request-id', 'traceparent', 'x-kogito-startfromnode', 'x-kogito-referenceid', 'accept', 'host', 'ce-id', 'ce-type', 'ce-source', 'ce-specversion', 'ce-time', 'forwarded', 'origin', 'range', 'if-none-match')
    const value = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f).map((code) => String.fromCharCode(code)), maxLength: 40 })
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 5 }), fc.constantFrom('POST /hello', 'POST /', 'GET /q/openapi', 'PATCH /hello/x'), async (headers, target) => {
      const [method = '', path = ''] = target.split(' ')
      const answer = await bench.send(method, path, { body: '{}', headers: Object.fromEntries(headers) })
      expect(answer.status, answer.text).to.be.below(500)
    }), { numRuns: 300 })
  }).timeout(60_000)

  it('never answers paths of any kind with a server error', async () => {
    const part = fc.oneof(fc.constantFrom('hello', 'q', 'management', 'processes', 'instances', '..', '.', '', '%', '%zz', '%00', '%2f', '%252f', 'x', '__proto__', 'constructor'), fc.webPath().map((path) => path.slice(1)))
    await fc.assert(fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'), async (parts, method) => {
      const answer = await bench.send(method, `/${parts.join('/')}`, { body: method === 'GET' || method === 'HEAD' ? undefined : '{}' })
      expect(answer.status, answer.text).to.be.below(500)
    }), { numRuns: 300 })
  }).timeout(60_000)
})
