import { expect } from 'chai'
import { behaviours, eventDefinition, fakeDefinition } from '../../../support/fake-host.ts'
import { openBench, send, type Bench } from '../setup.ts'

describe('server/routes/instances', () => {
  let bench: Bench
  beforeEach(async () => { bench = await openBench() })
  afterEach(() => bench.close())
  const waiting = async (data: object = { a: 1 }): Promise<string> => {
    bench.host.behaviours.set('hello', behaviours.waits('x'))
    const { json } = await bench.send('POST', '/hello', { body: data })
    bench.host.behaviours.delete('hello')
    return (json as { id: string }).id
  }
  const inputOf = async (body: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
    const answer = await bench.send('POST', '/hello', { body, headers })
    expect(answer.status, answer.text).to.equal(201)
    return bench.host.starts.at(-1)?.input
  }

  describe('POST', () => {
    it('answers 201 with id, data and an absolute Location', async () => {
      const { status, json, headers } = await bench.send('POST', '/hello', { body: { a: 1 } })
      expect(status).to.equal(201)
      expect(json).to.deep.equal({ id: 'id-2', workflowdata: { a: 1 } })
      expect(headers.location).to.equal(`http://127.0.0.1:${String(bench.port)}/hello/id-2`)
      expect(headers['content-type']).to.equal('application/json; charset=utf-8')
    })

    it('takes the whole object, or its member workflowdata, as data', async () => {
      expect(await inputOf({ a: 1 })).to.deep.equal({ a: 1 })
      expect(await inputOf({ workflowdata: { b: 2 }, other: 1 })).to.deep.equal({ b: 2 })
      expect(await inputOf({ workflowdata: '' })).to.deep.equal({})
      expect(await inputOf({ workflowdata: null })).to.deep.equal({})
      expect(await inputOf(undefined)).to.deep.equal({})
      expect(await inputOf('', { 'content-type': 'application/json' })).to.deep.equal({})
      expect(await inputOf('null', { 'content-type': 'application/json' })).to.deep.equal({})
    })

    const mediaTypes = ['application/json', 'Application/JSON', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"; x=y', 'application/vnd.acme+json', 'application/problem+json']
    for (const type of mediaTypes) it(`reads ${type}`, async () => { expect(await inputOf('{"a":1}', { 'content-type': type })).to.deep.equal({ a: 1 }) })

    it('reads a body without media type as JSON, and needs none for an empty one', async () => {
      expect(await inputOf('{"a":1}')).to.deep.equal({ a: 1 })
      expect(await inputOf('', { 'content-type': 'text/plain' })).to.deep.equal({})
      expect(await inputOf('{"a":1}', { 'content-encoding': 'identity' })).to.deep.equal({ a: 1 })
    })

    it('skips a byte order mark and keeps lone surrogates that are escaped', async () => {
      expect(await inputOf('\ufeff{"a":1}')).to.deep.equal({ a: 1 })
      expect(await inputOf('{"a":"\\ud800"}')).to.deep.equal({ a: '\ud800' })
    })

    it('keeps __proto__ and constructor as data', async () => {
      const { text } = await bench.send('POST', '/hello', { body: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}}}' })
      expect(text).to.include('"workflowdata":{"__proto__":{"polluted":1},"constructor":{"prototype":{"x":1}}}')
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
    })

    it('hands on business key, reference, start state and headers, in both spellings', async () => {
      await bench.send('POST', '/hello?businessKey=k%201', { body: {}, headers: { 'X-KOGITO-StartFromNode': 'Compute', 'X-KOGITO-ReferenceId': 'r', 'X-Custom': 'c' } })
      expect(bench.host.starts.at(-1)).to.deep.include({ workflowId: 'hello', version: '1.0', businessKey: 'k 1', startFrom: 'Compute', referenceId: 'r' })
      expect(bench.host.starts.at(-1)?.headers).to.include({ 'x-custom': 'c', 'x-request-id': 'id-1' })
      await bench.send('POST', '/hello', { body: {}, headers: { 'X-Sonatina-Start-From-State': 'Compute', 'X-Sonatina-Reference-Id': 'q' } })
      expect(bench.host.starts.at(-1)).to.deep.include({ startFrom: 'Compute', referenceId: 'q' })
    })

    it('starts one instance for one Idempotency-Key', async () => {
      const post = (): Promise<{ json: unknown; headers: { location?: string | undefined } }> => bench.send('POST', '/hello', { body: { a: 1 }, headers: { 'idempotency-key': 'k' } })
      const [first, second] = [await post(), await post()]
      expect(second.json).to.deep.equal(first.json)
      expect(second.headers.location).to.equal(first.headers.location)
      expect(bench.host.instances.size).to.equal(1)
    })

    it('makes Location from the configured address, and without a valid Host from the path alone', async () => {
      const other = await openBench({ serviceUrl: 'https://flows.example', rootPath: '/api' })
      try {
        expect((await other.send('POST', '/api/hello', { body: {} })).headers.location).to.equal('https://flows.example/api/hello/id-2')
      } finally {
        await other.close()
      }
      expect((await bench.send('POST', '/hello', { body: {}, headers: { host: 'a b' } })).headers.location).to.equal('/hello/id-2')
    })

    it('takes the request id of the caller or makes one, and echoes it', async () => {
      expect((await bench.send('POST', '/hello', { body: {}, headers: { 'x-request-id': 'mine' } })).headers['x-request-id']).to.equal('mine')
      expect((await bench.send('POST', '/hello', { body: {}, headers: { 'x-request-id': 'a b' } })).headers['x-request-id']).to.match(/^id-/)
    })
  })

  describe('Prefer', () => {
    it('answers 202 at once for respond-async', async () => {
      bench.host.behaviours.set('hello', (request, record) => ({ ...record, status: request.respondAsync === true ? 'active' : 'completed' }))
      const { status, headers, json } = await bench.send('POST', '/hello', { body: {}, headers: { prefer: 'respond-async' } })
      expect(status).to.equal(202)
      expect(headers['preference-applied']).to.equal('respond-async')
      expect((await bench.send('GET', new URL(headers.location ?? '').pathname)).json).to.deep.equal(json)
    })

    it('waits as long as asked for, and says 201 when that was enough', async () => {
      bench.host.behaviours.set('hello', (request, record) => ({ ...record, status: request.answerTimeout === 2000 ? 'completed' : 'active' }))
      const done = await bench.send('POST', '/hello', { body: {}, headers: { prefer: 'respond-async, wait=2' } })
      expect([done.status, done.headers['preference-applied']]).to.deep.equal([201, 'respond-async, wait=2'])
      expect((await bench.send('POST', '/hello', { body: {}, headers: { prefer: 'respond-async, wait=1' } })).status).to.equal(202)
      expect((await bench.send('POST', '/hello', { body: {}, headers: { prefer: 'wait=1' } })).status).to.equal(201)
    })

    it('keeps to the answer limit of the settings', async () => {
      const limited = await openBench({ answerTimeout: 500 })
      try {
        await limited.send('POST', '/hello', { body: {} })
        await limited.send('POST', '/hello', { body: {}, headers: { prefer: 'wait=9' } })
        expect(limited.host.starts.map(({ answerTimeout }) => answerTimeout)).to.deep.equal([500, 500])
      } finally {
        await limited.close()
      }
    })
  })

  describe('live instances', () => {
    it('are listed newest first, those in error too, those that ended not', async () => {
      const first = await waiting()
      await bench.send('POST', '/hello', { body: {} })
      bench.host.behaviours.set('hello', behaviours.fails({}))
      const failed = (await bench.send('POST', '/hello', { body: { b: 1 } })).json as { id: string }
      expect((await bench.send('GET', '/hello')).json).to.deep.equal([{ id: failed.id, workflowdata: { b: 1 } }, { id: first, workflowdata: { a: 1 } }])
    })

    it('are listed up to the limit', async () => {
      const limited = await openBench({ instancesLimit: 2 })
      try {
        limited.host.behaviours.set('hello', behaviours.waits('x'))
        for (let n = 0; n < 3; n++) await limited.send('POST', '/hello', { body: { n } })
        expect((await limited.send('GET', '/hello')).json).to.have.length(2)
      } finally {
        await limited.close()
      }
    })

    it('are read, replaced, merged, aborted, and then gone', async () => {
      const id = await waiting({ a: { b: 1, c: [1] }, d: 1 })
      const call = async (method: string, body?: unknown): Promise<unknown> => (await bench.send(method, `/hello/${id}`, body === undefined ? {} : { body })).json
      expect(await call('GET')).to.deep.equal({ id, workflowdata: { a: { b: 1, c: [1] }, d: 1 } })
      expect(await call('PATCH', { a: { c: [2], e: null } })).to.deep.equal({ id, workflowdata: { a: { b: 1, c: [2], e: null }, d: 1 } })
      expect(await call('PUT', { workflowdata: { x: 1 } })).to.deep.equal({ id, workflowdata: { x: 1 } })
      expect((await bench.send('PATCH', `/hello/${id}`)).status).to.equal(200)
      expect((await bench.send('GET', `/hello/${id}/tasks`)).json).to.deep.equal([])
      expect(await call('DELETE')).to.deep.equal({ id, workflowdata: { x: 1 } })
      for (const method of ['GET', 'DELETE']) expect((await bench.send(method, `/hello/${id}`)).status).to.equal(404)
      expect((await bench.send('GET', `/hello/${id}/tasks`)).status).to.equal(404)
    })

    it('belong to their definition alone', async () => {
      bench.catalogue.add(fakeDefinition('other'))
      expect((await bench.send('GET', `/other/${await waiting()}`)).status).to.equal(404)
    })
  })

  it('gives the input schema as loaded, or one that allows every object', async () => {
    const schema = { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', required: ['a'] }
    bench.catalogue.add(fakeDefinition('typed', { dataInputSchema: { schema, failOnValidationErrors: true } }))
    expect((await bench.send('GET', '/typed/schema')).json).to.deep.equal(schema)
    expect((await bench.send('GET', '/hello/schema')).json).to.deep.equal({ type: 'object' })
  })

  it('answers HEAD like GET without body, OPTIONS with the methods there are', async () => {
    const head = await bench.send('HEAD', '/hello')
    expect([head.status, head.text, head.headers['content-length']]).to.deep.equal([200, '', '2'])
    const allow = async (path: string): Promise<[number, string | undefined]> => {
      const { status, headers } = await bench.send('OPTIONS', path)
      return [status, headers.allow]
    }
    bench.catalogue.add(eventDefinition('ev', 'x'))
    expect(await allow('/hello')).to.deep.equal([204, 'GET, HEAD, POST, OPTIONS'])
    expect(await allow('/ev')).to.deep.equal([204, 'GET, HEAD, OPTIONS'])
    expect(await allow('/hello/i')).to.deep.equal([204, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'])
    expect(await allow('/hello/schema')).to.deep.equal([204, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'])
    expect(await allow('/')).to.deep.equal([204, 'POST, OPTIONS'])
    expect(await allow('/q/health')).to.deep.equal([204, 'GET, HEAD, OPTIONS'])
    expect((await bench.send('OPTIONS', '/nothing')).status).to.equal(404)
  })

  it('follows definitions that come and go', async () => {
    expect((await bench.send('POST', '/later', { body: {} })).status).to.equal(404)
    bench.catalogue.add(fakeDefinition('later'))
    expect((await bench.send('POST', '/later', { body: {} })).status).to.equal(201)
    bench.catalogue.remove('later')
    expect((await bench.send('POST', '/later', { body: {} })).status).to.equal(404)
  })

  it('takes uploaded definitions only when that is switched on', async () => {
    expect((await bench.send('POST', '/new/definition', { body: '{}' })).status).to.equal(404)
    const taken: { uri: string; text: string }[] = []
    const open = await openBench({ upload: true }, { deploy: (source) => { taken.push(source); open.catalogue.add(fakeDefinition('new')); return Promise.resolve() } })
    try {
      const { status, json } = await open.send('POST', '/new/definition', { body: 'id: new', headers: { 'content-type': 'text/plain' } })
      expect([status, json]).to.deep.equal([200, { id: 'new', version: '1.0' }])
      expect(taken).to.deep.equal([{ uri: 'upload:new.sw.yaml', text: 'id: new' }])
      expect((await open.send('POST', '/new', { body: {} })).status).to.equal(201)
    } finally {
      await open.close()
    }
  })

  it('does not stop an instance whose caller went away', async () => {
    let finish = (): void => undefined
    bench.host.behaviours.set('hello', (_request, record) => new Promise((resolve) => { finish = () => { resolve({ ...record, status: 'waiting' }) } }))
    const call = send(bench.port, 'POST', '/hello', { body: {} }).catch(() => undefined)
    await new Promise<void>((resolve) => { setImmediate(function look() { if (bench.host.instances.size > 0) resolve(); else setImmediate(look) }) })
    finish()
    await call
    expect((await bench.send('GET', '/hello')).json).to.have.length(1)
  })
})
