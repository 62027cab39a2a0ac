import { expect } from 'chai'
import Koa from 'koa'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineFunction, event, cloudEvent, httpError, json, nothing, serve, text } from '../../../lib/function-runtime/index.ts'
import { binary, jsonBody, keptLog, send as sendTo, served, structured } from './harness.ts'

const Bean = { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' } } } as const
const FUNCTIONS = {
  bean: defineFunction({ input: json(Bean), output: json(Bean) }, (given) => given),
  string: defineFunction({ input: text, output: text }, (given) => given),
  maybe: defineFunction({ input: json({ type: ['object', 'null'] }), output: json({ type: ['object', 'null'] }) }, (given) => given),
  none: defineFunction({ input: nothing, output: text }, () => 'done'),
  silent: defineFunction({ input: nothing, output: nothing }, () => undefined),
  missing: defineFunction({ input: nothing, output: text }, () => { throw httpError(404, 'No order 17') }),
  teapot: defineFunction({ input: nothing, output: text }, () => { throw httpError(299, 'odd') }),
}
const code = (answer: { json(): unknown }): string => (answer.json() as { code: string }).code

describe('plain requests', () => {
  it('take JSON of every media type that ends in json', async () => {
    await using server = await served(FUNCTIONS)
    for (const type of ['application/json', 'Application/JSON;Charset="UTF-8"', 'application/vnd.x+json', 'application/problem+json; q=1']) {
      expect((await server.send('/bean', { headers: { 'content-type': type }, body: '{"n":1}' })).status, type).to.equal(200)
    }
    for (const type of ['text/plain', 'text/xml', 'text/json', 'application/cloudevents-batch+json', 'application/json; charset=latin1', 'nonsense']) {
      const answer = await server.send('/bean', { headers: { 'content-type': type }, body: '{"n":1}' })
      expect([answer.status, code(answer)], type).to.deep.equal([406, 'MEDIA_TYPE_UNSUPPORTED'])
    }
    expect((await server.send('/bean', { body: '{"n":1}' })).status).to.equal(406)
    expect((await server.send('/bean', { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: 'x' })).status).to.equal(406)
  })

  it('need an input unless null is allowed or none is taken', async () => {
    await using server = await served(FUNCTIONS)
    expect((await server.send('/bean', { method: 'POST' })).status).to.equal(400)
    expect((await server.send('/bean', jsonBody(null))).status).to.equal(400)
    expect((await server.send('/string', { method: 'POST', headers: { 'content-type': 'application/json' } })).status).to.equal(400)
    expect((await server.send('/maybe', jsonBody(null))).text).to.equal('null')
    expect((await server.send('/maybe', { method: 'POST' })).text).to.equal('null')
    expect((await server.send('/none', { method: 'POST' })).text).to.equal('"done"')
    expect((await server.send('/none')).text).to.equal('"done"')
  })

  it('warn when a body comes to a function without input, and ignore it', async () => {
    await using server = await served(FUNCTIONS)
    expect((await server.send('/silent', { headers: { 'content-type': 'application/json' }, body: '{bad' })).status).to.equal(204)
    expect(server.log.filter(({ msg }) => String(msg).includes('does not accept input'))).to.have.length(1)
  })

  it('name the place of what does not fit the schema', async () => {
    await using server = await served(FUNCTIONS)
    const answer = await server.send('/bean', jsonBody({ n: 'x', s: 1 }))
    expect(answer.status).to.equal(400)
    expect(answer.json()).to.deep.equal({
      message: 'The input of function bean is wrong: /n must be integer; /s must be string', code: 'FUNCTION_ARGUMENT_INVALID',
    })
    expect(code(await server.send('/bean', { headers: { 'content-type': 'application/json' }, body: '{bad' }))).to.equal('REQUEST_NOT_JSON')
  })

  it('pass on unknown properties, match names exactly, or without case when asked to', async () => {
    const loose = defineFunction({ name: 'loose', caseInsensitive: true, input: json(Bean), output: json(Bean) }, (given) => given)
    await using server = await served({ ...FUNCTIONS, loose })
    expect((await server.send('/bean', jsonBody({ N: 1, x: [1] }))).json()).to.deep.equal({ N: 1, x: [1] })
    expect((await server.send('/loose', jsonBody({ N: 1, X: 2 }))).json()).to.deep.equal({ n: 1, X: 2 })
    expect((await server.send('/loose?S=a')).json()).to.deep.equal({ s: 'a' })
  })

  it('refuse integers that have lost digits', async () => {
    await using server = await served(FUNCTIONS)
    const body = (digits: string): Parameters<typeof server.send>[1] => ({ headers: { 'content-type': 'application/json' }, body: `{"n":${digits}}` })
    expect((await server.send('/bean', body('9007199254740991'))).status).to.equal(200)
    expect((await server.send('/bean', body('9007199254740993'))).status).to.equal(400)
  })

  it('call objects by query only', async () => {
    await using server = await served(FUNCTIONS)
    expect((await server.send('/bean?n=5&s=a')).json()).to.deep.equal({ n: 5, s: 'a' })
    expect((await server.send('/bean')).json()).to.deep.equal({})
    expect((await server.send('/string?x=1')).status).to.equal(400)
    const head = await server.send('/bean?n=5', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-type']]).to.deep.equal([200, '', 'application/json'])
  })

  it('answer other methods with 405, and OPTIONS with what is allowed', async () => {
    await using server = await served(FUNCTIONS)
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await server.send('/bean', { ...jsonBody({}), method })
      expect([answer.status, answer.headers['allow'], code(answer)]).to.deep.equal([405, 'GET, POST', 'METHOD_NOT_ALLOWED'])
    }
    expect((await server.send('/bean', { ...binary({ type: 'bean' }, '{}'), method: 'PUT' })).status).to.equal(405)
    expect((await server.send('/bean', { method: 'OPTIONS' })).status).to.equal(204)
    expect((await server.send('/nosuch', { method: 'PUT' })).status).to.equal(404)
  })

  it('have the status of an httpError, in each form', async () => {
    await using server = await served(FUNCTIONS)
    for (const answer of [await server.send('/missing'), await server.send('/', binary({ type: 'missing' })), await server.send('/', structured({ type: 'missing' }))]) {
      expect([answer.status, answer.json(), answer.headers['ce-id']]).to.deep.equal([404, { message: 'No order 17', code: 'FUNCTION_FAILED' }, undefined])
    }
    expect((await server.send('/teapot')).status).to.equal(500)
  })

  it('go on to the next middleware when no function is meant, whose errors stay its own', async () => {
    const functions = serve(FUNCTIONS, { log: keptLog().log })
    const app = new Koa()
    app.silent = true
    app.use(functions)
    app.use((ctx) => {
      if (ctx.path === '/fails') ctx.throw(418, 'mine')
      if (ctx.path === '/mine') ctx.body = 'mine'
    })
    const handle = app.callback()
    const server = createServer((request, response) => { void handle(request, response) }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    expect((await sendTo(`${url}/mine`)).text).to.equal('mine')
    expect((await sendTo(`${url}/fails`)).status).to.equal(418)
    expect((await sendTo(`${url}/nosuch`)).json()).to.include({ code: 'ADDRESS_UNKNOWN' })
    expect((await sendTo(`${url}/none`)).text).to.equal('"done"')
    await functions.close()
    server.close()
    server.closeAllConnections()
  })
})

describe('event requests', () => {
  it('are decided by ce-id before the media type', async () => {
    await using server = await served(FUNCTIONS)
    const answer = await server.send('/', binary({ type: 'bean' }, '{"n":1}', 'application/cloudevents+json'))
    expect([answer.status, answer.headers['ce-type'], answer.json()]).to.deep.equal([200, 'bean.output', { n: 1 }])
  })

  it('may come by GET', async () => {
    await using server = await served(FUNCTIONS)
    const answer = await server.send('/', { ...binary({ type: 'silent' }), method: 'GET' })
    expect([answer.status, answer.headers['ce-id']]).to.deep.equal([204, undefined])
  })

  it('hold JSON where a JSON value is taken', async () => {
    await using server = await served(FUNCTIONS)
    for (const sent of [
      binary({ type: 'bean' }, '{"n":1}', 'text/plain'),
      binary({ type: 'bean' }, '{"n":1}', 'application/json; charset=latin1'),
      binary({ type: 'bean' }, '{bad'),
      binary({ type: 'bean' }, 'null'),
      binary({ type: 'bean' }),
      structured({ type: 'bean', datacontenttype: 'text/plain', data: '{"n":1}' }),
      structured({ type: 'bean', data: null }),
      structured({ type: 'bean', data: { n: 'x' } }),
      structured({ type: 'bean' }),
    ]) expect((await server.send('/', sent)).status, JSON.stringify(sent)).to.equal(400)
    expect((await server.send('/', structured({ type: 'bean', datacontenttype: 'application/json', data_base64: Buffer.from('{"n":1}').toString('base64') }))).status).to.equal(200)
    expect((await server.send('/', binary({ type: 'maybe' }))).text).to.equal('null')
  })

  it('hold a text as JSON or as text/*', async () => {
    await using server = await served(FUNCTIONS)
    expect((await server.send('/', binary({ type: 'string' }, '"ü"'))).json()).to.equal('ü')
    expect((await server.send('/', binary({ type: 'string' }, 'ü', 'text/plain; charset=utf-8'))).json()).to.equal('ü')
    expect((await server.send('/', binary({ type: 'string' }, '', 'text/plain'))).json()).to.equal('')
    expect((await server.send('/', structured({ type: 'string', datacontenttype: 'text/plain', data: 'x' }))).json()).to.include({ data: 'x' })
    for (const sent of [binary({ type: 'string' }, '5'), binary({ type: 'string' }, '<a/>', 'application/xml'), binary({ type: 'string' }, 'x', 'text/plain; charset=latin1')]) {
      expect((await server.send('/', sent)).status).to.equal(400)
    }
  })

  it('are answered with what event() sets, defaults for the rest, and nothing that was not set', async () => {
    const make = (attributes: Parameters<typeof event>[0]): object =>
      defineFunction({ name: 'f', input: nothing, output: cloudEvent(text), responseType: 'default-type' }, () => event<string>(attributes as { data?: string }))
    const answer = async (attributes: Parameters<typeof event>[0], sent: Parameters<typeof structured>[0] = {}): Promise<[Record<string, unknown>, unknown]> => {
      await using server = await served([make(attributes)])
      const inBody = (await server.send('/', structured(sent))).json() as Record<string, unknown>
      const inHeaders = await server.send('/', binary(sent as Record<string, string>))
      const headers = Object.fromEntries(Object.entries(inHeaders.headers).filter(([name]) => name.startsWith('ce-') && name !== 'ce-id'))
      return [inBody, [headers, inHeaders.headers['content-type'], inHeaders.text]]
    }
    const [inBody, inHeaders] = await answer({ id: 'i', time: '2018-04-05T17:31:00+01:00', ext: 5, flag: true, subject: 'ü', data: 'x', datacontenttype: 'text/plain' })
    expect(inBody).to.deep.equal({
      specversion: '1.0', id: 'i', source: 'f', type: 'default-type', time: '2018-04-05T17:31:00+01:00', ext: 5, flag: true, subject: 'ü',
      datacontenttype: 'text/plain', data: 'x',
    })
    expect(inHeaders).to.deep.equal([{
      'ce-specversion': '1.0', 'ce-source': 'f', 'ce-type': 'default-type', 'ce-time': '2018-04-05T17:31:00+01:00', 'ce-ext': '5', 'ce-flag': 'true', 'ce-subject': '%C3%BC',
    }, 'text/plain', 'x'])
    const [old] = await answer({ dataschema: '/schema' }, { specversion: '0.3' })
    expect(old).to.include({ specversion: '0.3', schemaurl: '/schema' }).and.not.have.property('dataschema')
  })

  it('end in 204 without attributes for null from an event output', async () => {
    await using server = await served([defineFunction({ name: 'f', input: nothing, output: cloudEvent(text) }, () => null)])
    for (const sent of [binary({}), structured({})]) {
      const answer = await server.send('/', sent)
      expect([answer.status, answer.text, answer.headers['ce-id']]).to.deep.equal([204, '', undefined])
    }
  })
})
