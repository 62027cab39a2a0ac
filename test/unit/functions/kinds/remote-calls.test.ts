import { expect } from 'chai'
import type { Json } from '../../../../lib/common/index.ts'
import { DefinitionError, FunctionError } from '../../../../lib/errors/index.ts'
import type { FunctionCall, FunctionResult, FunctionScope } from '../../../../lib/functions/index.ts'
import type { FunctionDefinition } from '../../../../lib/definition/index.ts'
import { callOf, createTestCompiler, respond, startRecordingServer, type Recorded, type RecordingServer } from '../support.ts'


describe('functions/kinds: calls over HTTP', () => {
  let server: RecordingServer
  let port: string
  beforeEach(async () => {
    server = await startRecordingServer()
    port = new URL(server.url).port
  })
  afterEach(() => server.close())

  async function invoke(
    definition: Partial<FunctionDefinition> & Pick<FunctionDefinition, 'operation'>,
    call: FunctionCall,
    config: Readonly<Record<string, unknown>> = {},
    scope: Partial<FunctionScope> = {},
  ): Promise<FunctionResult> {
    await using compiler = await createTestCompiler({ config: { 'sonatina.functions.f.port': port, ...config } })
    return await (await compiler.compile(definition, scope)).invoke(call)
  }

  const last = (): Recorded => server.requests.at(-1)!
  const bodyOf = ({ body }: Recorded): Json => JSON.parse(body.toString()) as Json
  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

  describe('rest:METHOD:address', () => {
    it('fills the path, sorts HEADER_ and QUERY_, and sends the rest as body', async () => {
      await invoke({ operation: 'rest:post:/publish/{type}/{number}' }, callOf({ type: 'odd/even', number: 1, HEADER_Test: 'x', QUERY_q: ['a b', 2], left: { over: true } }))
      expect(last().method).to.equal('POST')
      expect(last().target).to.equal('/publish/odd%2Feven/1?q=a%20b&q=2')
      expect(last().headers).to.include({ test: 'x', 'content-type': 'application/json', accept: 'application/json', wfprocid: 'orders', 'idempotency-key': 'i-1:e1:t1' })
      expect(bodyOf(last())).to.deep.equal({ left: { over: true } })
    })

    it('sends the data of the action when there are no arguments, and nothing with GET', async () => {
      await invoke({ operation: 'rest:post:/patient' }, callOf(undefined, { data: { name: 'Yoda' } }))
      expect(bodyOf(last())).to.deep.equal({ name: 'Yoda' })
      await invoke({ operation: 'rest:get:/numbers?bound=10' }, callOf(undefined, { data: { name: 'Yoda' } }))
      expect(last().target).to.equal('/numbers?bound=10')
      expect(last().body.length).to.equal(0)
    })

    it('calls an absolute address, and takes host and port of all functions where one has none', async () => {
      await invoke({ operation: `rest:get:${server.url}/name` }, callOf({}), { 'sonatina.functions.f.port': '1' })
      expect(last().target).to.equal('/name')
      await invoke({ operation: 'rest:get:/shared', name: 'other' }, callOf({}), { 'kogito.sw.functions.port': port })
      expect(last().target).to.equal('/shared')
      await invoke({ operation: 'rest:get:/by-metadata', metadata: { port: Number(port) } }, callOf({}), { 'sonatina.functions.f.port': '1' })
      expect(last().target).to.equal('/by-metadata')
    })

    it('authorizes by settings, and metadata wins', async () => {
      await invoke({ operation: 'rest:get:/a' }, callOf({}), { 'sonatina.functions.f.username': 'ü', 'sonatina.functions.f.password': 'p:w' })
      expect(last().headers.authorization).to.equal(`Basic ${Buffer.from('ü:p:w').toString('base64')}`)
      await invoke({ operation: 'rest:get:/a' }, callOf({ HEADER_Authorization: 'mine' }), { 'sonatina.functions.f.access_token': 'tok' })
      expect(last().headers.authorization).to.equal('Bearer tok')
      await invoke({ operation: 'rest:get:/a', metadata: { api_key: 'k2' } }, callOf({}), { 'sonatina.functions.f.api_key': 'k1', 'sonatina.functions.f.api_key_prefix': 'Key' })
      expect(last().headers['x-api-key']).to.equal('Key k2')
    })

    it('gives a status as the result when metadata says so', async () => {
      server.answer = (_request, response) => { respond(response, 404, { reason: 'none' }) }
      expect(await failure(invoke({ operation: 'rest:get:/x' }, callOf({})))).to.include({ code: 'REST_STATUS', status: 404, message: '{"reason":"none"}' })
      const result = await invoke({ operation: 'rest:get:/x', metadata: { failOnStatusCode: false } }, callOf({}))
      expect(result).to.have.nested.property('response.statusCode', 404)
      expect(result.output).to.deep.equal({ reason: 'none' })
    })

    for (const args of [{ id: '..' }, { id: '' }, { id: 'a\r\nb' }, { id: null }, {}, { id: 'a', HEADER_X: 'a\r\nY: b' }, { 'id': 'a', 'HEADER_a b': 'x' }, { id: 'a', HEADER_X: '日' }]) {
      it(`refuses ${JSON.stringify(args)} before anything is sent`, async () => {
        expect(await failure(invoke({ operation: 'rest:get:/orders/{id}' }, callOf(args)))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
        expect(server.requests).to.have.length(0)
      })
    }

    for (const operation of ['rest:', 'rest:get', 'rest:get:', 'rest:fetch:/x', 'rest:get:http://{host}/x', 'rest:get:http://u:p@host/x', 'rest:get:http://']) {
      it(`refuses the operation ${operation} at load`, async () => {
        expect(await failure(invoke({ operation }, callOf({})))).to.be.instanceOf(DefinitionError)
      })
    }

    it('names neither address nor port when the service is away', async () => {
      await server.close()
      const error = await failure(invoke({ operation: 'rest:get:/x' }, callOf({})))
      expect(error).to.be.instanceOf(FunctionError).with.property('code', 'FUNCTION_FAILED')
      expect(JSON.stringify(error) + String(error)).not.to.include(port)
    })
  })

  describe('knative', () => {
    const service = 'services.v1.serving.knative.dev/default/greeting'
    const config = (): Record<string, string> => ({ 'sonatina.knative.services.default/greeting.url': server.url })

    it('posts arguments as JSON and gets with a query', async () => {
      await invoke({ operation: `knative:${service}?path=/plain` }, callOf({ array: ['Javierito', 'Pepito'] }), config())
      expect([last().method, last().target, bodyOf(last())]).to.deep.equal(['POST', '/plain', { array: ['Javierito', 'Pepito'] }])
      await invoke({ operation: `knative:${service}?path=/plain&method=GET` }, callOf({ name: 'h b', HEADER_Authorization: 'Bearer token' }), config())
      expect([last().method, last().target, last().headers.authorization, last().body.length]).to.deep.equal(['GET', '/plain?name=h%20b', 'Bearer token', 0])
      await invoke({ operation: `knative:${service}?path=/plain&method=POST` }, callOf({ QUERY_a: 1, b: 2 }), config())
      expect([last().target, bodyOf(last())]).to.deep.equal(['/plain?a=1', { b: 2 }])
    })

    it('sends a CloudEvent in structured mode, with an id of its own when none is given', async () => {
      const event = { specversion: '1.0', source: 'org.acme.source', type: 'test', data: { value: 1 }, HEADER_Test: 'test' }
      await invoke({ operation: `knative:${service}?asCloudEvent=true&path=/cloud-event` }, callOf(event), config())
      expect(last().headers).to.include({ 'content-type': 'application/cloudevents+json; charset=UTF-8', test: 'test' })
      expect(bodyOf(last())).to.deep.equal({ specversion: '1.0', id: 'org.acme.source_i-1', source: 'org.acme.source', type: 'test', data: { value: 1 } })
      await invoke({ operation: `knative:${service}?asCloudEvent=true&path=/cloud-event` }, callOf({ ...event, id: '42' }), config())
      expect(bodyOf(last())).to.include({ id: '42' })
    })

    it('fails for an event without type, and refuses an event that is not sent as one', async () => {
      const event = { specversion: '1.0', source: 's' }
      expect(await failure(invoke({ operation: `knative:${service}?asCloudEvent=true&path=/x` }, callOf(event), config()))).to.include({ code: 'FUNCTION_FAILED' })
      expect(await failure(invoke({ operation: `knative:${service}?path=/x` }, callOf({ ...event, type: 't' }), config()))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
      expect(server.requests).to.have.length(0)
    })

    it('merges an answer that only claims to be an event as JSON', async () => {
      server.answer = (_request, response) => { response.writeHead(200, { 'content-type': 'application/cloudevents+json; charset=UTF-8' }).end('{"message":"m","object":"{ \\"long\\": 42 }"}') }
      expect((await invoke({ operation: `knative:${service}?asCloudEvent=true` }, callOf({ source: 's', type: 't' }), config())).output).to.deep.equal({ message: 'm', object: '{ "long": 42 }' })
    })

    it('takes an address, a short name, and refuses what has neither namespace nor setting', async () => {
      await invoke({ operation: `knative:${server.url}?path=/direct` }, callOf({}))
      expect(last().target).to.equal('/direct')
      await invoke({ operation: 'knative:greeting?path=/short' }, callOf({}), { 'sonatina.knative.services.greeting.url': server.url })
      expect(last().target).to.equal('/short')
      expect(await failure(invoke({ operation: 'knative:greeting' }, callOf({})))).to.be.instanceOf(DefinitionError).with.property('message').that.includes('SONATINA_KNATIVE_SERVICES_GREETING_URL')
      expect(await failure(invoke({ operation: `knative:${service}?method=PUT` }, callOf({})))).to.be.instanceOf(DefinitionError)
      expect(await failure(invoke({ operation: `knative:${service}?pth=/x` }, callOf({})))).to.be.instanceOf(DefinitionError)
    })
  })

  describe('graphql', () => {
    const graphql = (kind = 'query', metadata = {}): Partial<FunctionDefinition> & { operation: string } =>
      ({ type: 'graphql', operation: `${server.url}/pets/graphql#${kind}#pet`, metadata })

    it('writes arguments and selection set into the operation and gives the data', async () => {
      server.answer = (_request, response) => { respond(response, 200, { data: { pet: { id: 42, name: 'Snuffles' } } }) }
      const args = { id: 42, text: 'say "hi"\n', list: [1, null], filter: { deep: { a: true } } }
      const result = await invoke(graphql(), callOf(args, { selectionSet: '{ id, name, favoriteTreat { id } }' }))
      expect(result.output).to.deep.equal({ pet: { id: 42, name: 'Snuffles' } })
      expect(last().target).to.equal('/pets/graphql')
      expect(bodyOf(last())).to.deep.equal({
        query: 'query { pet(id: 42, text: "say \\"hi\\"\\n", list: [1, null], filter: {deep: {a: true}}) { id, name, favoriteTreat { id } } }',
      })
    })

    it('sends declared arguments as variables', async () => {
      server.answer = (_request, response) => { respond(response, 200, { data: { pet: null } }) }
      await invoke(graphql('mutation', { variables: { status: 'Status!' } }), callOf({ status: 'NEW', n: 1 }, { selectionSet: '{ id }' }))
      expect(bodyOf(last())).to.deep.equal({ query: 'mutation ($status: Status!) { pet(status: $status, n: 1) { id } }', variables: { status: 'NEW' } })
    })

    it('fails with the messages of errors', async () => {
      server.answer = (_request, response) => { respond(response, 200, { data: null, errors: [{ message: 'no such pet' }, { message: 'really' }] }) }
      expect(await failure(invoke(graphql(), callOf({ id: 1 }, { selectionSet: '{ id }' })))).to.have.property('message').that.includes('no such pet; really')
    })

    for (const selectionSet of ['{ id } } mutation { drop { x }', '{ id', 'id', '{ id } { id }', '{ id # }\n}']) {
      it(`refuses the selection set ${JSON.stringify(selectionSet)}`, async () => {
        expect(await failure(invoke(graphql(), callOf({ id: 1 }, { selectionSet })))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
      })
    }

    it('refuses names that GraphQL does not have, subscriptions and malformed operations', async () => {
      expect(await failure(invoke(graphql(), callOf({ 'a) { x } #': 1 })))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
      expect(await failure(invoke(graphql('subscription'), callOf({})))).to.include({ code: 'DEFINITION_UNSUPPORTED' })
      expect(await failure(invoke({ type: 'graphql', operation: 'http://h/graphql#pet' }, callOf({})))).to.include({ code: 'DEFINITION_INVALID' })
    })
  })

  describe('odata', () => {
    const odata = { type: 'odata' as const }
    const operation = (): string => `${server.url}/v4/odata.svc#Trips`

    for (const [args, target] of [
      [{}, '/v4/odata.svc/Trips'],
      [{ key: 42 }, '/v4/odata.svc/Trips(42)'],
      [{ key: '42' }, '/v4/odata.svc/Trips(42)'],
      [{ key: "O'Neil/x" }, "/v4/odata.svc/Trips('O''Neil%2Fx')"],
      [{ key: 'f47ac10b-58cc-4372-a567-0e02b2c3d479' }, '/v4/odata.svc/Trips(f47ac10b-58cc-4372-a567-0e02b2c3d479)'],
      [{ key: { a: 1, b: 'x' } }, "/v4/odata.svc/Trips(a=1,b='x')"],
      [{ queryOptions: { filter: "name eq 'a&b'", orderBy: 'x desc', orderby: null, top: 5, count: true } }, '/v4/odata.svc/Trips?$filter=name%20eq%20%27a%26b%27&$orderby=x%20desc&$top=5&$count=true'],
    ] as const) {
      it(`reads ${JSON.stringify(args)}`, async () => {
        server.answer = (_request, response) => { respond(response, 200, { value: [1] }) }
        expect((await invoke({ ...odata, operation: operation() }, callOf(args))).output).to.deep.equal({ value: [1] })
        expect([last().method, last().target]).to.deep.equal(['GET', target])
      })
    }

    it('refuses unknown arguments and options', async () => {
      expect(await failure(invoke({ ...odata, operation: operation() }, callOf({ id: 1 })))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
      expect(await failure(invoke({ ...odata, operation: operation() }, callOf({ queryOptions: { limit: 1 } })))).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
      expect(await failure(invoke({ ...odata, operation: 'http://h/x' }, callOf({})))).to.be.instanceOf(DefinitionError)
    })
  })
})

