import { expect } from 'chai'
import fc from 'fast-check'
import { EventError } from '../../../lib/errors/index.ts'
import { decodeHttp, encodeHttp, eventModeOf, isCloudEventRequest, type CloudEventRecord, type EventMode } from '../../../lib/events/index.ts'

const REQUIRED = { specversion: '1.0', id: '1', source: '/s', type: 't' } as const
const BINARY = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' } as const
const STRUCTURED = { 'content-type': 'application/cloudevents+json' } as const

function binary(headers: Record<string, string>, body = ''): CloudEventRecord {
  return decodeHttp({ headers: { ...BINARY, ...headers }, body: Buffer.from(body) }).event
}

function structured(document: unknown): CloudEventRecord {
  const body = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  return decodeHttp({ headers: STRUCTURED, body }).event
}

function refusedAttribute(decode: () => unknown): unknown {
  try {
    decode()
  } catch (error) {
    expect(error).to.be.instanceOf(EventError)
    expect((error as EventError).code).to.equal('CLOUD_EVENT_INVALID')
    expect((error as EventError).message).to.include(String((error as EventError).details['attribute']))
    return (error as EventError).details['attribute']
  }
  return 'accepted'
}

function roundTrip(event: CloudEventRecord, mode: EventMode): CloudEventRecord {
  const { headers, body } = encodeHttp(event, mode)
  const decoded = decodeHttp({ headers, body: body ?? new Uint8Array() })
  expect(decoded.mode).to.equal(mode)
  return decoded.event
}

describe('the mode of a request', () => {
  it('is binary as soon as ce-id is there, even with a structured media type', () => {
    expect(eventModeOf({ 'ce-id': '1', ...STRUCTURED })).to.equal('binary')
    expect(eventModeOf({ 'ce-id': '' })).to.equal('binary')
  })

  it('is structured by the media type in any case and with parameters', () => {
    for (const type of ['application/cloudevents+json', 'Application/CloudEvents+JSON;charset=utf-8', 'application/cloudevents+json ; charset="UTF-8"']) {
      expect(eventModeOf({ 'content-type': type }), type).to.equal('structured')
    }
  })

  it('is none for JSON, batches, broken media types and no headers at all', () => {
    for (const type of ['application/json', 'application/cloudevents-batch+json', 'application/cloudevents+json x', '']) {
      expect(isCloudEventRequest({ 'content-type': type }), type).to.equal(false)
    }
    expect(isCloudEventRequest({})).to.equal(false)
  })
})

describe('decoding binary events', () => {
  it('keeps the type of every JSON value', () => {
    for (const value of [2, 0, '', 'text', false, null, [], {}, [null], { a: { b: [1.5] } }]) {
      expect(binary({ 'content-type': 'application/json' }, JSON.stringify(value)).data).to.deep.equal(value)
    }
  })

  it('parses every JSON media type, whatever its spelling', () => {
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'APPLICATION/JSON', 'application/vnd.order+json', 'text/json']) {
      expect(binary({ 'content-type': type }, '{"a":1}').data, type).to.deep.equal({ a: 1 })
    }
  })

  it('reads text as text, and anything else as bytes', () => {
    expect(binary({ 'content-type': 'text/plain' }, 'ünïcode').data).to.equal('ünïcode')
    expect(binary({ 'content-type': 'application/octet-stream' }, '\u0001').data_base64).to.equal('AQ==')
    expect(binary({}, 'x').data_base64).to.equal('eA==')
  })

  it('gives no data for an empty body', () => {
    expect(binary({ 'content-type': 'application/json' })).to.not.have.any.keys('data', 'data_base64')
  })

  it('names what cannot be read', () => {
    expect(refusedAttribute(() => binary({ 'content-type': 'application/json' }, '{bad'))).to.equal('data')
    expect(refusedAttribute(() => binary({ 'content-type': 'application/json; charset=latin1' }, '1'))).to.equal('datacontenttype')
    expect(refusedAttribute(() => binary({ 'content-type': 'nonsense' }, 'x'))).to.equal('datacontenttype')
    expect(refusedAttribute(() => decodeHttp({
      headers: { ...BINARY, 'content-type': 'text/plain' }, body: Uint8Array.of(0xff),
    }))).to.equal('data')
  })

  it('decodes percent-encoded header values, and raw UTF-8 bytes that Node.js hands over as Latin-1', () => {
    expect(binary({ 'ce-subject': 'Euro%20%E2%82%AC%20%F0%9F%98%80' }).subject).to.equal('Euro € 😀')
    expect(binary({ 'ce-subject': Buffer.from('ünï').toString('latin1') }).subject).to.equal('ünï')
    expect(binary({ 'ce-subject': '100% of %zz' }).subject).to.equal('100% of %zz')
    expect(binary({ 'ce-subject': '"a \\"b\\""' }).subject).to.equal('a "b"')
  })

  it('refuses control characters and invalid UTF-8 in header values', () => {
    expect(refusedAttribute(() => binary({ 'ce-subject': 'a%0D%0Ax-injected: 1' }))).to.equal('subject')
    expect(refusedAttribute(() => binary({ 'ce-myext': '%00' }))).to.equal('myext')
    expect(refusedAttribute(() => binary({ 'ce-myext': '%FF' }))).to.equal('myext')
  })

  it('refuses names that no attribute has', () => {
    expect(refusedAttribute(() => binary({ 'ce-my-ext': '1' }))).to.equal('"my-ext"')
    expect(refusedAttribute(() => binary({ 'ce-data': '1' }))).to.equal('"data"')
    expect(refusedAttribute(() => binary({ 'ce-__proto__': '1' }))).to.equal('"__proto__"')
  })
})

describe('decoding structured events', () => {
  it('keeps falsy data', () => {
    for (const data of [0, false, '', null]) expect(structured({ ...REQUIRED, data })).to.have.property('data', data)
    expect(structured(REQUIRED)).to.not.have.property('data')
  })

  it('treats attributes that are null as not set', () => {
    expect(structured({ ...REQUIRED, subject: null, data_base64: null, data: 1 })).to.deep.equal({ ...REQUIRED, data: 1 })
    expect(refusedAttribute(() => structured({ ...REQUIRED, id: null }))).to.equal('id')
  })

  it('refuses data beside data_base64 and what is not base64', () => {
    expect(refusedAttribute(() => structured({ ...REQUIRED, data: 'x', data_base64: 'eA==' }))).to.equal('data_base64')
    for (const broken of ['eA=', 'e', '****', 'eA==\n', 5, 'eA-_']) {
      expect(refusedAttribute(() => structured({ ...REQUIRED, data_base64: broken })), String(broken)).to.equal('data_base64')
    }
  })

  it('refuses bodies that are no event', () => {
    for (const body of ['', '{', '[]', '1', 'null', '"x"', `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`]) {
      expect(refusedAttribute(() => structured(body)), body.slice(0, 20)).to.equal('body')
    }
    expect(refusedAttribute(() => decodeHttp({ headers: { 'content-type': 'application/cloudevents+json; charset=utf-16' }, body: Buffer.from('{}') }))).to.equal('body')
  })

  it('refuses extensions that are no text, 32-bit integer or boolean', () => {
    for (const value of [1.5, 2 ** 31, {}, [], -(2 ** 31) - 1]) {
      expect(refusedAttribute(() => structured({ ...REQUIRED, ext: value })), JSON.stringify(value)).to.equal('ext')
    }
    expect(structured({ ...REQUIRED, ext: 2 ** 31 - 1, flag: true })).to.include({ ext: 2 ** 31 - 1, flag: true })
  })

  it('keeps hostile names away from prototypes', () => {
    expect(refusedAttribute(() => structured('{"specversion":"1.0","id":"1","source":"s","type":"t","__proto__":{"polluted":1}}'))).to.equal('"__proto__"')
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
    expect(structured('{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"__proto__":1}}').data).to.have.own.property('__proto__', 1)
  })
})

describe('attributes of both modes', () => {
  const without = (name: string): unknown => Object.fromEntries(Object.entries(REQUIRED).filter(([key]) => key !== name))

  for (const name of ['specversion', 'source', 'type'] as const) {
    it(`needs ${name}, not empty`, () => {
      expect(refusedAttribute(() => structured(without(name)))).to.equal(name)
      expect(refusedAttribute(() => structured({ ...REQUIRED, [name]: '' }))).to.equal(name)
      expect(refusedAttribute(() => binary({ [`ce-${name}`]: '' }))).to.equal(name)
    })
  }

  it('accepts the versions 0.3 and 1.x', () => {
    for (const version of ['0.3', '1.0', '1.1']) expect(binary({ 'ce-specversion': version }).specversion).to.equal(version)
    for (const version of ['2.0', '0.9', '1', '1.0.0', 'x']) {
      expect(refusedAttribute(() => binary({ 'ce-specversion': version })), version).to.equal('specversion')
    }
  })

  it('keeps the time as text, and refuses what is no RFC 3339 instant', () => {
    for (const time of ['2018-04-05T17:31:00Z', '2018-04-05t17:31:00.123456789+01:00', '2024-02-29T00:00:00Z', '2016-12-31T23:59:60Z']) {
      expect(binary({ 'ce-time': time }).time).to.equal(time)
    }
    for (const time of ['yesterday', '2018-04-05T18:31Z', '2018-04-05T18:31:00+25:00', '2023-02-29T00:00:00Z', '2018-13-01T00:00:00Z',
      '2018-04-31T00:00:00Z', '2018-04-05T24:00:00Z', '2018-04-05', '2018-04-05 17:31:00Z', '1900-02-29T00:00:00Z']) {
      expect(refusedAttribute(() => binary({ 'ce-time': time })), time).to.equal('time')
    }
    expect(binary({})).to.not.have.property('time')
  })

  it('reads the words of version 0.3 into the one shape of records, and writes them back', () => {
    const event = structured({ ...REQUIRED, specversion: '0.3', schemaurl: '/schema', datacontentencoding: 'base64', data: 'eA==' })
    expect(event).to.deep.equal({ ...REQUIRED, specversion: '0.3', dataschema: '/schema', data_base64: 'eA==' })
    expect(encodeHttp(event, 'binary').headers).to.include({ 'ce-schemaurl': '/schema' })
    expect(JSON.parse(Buffer.from(encodeHttp(event, 'structured').body ?? []).toString()))
      .to.deep.equal({ ...REQUIRED, specversion: '0.3', schemaurl: '/schema', datacontentencoding: 'base64', data: 'eA==' })
    expect(refusedAttribute(() => structured({ ...REQUIRED, specversion: '0.3', datacontentencoding: 'gzip', data: 'x' }))).to.equal('datacontentencoding')
  })
})

describe('encoding', () => {
  it('adds no time, and a media type only where there is data', () => {
    expect(encodeHttp(REQUIRED, 'binary')).to.deep.equal({
      headers: { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' }, body: undefined,
    })
  })

  it('quotes texts that are JSON and not those that are text', () => {
    const body = (event: CloudEventRecord): string => Buffer.from(encodeHttp(event, 'binary').body ?? []).toString()
    expect(body({ ...REQUIRED, data: 'x' })).to.equal('"x"')
    expect(body({ ...REQUIRED, datacontenttype: 'text/plain', data: 'x' })).to.equal('x')
  })

  it('refuses a record that is no valid event', () => {
    expect(refusedAttribute(() => encodeHttp({ ...REQUIRED, type: '' }, 'binary'))).to.equal('type')
    expect(refusedAttribute(() => encodeHttp({ ...REQUIRED, BadName: 'x' }, 'structured'))).to.equal('"BadName"')
  })
})

describe('CloudEvent round trip', () => {
  const word = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text))
  const extensionName = fc.stringMatching(/^[a-z0-9]{1,20}$/).filter((name) => !(name in REQUIRED) &&
    !['data', 'time', 'subject', 'dataschema', 'datacontenttype', 'schemaurl', 'datacontentencoding'].includes(name))
  const attributes = fc.record({
    specversion: fc.constantFrom('0.3', '1.0', '1.2'),
    id: word,
    source: word,
    type: word,
    subject: fc.option(word, { nil: undefined }),
    dataschema: fc.option(word, { nil: undefined }),
    time: fc.constantFrom(undefined, '2018-04-05T17:31:00.5+02:00'),
  }).chain((core) => fc.dictionary(extensionName, word, { maxKeys: 4 }).map((extensions) =>
    Object.fromEntries(Object.entries({ ...extensions, ...core }).filter(([, value]) => value !== undefined)) as unknown as CloudEventRecord))
  const payload = fc.oneof(
    fc.constant({}),
    // −0 keeps its sign on the wire, so nothing has to be left out here.
    fc.jsonValue({ maxDepth: 4 }).map((data) => ({ datacontenttype: 'application/json', data: JSON.parse(JSON.stringify(data)) as never })),
    word.map((data) => ({ datacontenttype: 'text/plain; charset=utf-8', data })),
    fc.uint8Array({ minLength: 1 }).map((bytes) => ({ datacontenttype: 'application/octet-stream', data_base64: Buffer.from(bytes).toString('base64') })),
  )

  for (const mode of ['binary', 'structured'] as const) {
    it(`keeps every attribute and value in ${mode} mode`, () => {
      fc.assert(fc.property(attributes, payload, (core, data) => {
        const event = { ...core, ...data }
        // The media type is its own header: without data nothing needs it, with data it is the same text.
        expect(roundTrip(event, mode)).to.deep.equal(event)
      }))
    })
  }

  it('never ends in anything but an event or an EventError', () => {
    const headers = fc.dictionary(fc.constantFrom('ce-id', 'ce-type', 'ce-source', 'ce-specversion', 'ce-time', 'ce-x', 'content-type'), fc.string())
    fc.assert(fc.property(headers, fc.uint8Array(), (given, body) => {
      try {
        decodeHttp({ headers: given, body })
      } catch (error) {
        expect(error).to.be.instanceOf(EventError)
      }
    }))
  })
})
