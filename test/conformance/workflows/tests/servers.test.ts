import { expect } from 'chai'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { load } from '@grpc/proto-loader'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CaseClock } from '../case-clock.ts'
import type { Fields } from '../case-file.ts'
import { decodeEvent, encodeEvent } from '../cloud-events.ts'
import { HttpCaller } from '../http-caller.ts'
import type { Answer } from '../match.ts'
import { compileBehaviour } from '../servers/behaviours.ts'
import { startBroker, type Broker } from '../servers/broker.ts'
import { startGrpcServer } from '../servers/grpc-server.ts'
import { fitOf, headerFits, pathFits, queryFits } from '../servers/request-fit.ts'
import { startStubServer, type StubServer } from '../servers/stub-server.ts'
import { Variables } from '../variables.ts'

const request = (more: Partial<Parameters<typeof fitOf>[1]> = {}): Parameters<typeof fitOf>[1] =>
  ({ method: 'POST', path: '/a', query: {}, headers: {}, text: '', body: undefined, ...more })

describe('conformance: what a stub asks of a request', () => {
  it('compares paths: exact, templates, a star at the end or alone', () => {
    expect(pathFits('/a.b', '/a.b')).to.equal(true)
    expect(pathFits('/a.b', '/axb')).to.equal(false)
    expect(pathFits('/a/{id}/c', '/a/1/c')).to.equal(true)
    expect(pathFits('/a/{id}', '/a/1/c')).to.equal(false)
    expect(pathFits('/quotes/*', '/quotes/1/2')).to.equal(true)
    expect(pathFits('*', '/anything')).to.equal(true)
  })

  it('compares queries as sets', () => {
    expect(queryFits({ b: '2', a: ['y', 'x'] }, { a: ['x', 'y'], b: ['2'] })).to.equal(true)
    expect(queryFits({ a: '1' }, { a: ['1'], b: ['2'] })).to.equal(false)
  })

  it('compares media types without regard to case and parameters nobody asked for', () => {
    expect(headerFits('Content-Type', 'application/json', { 'content-type': 'Application/JSON; charset=utf-8' })).to.equal(true)
    expect(headerFits('Content-Type', 'a/b; charset=UTF-8', { 'content-type': 'a/b' })).to.equal(false)
    expect(headerFits('X-A', '1', { 'x-a': '2' })).to.equal(false)
  })

  it('compares bodies: part, exact, text, pattern', () => {
    const must = (requestMust: Fields, text: string, body: unknown): string => fitOf({ method: 'post', path: '/a', requestMust }, request({ text, body }))
    expect(must({ body: { a: 1 } }, '', { a: 1, b: 2 })).to.equal('fits')
    expect(must({ bodyExactly: { a: 1 } }, '', { a: 1, b: 2 })).to.equal('differs')
    expect(must({ bodyText: 'x' }, 'x', 'x')).to.equal('fits')
    expect(must({ bodyEquals: 'a=1' }, 'a=1&b=2', undefined)).to.equal('differs')
    expect(must({ bodyMatches: 'a=1.*' }, 'a=1&b=2', undefined)).to.equal('fits')
    expect(() => must({ cookies: {} }, '', {})).to.throw('cookies')
  })

  it('tells wrong credentials from a wrong request', () => {
    const bearer = { method: 'POST', path: '/a', requestMust: { headers: { Authorization: 'Bearer T', 'X-A': '1' } } }
    expect(fitOf(bearer, request({ headers: { 'x-a': '1' } }))).to.equal('credentials')
    expect(fitOf(bearer, request({ headers: { authorization: 'Bearer T' } }))).to.equal('differs')
    const basic = { method: 'POST', path: '/a', requestMust: { basicAuth: 'u:p' } }
    expect(fitOf(basic, request({ headers: { authorization: `Basic ${Buffer.from('u:p').toString('base64')}` } }))).to.equal('fits')
    expect(fitOf(basic, request())).to.equal('credentials')
  })
})

describe('conformance: behaviours in words', () => {
  const RATES = 'query f, t; answers {"rate": r} with r = (1 / rates[f]) * rates[t]; one that is not in the table on either side gives 1.0'

  it('computes exchange rates', () => {
    const behave = compileBehaviour(RATES, { rates: { EUR: 1, USD: 1.0578 } })
    expect(behave(request({ query: { f: ['EUR'], t: ['USD'] } })).body).to.deep.equal({ rate: 1.0578 })
    expect(behave(request({ query: { f: ['EUR'], t: ['XXX'] } })).body).to.deep.equal({ rate: 1 })
  })

  it('answers an event that names the one that came in', () => {
    const behave = compileBehaviour('answers the CloudEvent {"id": "response-of-<id of the request>", "specversion": "1.0"}', {})
    expect(behave(request({ body: { id: 'x' } })).body).to.deep.equal({ id: 'response-of-x', specversion: '1.0' })
  })

  it('refuses words that it does not understand', () => {
    expect(() => compileBehaviour('does something clever', {})).to.throw('does something clever')
  })
})

describe('conformance: stub servers', () => {
  const http = new HttpCaller()
  const time = new CaseClock()
  const emitted: unknown[] = []
  let server: StubServer
  const start = async (mocks: readonly Fields[]): Promise<void> => {
    server = await startStubServer(mocks, {
      variables: new Variables('.'), clock: time.clock, hold: () => time.hold(), emit: (emit, locals) => { emitted.push({ emit, locals }) },
    })
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    http.send({ method: 'POST', url: `${server.url}${path}`, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

  afterEach(() => server.close())
  after(() => http.close())

  it('answers by the first mock that fits; 404 without, 401 when only credentials differ', async () => {
    await start([
      { method: 'POST', path: '/a', requestMust: { body: { k: 1 } }, response: { status: 201, headers: { 'X-Y': 'z' }, body: { got: '${request.body.k}' } } },
      { method: 'POST', path: '/a', requestMust: { headers: { Authorization: 'Bearer T' } }, response: { body: 'text' } },
    ])
    const first = await post('/a', { k: 1, more: 2 })
    expect([first.status, first.body, first.headers['x-y']]).to.deep.equal([201, { got: 1 }, 'z'])
    expect((await post('/a', {})).status).to.equal(401)
    expect((await post('/a', {}, { authorization: 'Bearer T' })).text).to.equal('text')
    expect((await post('/b', {})).status).to.equal(404)
    expect(server.requests.map(({ path }) => path)).to.deep.equal(['/a', '/a', '/a', '/b'])
  })

  it('lets later answers replace earlier ones', async () => {
    await start([{ method: 'POST', path: '/a', response: { status: 200 } }])
    server.respond([{ method: 'POST', path: '/a', response: { status: 500 } }])
    expect((await post('/a', {})).status).to.equal(500)
  })

  it('breaks the connection', async () => {
    await start([{ method: 'POST', path: '/a', response: { fault: 'connection reset by peer' } }])
    const error = await post('/a', {}).then(() => undefined, (thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error)
  })

  it('delays an answer on the clock of the case, which moves by itself meanwhile', async () => {
    await start([{ method: 'POST', path: '/a', response: { status: 200, delay: '2500ms' } }])
    const before = time.elapsed
    expect((await post('/a', {})).status).to.equal(200)
    expect(time.elapsed - before).to.equal(2500)
  })

  it('emits after it has answered', async () => {
    await start([{ method: 'POST', path: '/a', response: { status: 200 }, then: [{ emit: { type: 't' } }] }])
    await post('/a', { id: 5 })
    expect(emitted).to.have.nested.property('[0].emit.type', 't')
    expect(emitted).to.have.nested.property('[0].locals.request.body.id', 5)
  })

  it('holds a behaviour to its checks', async () => {
    const mock = { method: 'GET', path: '/', response: {}, behaviour: 'answers {"a": 1}', checks: [{ query: {}, body: { a: 2 } }] }
    await start([])
    const error = await startStubServer([mock], { variables: new Variables('.'), clock: time.clock, hold: () => () => undefined, emit: () => undefined })
      .then(() => undefined, (thrown: unknown) => thrown)
    expect(String(error)).to.contain('checks')
  })

  it('refuses a mock with a property that it does not know', async () => {
    await start([])
    const error = await startStubServer([{ method: 'GET', path: '/', responses: [] }], { variables: new Variables('.'), clock: time.clock, hold: () => () => undefined, emit: () => undefined })
      .then(() => undefined, (thrown: unknown) => thrown)
    expect(String(error)).to.contain('responses')
  })
})

describe('conformance: events', () => {
  const event = { specversion: '1.0', id: '1', source: '/s', type: 't', ext: 'ü', data: { a: 1 } }

  it('travel structured and binary', () => {
    for (const mode of ['structured', 'binary'] as const) {
      const { headers, body } = encodeEvent(event, mode)
      const decoded = decodeEvent({ method: 'POST', path: '/', query: {}, headers, text: body, body: JSON.parse(body) as unknown })
      expect(decoded).to.deep.include(event)
    }
  })

  it('get a source where the origin leaves it empty', () => {
    expect(JSON.parse(encodeEvent({ ...event, source: '' }, 'structured').body)).to.have.property('source').that.is.not.equal('')
  })

  describe('at the broker', () => {
    const http = new HttpCaller()
    const reacted: unknown[] = []
    let broker: Broker
    before(async () => {
      broker = await startBroker({
        outgoing: new Set(['all-events']),
        reactions: [{ pattern: { channel: 't' }, react: (got) => { reacted.push(got) } }],
      })
      for (const data of [1, 2]) {
        await http.send({ method: 'POST', url: `${broker.url}/`, ...encodeEvent({ ...event, id: String(data), data: { n: data } }, 'binary') })
      }
    })
    after(async () => {
      await http.close()
      await broker.close()
    })

    it('are found by type as channel, by default channel, by match, each once', () => {
      const variables = new Variables('.')
      expect(broker.take({ channel: 'other' }, variables)).to.equal(undefined)
      expect(broker.take({ channel: 't', match: { 'data.n': 2, id: '$capture:seen' } }, variables)).to.have.property('id', '2')
      expect(variables.get('seen')).to.equal('2')
      expect(broker.take({ channel: 'all-events', type: 't' }, variables)).to.have.property('id', '1')
      expect(broker.take({ channel: 't' }, variables)).to.equal(undefined)
    })

    it('cause what onEvent says', () => {
      expect(reacted).to.have.length(2)
    })
  })
})

type Answered = (error: Error | null, value: unknown) => void

interface GreeterClient {
  SayHello(request: object, answered: Answered): void
  SayHelloMultipleLanguagesAtOnce(answered: Answered): { write(value: object): void; end(): void }
  close(): void
}

describe('conformance: gRPC server', () => {
  it('greets as the cases say, also in streams', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proto-'))
    const path = join(folder, 'greeting.proto')
    await writeFile(path, `syntax = "proto3";
      service Greeter {
        rpc SayHello (HelloRequest) returns (HelloReply) {}
        rpc SayHelloMultipleLanguagesAtOnce (stream HelloRequest) returns (HelloReply) {}
      }
      message HelloRequest { string name = 1; string language = 2; }
      message HelloReply { string message = 1; }`)
    const server = await startGrpcServer(path)
    const Greeter = loadPackageDefinition(await load(path))['Greeter'] as ServiceClientConstructor
    const client = new Greeter(`127.0.0.1:${server.port}`, credentials.createInsecure()) as unknown as GreeterClient
    const reply = await new Promise((resolve, reject) => {
      client.SayHello({ name: 'X', language: 'Spanish' }, (error, value) => { error === null ? resolve(value) : reject(error) })
    })
    const joined = await new Promise((resolve, reject) => {
      const call = client.SayHelloMultipleLanguagesAtOnce((error, value) => { error === null ? resolve(value) : reject(error) })
      call.write({ name: 'A' })
      call.write({ name: 'B' })
      call.end()
    })
    client.close()
    await server.close()
    await rm(folder, { recursive: true })
    expect(reply).to.deep.equal({ message: 'Saludos desde gRPC service X' })
    expect(joined).to.deep.equal({ message: 'Hello from gRPC service A\nHello from gRPC service B' })
  })
})
