import { expect } from 'chai'
import { HostError, RequestError } from '../../../lib/errors/index.ts'
import type { ServerSettings } from '../../../lib/server/index.ts'
import { behaviours, eventDefinition, fakeDefinition } from '../../support/fake-host.ts'
import { openBench, sendRaw, type Answer, type Bench, type SendOptions } from './setup.ts'

interface Row {
  readonly title: string
  readonly status: number
  readonly code: string
  /** Fields beside message and code. */
  readonly fields?: readonly string[]
  readonly headers?: Record<string, string | RegExp>
  readonly prepare?: (bench: Bench) => void | Promise<void>
  readonly request: [method: string, path: string, options?: SendOptions]
  readonly message?: RegExp
  readonly settings?: Partial<ServerSettings>
  readonly closes?: boolean
}

const json = { 'content-type': 'application/json' }
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const fails = (failure: Parameters<typeof behaviours.fails>[0]) => (bench: Bench): void => { bench.host.behaviours.set('hello', behaviours.fails(failure)) }
const throws = (error: unknown) => (bench: Bench): void => { bench.host.behaviours.set('hello', behaviours.throws(error)) }
const works = (bench: Bench): void => { bench.host.behaviours.delete('hello'); bench.host.failure = undefined }

// http-contract.md §4, row by row.
const ROWS: readonly Row[] = [
  { title: 'body not JSON: truncated', status: 400, code: 'REQUEST_NOT_JSON', request: ['POST', '/hello', { body: '{"a":1', headers: json }], message: /position 6/ },
  { title: 'body not JSON: text', status: 400, code: 'REQUEST_NOT_JSON', request: ['POST', '/hello', { body: 'abc', headers: json }], message: /position 0/ },
  { title: 'wrong shape: array', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: '[]', headers: json }] },
  { title: 'wrong shape: number', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: '1', headers: json }] },
  { title: 'wrong shape: text', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: '"x"', headers: json }] },
  { title: 'wrong shape: boolean', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: 'true', headers: json }] },
  { title: 'wrong shape: workflowdata is a number', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: { workflowdata: 1 } }], message: /workflowdata/ },
  { title: 'wrong shape: workflowdata is text', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: { workflowdata: 'x' } }] },
  { title: 'nested too deep', status: 400, code: 'REQUEST_NOT_JSON', request: ['POST', '/hello', { body: `{"a":${deep(1001)}}`, headers: json }], message: /1000/ },
  { title: 'invalid UTF-8', status: 400, code: 'REQUEST_NOT_JSON', request: ['POST', '/hello', { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), headers: json }], message: /UTF-8/ },
  { title: 'PUT with an empty body', status: 400, code: 'REQUEST_INVALID', request: ['PUT', '/hello/id-1', {}] },
  { title: 'businessKey too long', status: 400, code: 'REQUEST_INVALID', request: ['POST', `/hello?businessKey=${'k'.repeat(256)}`, { body: {} }], message: /255/ },
  { title: 'bad Idempotency-Key', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: {}, headers: { 'idempotency-key': 'a b' } }] },
  { title: 'Idempotency-Key too long', status: 400, code: 'REQUEST_INVALID', request: ['POST', '/hello', { body: {}, headers: { 'idempotency-key': 'k'.repeat(256) } }] },
  { title: 'unknown start state', status: 400, code: 'INSTANCE_START_INVALID', request: ['POST', '/hello', { body: {}, headers: { 'x-kogito-startfromnode': 'Nowhere' } }], message: /Nowhere.*Compute/ },
  { title: 'input schema violated', status: 400, code: 'DATA_INPUT_INVALID', prepare: (bench) => { bench.host.behaviours.set('hello', behaviours.refusesInput('/amount: is missing')) }, request: ['POST', '/hello', { body: {} }], message: /\/amount/ },
  { title: 'output schema violated', status: 400, code: 'DATA_OUTPUT_INVALID', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'DATA_OUTPUT_INVALID' }), request: ['POST', '/hello', { body: {} }] },
  { title: 'errorMessage of a state', status: 400, code: 'INSTANCE_FAILED', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'INSTANCE_FAILED', message: 'sorry' }), request: ['POST', '/hello', { body: {} }], message: /^sorry$/ },
  { title: 'expression fails', status: 400, code: 'EXPRESSION_FAILED', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'EXPRESSION_FAILED' }), request: ['POST', '/hello', { body: {} }] },
  { title: 'arguments refused', status: 400, code: 'FUNCTION_ARGUMENT_INVALID', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'FUNCTION_ARGUMENT_INVALID' }), request: ['POST', '/hello', { body: {} }] },
  { title: 'remote 404', status: 404, code: 'REST_STATUS', fields: ['id', 'failedNodeId', 'errorCode'], prepare: fails({ code: 'REST_STATUS', status: 404, message: 'Not Found' }), request: ['POST', '/hello', { body: {} }], message: /^Not Found$/ },
  { title: 'remote 409', status: 409, code: 'REST_STATUS', fields: ['id', 'failedNodeId', 'errorCode'], prepare: fails({ code: 'REST_STATUS', status: 409 }), request: ['POST', '/hello', { body: {} }] },
  { title: 'remote 401', status: 500, code: 'REST_STATUS', fields: ['id', 'failedNodeId', 'errorCode'], prepare: fails({ code: 'REST_STATUS', status: 401 }), request: ['POST', '/hello', { body: {} }] },
  { title: 'remote 502', status: 500, code: 'REST_STATUS', fields: ['id', 'failedNodeId', 'errorCode'], prepare: fails({ code: 'REST_STATUS', status: 502 }), request: ['POST', '/hello', { body: {} }] },
  { title: 'connection failure', status: 500, code: 'FUNCTION_FAILED', fields: ['id', 'failedNodeId'], prepare: fails({ message: 'connect ECONNREFUSED 10.0.0.1:80' }), request: ['POST', '/hello', { body: {} }], message: /^connect ECONNREFUSED$/ },
  { title: 'timeout', status: 500, code: 'FUNCTION_TIMEOUT', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'FUNCTION_TIMEOUT' }), request: ['POST', '/hello', { body: {} }] },
  { title: 'authorization failure', status: 500, code: 'AUTH_FAILED', fields: ['id', 'failedNodeId'], prepare: fails({ code: 'AUTH_FAILED' }), request: ['POST', '/hello', { body: {} }] },
  { title: 'caller not authenticated', status: 401, code: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Basic realm="sonatina"' }, prepare: throws(new RequestError({ code: 'UNAUTHENTICATED', message: 'who?', details: { challenge: 'Basic realm="sonatina"' } })), request: ['POST', '/hello', { body: {} }] },
  { title: 'caller not permitted', status: 403, code: 'FORBIDDEN', prepare: throws(new RequestError({ code: 'FORBIDDEN', message: 'no' })), request: ['POST', '/hello', { body: {} }] },
  { title: 'unknown workflow', status: 404, code: 'DEFINITION_NOT_FOUND', request: ['POST', '/nothing', { body: {} }] },
  { title: 'unknown address', status: 404, code: 'ADDRESS_UNKNOWN', request: ['GET', '/q/nothing'] },
  { title: 'unknown instance', status: 404, code: 'INSTANCE_NOT_FOUND', fields: ['processInstanceId'], request: ['GET', '/hello/nobody'] },
  { title: 'unknown instance, PUT', status: 404, code: 'INSTANCE_NOT_FOUND', fields: ['processInstanceId'], request: ['PUT', '/hello/nobody', { body: {} }] },
  { title: 'unknown instance, PATCH', status: 404, code: 'INSTANCE_NOT_FOUND', fields: ['processInstanceId'], request: ['PATCH', '/hello/nobody', { body: {} }] },
  { title: 'unknown instance, DELETE', status: 404, code: 'INSTANCE_NOT_FOUND', fields: ['processInstanceId'], request: ['DELETE', '/hello/nobody'] },
  { title: 'unknown node', status: 404, code: 'NODE_NOT_FOUND', fields: ['processInstanceId', 'nodeId'], prepare: async (bench) => {
    bench.host.behaviours.set('hello', behaviours.waits('x'))
    await bench.send('POST', '/hello', { body: {} })
    works(bench)
  }, request: ['POST', '/management/processes/hello/instances/id-2/nodes/Nowhere'] },
  { title: 'unknown node instance', status: 404, code: 'NODE_NOT_FOUND', fields: ['processInstanceId', 'nodeInstanceId'], prepare: async (bench) => {
    bench.host.behaviours.set('hello', behaviours.waits('x'))
    await bench.send('POST', '/hello', { body: {} })
    works(bench)
  }, request: ['POST', '/management/processes/hello/instances/id-2/nodeInstances/none'] },
  { title: 'method not offered', status: 405, code: 'METHOD_NOT_ALLOWED', headers: { allow: 'GET, HEAD, POST, OPTIONS' }, request: ['PUT', '/hello', { body: {} }] },
  { title: 'method nobody knows', status: 405, code: 'METHOD_NOT_ALLOWED', headers: { allow: 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS' }, request: ['PROPFIND', '/hello/x'] },
  { title: 'POST of an event-started definition', status: 405, code: 'METHOD_NOT_ALLOWED', headers: { allow: 'GET, HEAD, OPTIONS' }, prepare: (bench) => { bench.catalogue.add(eventDefinition('ev', 'order.placed')) }, request: ['POST', '/ev', { body: {} }], message: /order\.placed/ },
  { title: 'event address, not POST', status: 405, code: 'METHOD_NOT_ALLOWED', headers: { allow: 'POST' }, prepare: (bench) => { bench.catalogue.add(eventDefinition('ev', 'order.placed')) }, request: ['GET', '/'] },
  { title: 'Idempotency-Key with another body', status: 409, code: 'INSTANCE_CONFLICT', fields: ['processInstanceId'], prepare: async (bench) => {
    await bench.send('POST', '/hello', { body: { a: 1 }, headers: { 'idempotency-key': 'k' } })
  }, request: ['POST', '/hello', { body: { a: 2 }, headers: { 'idempotency-key': 'k' } }] },
  { title: 'body over the limit, by its length', status: 413, code: 'BODY_TOO_LARGE', settings: { maxBodySize: 1000 }, closes: true, request: ['POST', '/hello', { body: `"${'x'.repeat(5_000_000)}"`, headers: json }] },
  { title: 'body over the limit, in chunks', status: 413, code: 'BODY_TOO_LARGE', settings: { maxBodySize: 1000 }, closes: true, request: ['POST', '/hello', { body: `"${'x'.repeat(5_000_000)}"`, headers: { ...json, 'transfer-encoding': 'chunked' } }] },
  { title: 'media type', status: 415, code: 'MEDIA_TYPE_UNSUPPORTED', headers: { 'accept-post': 'application/json' }, request: ['POST', '/hello', { body: 'x', headers: { 'content-type': 'text/plain' } }] },
  { title: 'media type of events', status: 415, code: 'MEDIA_TYPE_UNSUPPORTED', headers: { 'accept-post': 'application/json' }, request: ['POST', '/hello', { body: '{}', headers: { 'content-type': 'application/cloudevents+json' } }] },
  { title: 'charset', status: 415, code: 'MEDIA_TYPE_UNSUPPORTED', headers: { 'accept-post': 'application/json' }, request: ['POST', '/hello', { body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } }] },
  { title: 'content encoding', status: 415, code: 'MEDIA_TYPE_UNSUPPORTED', headers: { 'accept-post': 'application/json' }, request: ['POST', '/hello', { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } }] },
  { title: 'headers too large', status: 431, code: 'HEADERS_TOO_LARGE', closes: true, request: ['GET', '/hello', { headers: { 'x-long': 'x'.repeat(30_000) } }] },
  { title: 'request line too large', status: 431, code: 'HEADERS_TOO_LARGE', closes: true, request: ['GET', `/hello?${'x'.repeat(30_000)}`] },
  { title: 'defect of the runtime', status: 500, code: 'INTERNAL', prepare: throws(new TypeError('cannot read /srv/x.ts')), request: ['POST', '/hello', { body: {} }], message: /error id id-/ },
  { title: 'defect that is no error', status: 500, code: 'INTERNAL', prepare: throws('oops'), request: ['POST', '/hello', { body: {} }] },
  { title: 'store unavailable', status: 503, code: 'STORE_UNAVAILABLE', headers: { 'retry-after': /^\d+$/ }, prepare: throws(new HostError({ code: 'STORE_UNAVAILABLE', message: 'disk full' })), request: ['POST', '/hello', { body: {} }] },
  { title: 'too many active instances', status: 503, code: 'HOST_BUSY', headers: { 'retry-after': /^\d+$/ }, prepare: throws(new HostError({ code: 'HOST_BUSY', message: 'enough' })), request: ['POST', '/hello', { body: {} }] },
  { title: 'shutting down', status: 503, code: 'HOST_CLOSED', headers: { 'retry-after': /^\d+$/ }, prepare: async (bench) => { await bench.host.close() }, request: ['POST', '/hello', { body: {} }] },
]

describe('server: the table of errors', () => {
  for (const row of ROWS) {
    it(`${String(row.status)}: ${row.title}`, async () => {
      const bench = await openBench(row.settings)
      try {
        await row.prepare?.(bench)
        const answer = await bench.send(...row.request)
        assertRow(answer, row)
        works(bench)
        const next = await bench.send('POST', '/hello', { body: { next: true } })
        expect(next.status, 'the next request').to.equal(201)
      } finally {
        await bench.close()
      }
    })
  }

  it('keeps the connection after an error whose request was read', async () => {
    const bench = await openBench()
    try {
      const post = (body: string): string => `POST /hello HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n`
      const text = await sendRaw(bench.port, `${post('[]')}\r\n[]${post('{}')}Connection: close\r\n\r\n{}`)
      expect(text).to.match(/^HTTP\/1\.1 400 [\s\S]*HTTP\/1\.1 201 /)
    } finally {
      await bench.close()
    }
  })

  it('knows definitions by exact id, decoded once', async () => {
    const bench = await openBench()
    try {
      bench.catalogue.add(fakeDefinition('a b/c%2F'))
      expect((await bench.send('POST', '/a%20b%2Fc%252F', { body: {} })).status).to.equal(201)
      expect((await bench.send('POST', '/Hello', { body: {} })).status).to.equal(404)
      expect((await bench.send('POST', '/%68ello', { body: {} })).status).to.equal(201)
      expect((await bench.send('POST', '/hello/', { body: {} })).status).to.equal(201)
    } finally {
      await bench.close()
    }
  })
})

function assertRow(answer: Answer, row: Row): void {
  expect(answer.status, answer.text).to.equal(row.status)
  expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8')
  const body = answer.json as Record<string, unknown>
  expect(body['code']).to.equal(row.code)
  expect(Object.keys(body).sort()).to.deep.equal(['code', 'message', ...(row.fields ?? [])].sort())
  for (const [field, value] of Object.entries(body)) expect(value, field).to.be.a('string').and.not.equal('')
  if (row.message !== undefined) expect(body['message']).to.match(row.message)
  for (const [name, value] of Object.entries(row.headers ?? {})) {
    if (typeof value === 'string') expect(answer.headers[name]).to.equal(value)
    else expect(answer.headers[name]).to.match(value)
  }
  if (row.closes === true) expect(answer.headers.connection).to.equal('close')
  expect(answer.headers).to.not.have.any.keys('x-powered-by', 'server')
}
