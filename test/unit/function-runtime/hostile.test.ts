import { connect } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { bytes, cloudEvent, defineFunction, event, json, text, nothing, type AnyHostedFunction } from '../../../lib/function-runtime/index.ts'
import { EVENT, binary, jsonBody, send as sendTo, served, structured, type Sent, type Served } from './harness.ts'

const Bean = { type: 'object', properties: { n: { type: 'integer' } } } as const
const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

// Handlers in plain JavaScript may throw anything.
const throwing = (value: unknown) => (): never => { throw value as Error }

const FUNCTIONS: Record<string, AnyHostedFunction> = {
  bean: defineFunction({ input: json(Bean), output: json(Bean) }, (given) => given),
  open: defineFunction({ input: json({ type: 'object' }), output: json({ type: 'object' }) }, (given) => given),
  payload: defineFunction({ input: bytes, output: bytes }, (given) => given),
  throwsText: defineFunction({ input: nothing, output: text }, throwing('a text')),
  throwsNothing: defineFunction({ input: nothing, output: text }, throwing(undefined)),
  cyclic: defineFunction({ input: nothing, output: json({ type: 'object' }) }, () => cycle),
  cyclicBySchema: defineFunction({
    input: nothing,
    output: json({ $ref: '#/$defs/Node', $defs: { Node: { type: 'object', properties: { self: { $ref: '#/$defs/Node' } } } } }),
  }, () => cycle as never),
  bigint: defineFunction({ input: nothing, output: json({ type: 'object' }) }, () => ({ n: 1n })),
  nan: defineFunction({ input: nothing, output: json({ type: 'number' }) }, () => Number.NaN),
  wrong: defineFunction({ input: nothing, output: json(Bean) }, () => ({ n: 'x' }) as never),
  noText: defineFunction({ input: nothing, output: text }, () => 5 as never),
  noBytes: defineFunction({ input: nothing, output: cloudEvent(bytes) }, () => event({ data: 'x' as never })),
  noEvent: defineFunction({ input: nothing, output: cloudEvent(text) }, () => 'x' as never),
  unexpectedEvent: defineFunction({ input: nothing, output: text }, () => event({}) as never),
  badEvent: defineFunction({ input: nothing, output: cloudEvent(nothing) }, () => event({ 'BAD-NAME': 'x' })),
}

const good = (server: Served): Promise<unknown> => server.send('/bean', jsonBody({ n: 1 })).then((answer) => answer.json())

interface Refusal { readonly path?: string; readonly sent: Sent; readonly status: number }

const BAD_INPUT: Readonly<Record<string, Refusal>> = {
  'broken JSON': { path: '/bean', sent: { headers: { 'content-type': 'application/json' }, body: '{"n":' }, status: 400 },
  'invalid UTF-8': { path: '/bean', sent: { headers: { 'content-type': 'application/json' }, body: Uint8Array.of(0x22, 0xff, 0x22) }, status: 400 },
  'a wrong type': { path: '/bean', sent: jsonBody({ n: 'x' }), status: 400 },
  '1001 levels': { path: '/open', sent: { headers: { 'content-type': 'application/json' }, body: `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}` }, status: 400 },
  'no ce-source': { sent: { method: 'POST', headers: { 'ce-id': '1', 'ce-type': 'bean', 'ce-specversion': '1.0', 'content-type': 'application/json' }, body: '{}' }, status: 400 },
  'an empty ce-id': { sent: binary({ id: '', type: 'bean' }, '{}'), status: 400 },
  'ce-specversion 2.0': { sent: binary({ specversion: '2.0', type: 'bean' }, '{}'), status: 400 },
  'time yesterday': { sent: binary({ time: 'yesterday', type: 'bean' }, '{}'), status: 400 },
  'bad base64': { sent: structured({ type: 'payload', data_base64: '?' }), status: 400 },
  'both data members': { sent: structured({ type: 'payload', data: 'x', data_base64: 'eA==' }), status: 400 },
  'a structured event that is no JSON': { sent: { headers: { 'content-type': 'application/cloudevents+json' }, body: 'x' }, status: 400 },
  'a structured event by GET': { sent: { headers: { 'content-type': 'application/cloudevents+json' } }, status: 400 },
  'a header value with CR LF': { sent: binary({ type: 'bean', ext: 'a%0D%0Aset-cookie: b' }, '{}'), status: 400 },
  'more than 100 attributes': { sent: binary({ type: 'bean', ...Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x${String(index)}`, '1'])) }, '{}'), status: 431 },
  'attributes of more than 64 KiB': { sent: binary({ type: 'bean', big: 'x'.repeat(65 * 1024) }, '{}'), status: 431 },
  'a batch': { path: '/bean', sent: { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: '[]' }, status: 406 },
  'text/xml': { path: '/bean', sent: { headers: { 'content-type': 'text/xml' }, body: '<a/>' }, status: 406 },
  PUT: { path: '/bean', sent: { ...jsonBody({}), method: 'PUT' }, status: 405 },
  'an unknown name': { path: '/nosuch', sent: jsonBody({}), status: 404 },
  'an exponent for an integer': { path: '/bean?n=1e3', sent: {}, status: 400 },
  'a prototype in the query': { path: '/bean?__proto__.x=1', sent: {}, status: 400 },
  '1001 parameters': { path: `/open?${'a=1&'.repeat(1001)}`, sent: {}, status: 400 },
  'a broken escape': { path: '/bean?n=%zz', sent: {}, status: 400 },
  '11 MiB': { path: '/open', sent: { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(11 * 1024 * 1024)}"` }, status: 413 },
  '11 MiB without a length': { path: '/open', sent: { headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }, body: `"${'x'.repeat(11 * 1024 * 1024)}"` }, status: 413 },
}

const BAD_HANDLERS = Object.keys(FUNCTIONS).slice(3)

describe('bad input', () => {
  let server: Served
  before(async () => { server = await served(FUNCTIONS) })
  after(() => server.close())

  for (const [what, { path = '/', sent, status }] of Object.entries(BAD_INPUT)) {
    it(`is answered ${String(status)} with a message: ${what}`, async () => {
      // A caller that is still sending when the connection is closed may not see the answer.
      const answer = await server.send(path, sent).catch((error: unknown) => error as NodeJS.ErrnoException)
      if (answer instanceof Error) expect([status, answer.code]).to.satisfy(([code, reason]: [number, string]) => code === 413 && /EPIPE|ECONNRESET/.test(reason))
      else {
        expect(answer.status).to.equal(status)
        const body = answer.json() as { message: string; code: string }
        expect(body).to.have.all.keys('message', 'code')
        expect(body.message).to.be.a('string').and.not.match(/\n\s+at |\.ts:|node_modules/)
        expect(Object.keys(answer.headers).some((name) => name.startsWith('ce-') || name === 'set-cookie')).to.equal(false)
      }
      expect(await good(server)).to.deep.equal({ n: 1 })
    })
  }

  it('keeps hostile names as data', async () => {
    const answer = await server.send('/open', { headers: { 'content-type': 'application/json' }, body: '{"__proto__":{"polluted":1},"constructor":2}' })
    expect(answer.text).to.equal('{"__proto__":{"polluted":1},"constructor":2}')
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  })

  it('explains a large value by its first fault only', async () => {
    const items = Array.from({ length: 50_000 }, () => 'x')
    const many = defineFunction({ name: 'many', input: json({ type: 'array', items: { type: 'integer' } }), output: nothing }, () => undefined)
    await using other = await served([many])
    const answer = await other.send('/', jsonBody(items))
    expect([answer.status, (answer.json() as { message: string }).message.length < 200]).to.deep.equal([400, true])
  })

  it('that breaks off leaves the server working', async () => {
    const { hostname, port } = new URL(server.url)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('POST /bean HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"n":', () => { socket.destroy() })
      })
      socket.on('close', () => { resolve() })
    })
    expect(await good(server)).to.deep.equal({ n: 1 })
  })

  it('of any kind is answered as JSON and never ends the server', async () => {
    const headers = fc.dictionary(
      fc.constantFrom('content-type', 'ce-id', 'ce-type', 'ce-source', 'ce-specversion', 'ce-time', 'ce-x', 'content-encoding'),
      fc.constantFrom('', 'x', '1.0', 'bean', 'application/json', 'application/cloudevents+json', '%', '%FF', '"', 'ü', '9'.repeat(300)),
    )
    const path = fc.constantFrom('/', '/bean', '/open', '/payload', '/%', '//', '/bean?n=%', '/open?a.b.c=1&a=2', '/\u007f'.slice(0, 1))
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'OPTIONS', 'HEAD', 'DELETE')
    await fc.assert(fc.asyncProperty(method, path, headers, fc.string({ maxLength: 30 }), async (how, where, given, body) => {
      const answer = await server.send(where, { method: how, headers: given, ...(how === 'GET' || how === 'HEAD' ? {} : { body }) })
      expect(answer.status).to.be.oneOf([200, 204, 400, 404, 405, 406, 409])
      if (answer.status >= 400 && how !== 'HEAD') expect(answer.json()).to.include.keys('message', 'code')
    }), { numRuns: 150 })
    expect(await good(server)).to.deep.equal({ n: 1 })
  })
})

describe('a bad handler', () => {
  let server: Served
  before(async () => { server = await served(FUNCTIONS) })
  after(() => server.close())

  for (const name of BAD_HANDLERS) {
    it(`is answered 500 in each form, and the next request is served: ${name}`, async () => {
      for (const sent of [undefined, binary({ type: name }), structured({ type: name })]) {
        if (sent === undefined && name === 'noBytes') continue
        const answer = await server.send(sent === undefined ? `/${name}` : '/', sent)
        expect([answer.status, (answer.json() as { code: string }).code]).to.deep.equal([500, 'FUNCTION_FAILED'])
        expect(answer.headers['ce-id']).to.equal(undefined)
      }
      expect(await good(server)).to.deep.equal({ n: 1 })
    })
  }

  it('keeps its message to the log in production', async () => {
    await using production = await served({ f: defineFunction({ input: nothing, output: text }, () => { throw new RangeError('the password is 1234') }) }, { profile: 'prod' })
    const answer = await production.send('/f')
    expect(answer.status).to.equal(500)
    expect(answer.text).to.not.include('password')
    const [line] = production.log.filter(({ msg }) => msg === 'A function failed')
    expect(answer.text).to.include(String(line?.['errorId']))
    expect(JSON.stringify(line)).to.include('the password is 1234').and.include('"function":"f"')
  })
})

describe('round trips', () => {
  const MIB = Uint8Array.from({ length: 2 ** 20 }, (_, index) => index % 256)
  const echo = defineFunction({ name: 'echo', input: json({}), output: json({}) }, (given) => given as never)
  const raw = defineFunction({ name: 'raw', input: bytes, output: bytes }, (given) => given)
  const wrapped = defineFunction({ name: 'wrapped', input: cloudEvent(bytes), output: cloudEvent(bytes) }, ({ data }) => event({ data }))
  let server: Served
  before(async () => { server = await served([echo, raw, wrapped]) })
  after(() => server.close())

  const throughEach = async (value: unknown, body = JSON.stringify(value)): Promise<unknown[]> => {
    const document = `{"specversion":"1.0","id":"1","source":"s","type":"echo","data":${body}}`
    const inBody = await server.send('/', { headers: { 'content-type': 'application/cloudevents+json' }, body: document })
    return [
      (await server.send('/echo', { headers: { 'content-type': 'application/json' }, body })).json(),
      (await server.send('/', binary({ type: 'echo' }, body))).json(),
      (inBody.json() as { data: unknown }).data,
    ]
  }

  it('keep falsy and unusual values in every form', async () => {
    for (const value of [0, false, '', null, 'ünïcode 😀', 2 ** 53 - 1, [[[]], [null, 0]], { '': { a: [false] } }]) {
      expect(await throughEach(value), JSON.stringify(value)).to.deep.equal([value, value, value])
    }
    for (const got of await throughEach(-0, '-0')) expect(Object.is(got, -0)).to.equal(true)
  })

  it('keep every JSON value', async () => {
    await fc.assert(fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (value) => {
      const expected = JSON.parse(JSON.stringify(value)) as unknown
      expect(await throughEach(expected)).to.deep.equal([expected, expected, expected])
    }), { numRuns: 40 })
  })

  it('keep bytes of any length and value, with and without a wrapper', async () => {
    for (const given of [new Uint8Array(0), MIB, Uint8Array.of(0xef, 0xbb, 0xbf, 0)]) {
      for (const type of ['raw', 'wrapped']) {
        const inHeaders = await server.send('/', binary({ type }, given, 'application/octet-stream'))
        expect([inHeaders.status, Buffer.compare(inHeaders.body, given)]).to.deep.equal([200, 0])
        const inBody = await server.send('/', structured({ type, data_base64: Buffer.from(given).toString('base64') }))
        expect(Buffer.from((inBody.json() as { data_base64: string }).data_base64, 'base64').equals(given)).to.equal(true)
        const old = await server.send('/', structured({ type, specversion: '0.3', datacontentencoding: 'base64', data: Buffer.from(given).toString('base64') }))
        expect(Buffer.from((old.json() as { data: string }).data, 'base64').equals(given)).to.equal(true)
      }
    }
  })

  it('keep unicode attributes in both modes', async () => {
    const mirror = defineFunction({ name: 'mirror', input: cloudEvent(nothing), output: cloudEvent(nothing) }, ({ subject, id }) =>
      event({ id, ...(subject === undefined ? {} : { subject }) }))
    await using other = await served([mirror])
    const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((given) => !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(given))
    await fc.assert(fc.asyncProperty(word, async (subject) => {
      const inHeaders = await other.send('/', binary({ subject: encodeURIComponent(subject) }))
      expect(decodeURIComponent(String(inHeaders.headers['ce-subject']))).to.equal(subject)
      expect((await other.send('/', structured({ subject }))).json()).to.deep.include({ subject, id: EVENT.id })
    }), { numRuns: 40 })
  })

  it('work on one connection one after the other', async () => {
    for (let index = 0; index < 3; index++) expect((await sendTo(`${server.url}/echo`, jsonBody(index))).json()).to.equal(index)
  })
})
