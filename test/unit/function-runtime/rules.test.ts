import { expect } from 'chai'
import { bytes, cloudEvent, defineFunction, event, json, nothing, serve, text } from '../../../lib/function-runtime/index.ts'
import { binary, jsonBody, served, structured, type Served } from './harness.ts'

const Bean = {
  type: 'object',
  properties: { name: { type: 'string' }, count: { type: 'integer' }, nested: { type: 'object', properties: { flag: { type: 'boolean' } } } },
  required: ['name'],
} as const
const BEAN = { name: 'Bill', count: 2, nested: { flag: true } }
const QUERY = '?name=Bill&count=2&nested.flag=true'

async function each(functions: Parameters<typeof served>[0], check: (server: Served) => Promise<void>): Promise<void> {
  await using server = await served(functions)
  await check(server)
}

describe('rule 1: a wrapper needs an event', () => {
  const wrapper = defineFunction({ name: 'f', input: cloudEvent(json(Bean)), output: cloudEvent(json(Bean)) }, ({ data, subject }) =>
    event({ data, ...(subject === undefined ? {} : { subject }) }))

  it('is refused by plain POST and GET', () => each([wrapper], async ({ send }) => {
    for (const answer of [await send('/f', jsonBody(BEAN)), await send(`/f${QUERY}`), await send('/', jsonBody(BEAN))]) {
      expect(answer.status).to.equal(400)
      expect((answer.json() as { message: string }).message).to.include('CloudEvent')
    }
  }))

  it('is called by binary and structured events', () => each([wrapper], async ({ send }) => {
    const inHeaders = await send('/', binary({ subject: 's' }, JSON.stringify(BEAN)))
    expect([inHeaders.status, inHeaders.headers['ce-subject'], inHeaders.json()]).to.deep.equal([200, 's', BEAN])
    const inBody = await send('/', structured({ subject: 's', data: BEAN }))
    expect(inBody.json()).to.deep.include({ subject: 's', data: BEAN, datacontenttype: 'application/json' })
  }))

  it('may stand in the output alone: plain HTTP gets the data', () => each({
    full: defineFunction({ input: json(Bean), output: cloudEvent(json(Bean)) }, (data) => event({ type: 'x', data })),
    empty: defineFunction({ input: json(Bean), output: cloudEvent(json(Bean)) }, () => event({ type: 'x' })),
  }, async ({ send }) => {
    const full = await send('/full', jsonBody(BEAN))
    expect([full.status, full.json(), full.headers['ce-type']]).to.deep.equal([200, BEAN, undefined])
    const empty = await send(`/empty${QUERY}`)
    expect([empty.status, empty.text, empty.headers['ce-id']]).to.deep.equal([204, '', undefined])
  }))
})

describe('rule 2: a byte array comes by event only', () => {
  const reverse = defineFunction({ name: 'f', input: bytes, output: bytes }, (given) => given.toReversed())

  it('is refused by plain POST and GET', () => each([reverse], async ({ send }) => {
    for (const answer of [await send('/f', jsonBody('AQID')), await send('/f?x=1')]) expect(answer.status).to.equal(400)
  }))

  it('is the raw body of a binary event, whatever its media type', () => each([reverse], async ({ send }) => {
    for (const type of ['application/octet-stream', 'application/json', 'image/png']) {
      const answer = await send('/', binary({}, Uint8Array.of(1, 2, 255), type))
      expect([answer.status, answer.headers['content-type'], [...answer.body]]).to.deep.equal([200, 'application/octet-stream', [255, 2, 1]])
    }
  }))

  it('is data_base64 of a structured event, in 0.3 data with its encoding, else the bytes of data', () => each([reverse], async ({ send }) => {
    expect((await send('/', structured({ data_base64: 'AQID' }))).json()).to.include({ data_base64: 'AwIB', datacontenttype: 'application/octet-stream' })
    expect((await send('/', structured({ specversion: '0.3', datacontentencoding: 'base64', data: 'AQID' }))).json())
      .to.include({ specversion: '0.3', datacontentencoding: 'base64', data: 'AwIB' })
    expect((await send('/', structured({ data: 12 }))).json()).to.include({ data_base64: Buffer.from('21').toString('base64') })
    expect((await send('/', structured({ datacontenttype: 'text/plain', data: 'ab' }))).json()).to.include({ data_base64: Buffer.from('ba').toString('base64') })
  }))
})

describe('rule 3: a bean comes by POST, by GET and by event of both encodings', () => {
  const seen: unknown[] = []
  const take = defineFunction({ name: 'take', input: json(Bean), output: json(Bean) }, (bean) => {
    seen.push(bean)
    return bean
  })

  it('reaches the only function at / with equal input, and each request is answered in its own form', () => each([take], async ({ send }) => {
    const posted = await send('/', jsonBody(BEAN))
    const got = await send(`/${QUERY}`)
    const inHeaders = await send('/', binary({}, JSON.stringify(BEAN)))
    const inBody = await send('/', structured({ data: BEAN }))
    expect(seen).to.deep.equal([BEAN, BEAN, BEAN, BEAN])
    expect([posted.json(), got.json(), inHeaders.json(), (inBody.json() as { data: unknown }).data]).to.deep.equal([BEAN, BEAN, BEAN, BEAN])
    expect(posted.headers['content-type']).to.equal('application/json')
    expect(inHeaders.headers).to.include({ 'ce-type': 'take.output', 'ce-source': 'take', 'ce-specversion': '1.0' })
    expect(inBody.headers['content-type']).to.equal('application/cloudevents+json')
  }))
})

describe('rule 4: the permitted types are a closed set', () => {
  const echoes = {
    text: defineFunction({ input: text, output: text }, (given) => given),
    number: defineFunction({ input: json({ type: 'number' }), output: json({ type: 'number' }) }, (given) => given),
    boolean: defineFunction({ input: json({ type: 'boolean' }), output: json({ type: 'boolean' }) }, (given) => given),
    list: defineFunction({ input: json({ type: 'array', items: Bean }), output: json({ type: 'array', items: Bean }) }, (given) => given),
    map: defineFunction({ input: json({ type: 'object', additionalProperties: Bean }), output: json({ type: 'object' }) }, (given) => given),
    none: defineFunction({ input: nothing, output: nothing }, () => undefined),
  }
  const VALUES = { text: 'ünïcode 😀', number: -1.5, boolean: false, list: [BEAN], map: { a: BEAN } }

  it('takes and gives each of them, by POST and by event of both encodings', () => each(echoes, async ({ send }) => {
    for (const [name, value] of Object.entries(VALUES)) {
      expect((await send(`/${name}`, jsonBody(value))).json(), name).to.deep.equal(value)
      expect((await send('/', binary({ type: name }, JSON.stringify(value)))).json(), name).to.deep.equal(value)
      expect((await send('/', structured({ type: name, data: value }))).json(), name).to.deep.include({ data: value })
    }
    expect((await send('/none', { method: 'POST' })).status).to.equal(204)
  }))

  it('takes bytes inside of beans and lists as base64 and hands them over as Uint8Array', () => each([
    defineFunction({
      name: 'f',
      input: json({ type: 'object', properties: { parts: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } } } }),
      output: json({ type: 'object', properties: { sum: { type: 'string', contentEncoding: 'base64' } } }),
    }, ({ parts = [] }) => ({ sum: Uint8Array.of(...parts.flatMap((part) => [...part])) })),
  ], async ({ send }) => {
    expect((await send('/', jsonBody({ parts: ['AQ==', 'AgM='] }))).json()).to.deep.equal({ sum: 'AQID' })
    const broken = await send('/', jsonBody({ parts: ['AQ==', '?'] }))
    expect([broken.status, broken.text]).to.satisfy(([status, body]: [number, string]) => status === 400 && body.includes('/parts/1'))
  }))

  it('refuses anything else at start', () => {
    const start = (schema: object) => () => serve([defineFunction({ name: 'f', input: json(schema as Record<string, unknown>), output: nothing }, () => undefined)])
    expect(start({ anyOf: [{ type: 'string' }] })).to.throw('uses anyOf')
    expect(start({ type: 'object', patternProperties: {} })).to.throw('uses patternProperties')
    expect(start({ type: 'object', properties: { a: { $ref: 'http://example.com/a' } } })).to.throw('/properties/a refers to')
    expect(start({ type: 'string', contentEncoding: 'base64' })).to.throw('use the descriptor bytes')
  })
})

describe('rule 5: a handler may be asynchronous', () => {
  it('answers when the promise is settled, in each form', () => each([
    defineFunction({ name: 'f', input: json(Bean), output: text }, async ({ name }) => {
      await Promise.resolve()
      return name
    }),
  ], async ({ send }) => {
    expect((await send('/', jsonBody(BEAN))).json()).to.equal('Bill')
    expect((await send(`/${QUERY}`)).json()).to.equal('Bill')
    expect((await send('/', binary({}, JSON.stringify(BEAN)))).json()).to.equal('Bill')
    expect((await send('/', structured({ data: BEAN }))).json()).to.include({ data: 'Bill' })
  }))

  it('answers a rejection like an exception', () => each([
    defineFunction({ name: 'f', input: nothing, output: text }, async () => {
      await Promise.resolve()
      throw new Error('too bad')
    }),
  ], async ({ send }) => {
    for (const answer of [await send('/f'), await send('/', binary({})), await send('/', structured({}))]) {
      expect([answer.status, answer.json()]).to.deep.equal([500, { message: 'Function f failed: too bad', code: 'FUNCTION_FAILED' }])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('ce-'))).to.deep.equal([])
    }
  }))
})

describe('rule 6: the answer has the form of the request', () => {
  const upper = defineFunction({ name: 'upper', input: text, output: text }, (given) => given.toUpperCase())

  it('is plain for plain, headers for headers and a document for a document', () => each([upper], async ({ send }) => {
    const plain = await send('/upper', jsonBody('a'))
    expect([plain.text, plain.headers['content-type'], plain.headers['ce-id']]).to.deep.equal(['"A"', 'application/json', undefined])
    const inHeaders = await send('/', binary({}, '"a"'))
    expect(inHeaders.text).to.equal('"A"')
    expect(inHeaders.headers['ce-id']).to.match(/^[0-9a-f-]{36}$/)
    const { id, ...rest } = (await send('/', structured({ data: 'a' }))).json() as Record<string, unknown>
    expect(id).to.match(/^[0-9a-f-]{36}$/)
    expect(rest).to.deep.equal({ specversion: '1.0', source: 'upper', type: 'upper.output', datacontenttype: 'application/json', data: 'A' })
  }))

  it('keeps the version of the request', () => each([upper], async ({ send }) => {
    for (const specversion of ['0.3', '1.0', '1.7']) {
      expect((await send('/', binary({ specversion }, '"a"'))).headers['ce-specversion']).to.equal(specversion)
      expect((await send('/', structured({ specversion, data: 'a' }))).json()).to.include({ specversion })
    }
  }))
})

describe('rule 7: attributes come in and go out', () => {
  const purchase = defineFunction(
    { name: 'purchase', input: cloudEvent(json({ type: 'object', properties: { valid: { type: 'boolean' } } })), output: cloudEvent(nothing) },
    ({ data, subject }) => event({ type: data.valid === true ? 'purchase.success' : 'purchase.error', ...(subject === undefined ? {} : { subject }) }),
  )

  it('answers the type of success or error, without data', () => each([purchase], async ({ send }) => {
    const failed = await send('/', binary({ subject: 'order 1' }, '{"valid":false}'))
    expect([failed.status, failed.text]).to.deep.equal([204, ''])
    expect(failed.headers).to.include({ 'ce-type': 'purchase.error', 'ce-source': 'purchase', 'ce-subject': 'order%201' })
    const succeeded = await send('/', structured({ data: { valid: true } }))
    expect(succeeded.status).to.equal(200)
    expect(succeeded.json()).to.include({ type: 'purchase.success', specversion: '1.0' }).and.not.have.any.keys('data', 'datacontenttype', 'subject', 'time')
  }))

  it('hands over a frozen event of the package with extensions as fields, inventing nothing', () => each([
    defineFunction({ name: 'f', input: cloudEvent(nothing), output: json({ type: 'object' }) }, (received) => ({
      class: received.constructor.name === 'IncomingEvent' && typeof received.cloneWith === 'function',
      frozen: Object.isFrozen(received),
      document: received.toJSON(),
      extension: received['myext'],
    })),
  ], async ({ send }) => {
    expect((await send('/', binary({ myext: 'a%20b' }))).json()).to.deep.equal({
      class: true, frozen: true, extension: 'a b', document: { specversion: '1.0', id: '1', source: '/test', type: 'test-type', myext: 'a b' },
    })
  }))

  it('gives any function the event of its call, and none for plain HTTP', () => each([
    defineFunction({ name: 'f', input: text, output: json({ type: ['object', 'null'] }) }, (_given, { event: received }) =>
      received === undefined ? null : { subject: received.subject ?? 'none', data: received.data }),
  ], async ({ send }) => {
    expect((await send('/', binary({ subject: 's' }, '"x"'))).json()).to.deep.equal({ subject: 's', data: 'x' })
    expect((await send('/f', jsonBody('x'))).json()).to.equal(null)
  }))

  it('refuses attributes that no event may carry', () => {
    expect(() => event({ data: 1, 'Bad-Name': 'x' })).to.throw('no attribute name')
    expect(() => event({ ext: { a: 1 } })).to.throw('ext is neither text nor number nor boolean')
    expect(() => event({ ext: 1.5 })).to.throw('32-bit integers')
    expect(() => event({ time: 'yesterday' })).to.throw('time is "yesterday"')
    expect(() => event({ type: '' })).to.throw('type is empty')
    expect(() => event({ specversion: '1.0' })).to.throw('specversion cannot be set')
  })
})
