import { expect } from 'chai'
import { behaviours, eventDefinition, fakeDefinition } from '../../../support/fake-host.ts'
import { openBench, type Bench, type SendOptions } from '../setup.ts'

const binary = (more: Record<string, string> = {}): Record<string, string> => ({ 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'order.placed', ...more })
const event = { specversion: '1.0', id: '1', source: '/s', type: 'order.placed', data: { a: 1 } }

describe('server/routes/events', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await openBench()
    bench.catalogue.add(eventDefinition('ev', 'order.placed'))
  })
  afterEach(() => bench.close())
  const post = (options: SendOptions, path = '/'): ReturnType<Bench['send']> => bench.send('POST', path, options)

  it('takes binary events: JSON as value, text as text, else base64, nothing as no data', async () => {
    const rows: [headers: Record<string, string>, body: string | undefined, expected: object][] = [
      [{ 'content-type': 'application/json' }, '{"a":1}', { data: { a: 1 } }],
      [{ 'content-type': 'text/plain' }, 'hi', { data: 'hi' }],
      [{ 'content-type': 'application/octet-stream' }, 'hi', { data_base64: 'aGk=' }],
      [{}, undefined, {}],
    ]
    for (const [headers, body, expected] of rows) {
      const answer = await post({ headers: binary(headers), body })
      expect([answer.status, answer.text]).to.deep.equal([202, ''])
      expect(bench.host.events.at(-1)).to.deep.include({ id: '1', type: 'order.placed', ...expected })
    }
  })

  it('takes structured events by their media type, or as JSON that looks like one', async () => {
    for (const type of ['application/cloudevents+json', 'application/cloudevents+json; charset=utf-8', 'application/json']) {
      expect((await post({ body: JSON.stringify(event), headers: { 'content-type': type } })).status, type).to.equal(202)
    }
    expect(bench.host.events).to.have.length(3)
    expect(bench.host.events[0]).to.deep.equal(event)
  })

  const malformed: [title: string, options: SendOptions, attribute: RegExp][] = [
    ['no ce-source', { headers: { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-type': 't' } }, /source/],
    ['empty ce-type', { headers: binary({ 'ce-type': '' }) }, /type/],
    ['specversion 2.0', { headers: binary({ 'ce-specversion': '2.0' }) }, /specversion/],
    ['time that is none', { headers: binary({ 'ce-time': 'yesterday' }) }, /time/],
    ['data that is no JSON', { headers: binary({ 'content-type': 'application/json' }), body: '{' }, /data/],
    ['data twice', { headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify({ ...event, data_base64: 'aGk=' }) }, /data_base64/],
    ['JSON that is no event', { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }, /specversion|id|source|type/],
    ['JSON that is no object', { headers: { 'content-type': 'application/cloudevents+json' }, body: '[]' }, /object/],
  ]
  for (const [title, options, attribute] of malformed) {
    it(`refuses an event with ${title}`, async () => {
      const answer = await post(options)
      expect(answer.status).to.equal(400)
      expect(answer.json).to.deep.include({ code: 'CLOUD_EVENT_INVALID' })
      expect((answer.json as { message: string }).message).to.match(attribute)
      expect(bench.host.events).to.have.length(0)
    })
  }

  it('refuses batches and other media types', async () => {
    for (const type of ['application/cloudevents-batch+json', 'text/plain', 'application/xml']) {
      const answer = await post({ body: '[]', headers: { 'content-type': type } })
      expect(answer.status, type).to.equal(415)
      expect(answer.headers['accept-post']).to.equal('application/cloudevents+json, application/json')
    }
    expect((await post({ body: '{}' })).status).to.equal(415)
  })

  // Compressed bytes would be taken for the data.
  it('refuses a body with a content encoding', async () => {
    for (const type of ['application/json', 'application/octet-stream']) {
      const answer = await post({ body: '{}', headers: { 'content-type': type, 'content-encoding': 'gzip', 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 'order.placed' } })
      expect([answer.status, (answer.json as { message: string }).message], type).to.deep.equal([415, 'A body with Content-Encoding "gzip" cannot be read. Send the event without content encoding.'])
    }
    expect(bench.host.events).to.have.length(0)
  })

  it('answers 202 to an event that nothing waits for', async () => {
    expect((await post({ headers: binary({ 'ce-type': 'unknown', 'ce-kogitoprocrefid': 'nobody' }) })).status).to.equal(202)
  })

  it('is not there while no definition consumes events', async () => {
    bench.catalogue.remove('ev')
    expect((await post({ headers: binary() })).status).to.equal(404)
  })

  it('moves channels to their paths, and keeps / for the others', async () => {
    const moved = await openBench({ eventPaths: { 'order.placed': '/orders' }, rootPath: '/api' })
    try {
      moved.catalogue.add(eventDefinition('ev', 'order.placed'))
      expect((await moved.send('POST', '/api/orders', { headers: binary() })).status).to.equal(202)
      expect((await moved.send('POST', '/api/orders/', { headers: binary() })).status).to.equal(202)
      expect((await moved.send('GET', '/api/orders')).headers.allow).to.equal('POST')
      expect((await moved.send('POST', '/api/', { headers: binary() })).status).to.equal(404)
      moved.catalogue.add(eventDefinition('ev2', 'order.paid'))
      expect((await moved.send('POST', '/api/', { headers: binary() })).status).to.equal(202)
      expect((await moved.send('POST', '/api', { headers: binary() })).status).to.equal(202)
      expect((await moved.send('POST', '/', { headers: binary() })).status).to.equal(404)
    } finally {
      await moved.close()
    }
  })

  it('keeps to the limits of body and depth', async () => {
    const small = await openBench({ maxBodySize: 100, maxDepth: 5 })
    try {
      small.catalogue.add(eventDefinition('ev', 'order.placed'))
      expect((await small.send('POST', '/', { headers: binary(), body: 'x'.repeat(200) })).status).to.equal(413)
      expect((await small.send('POST', '/', { headers: binary({ 'content-type': 'application/json' }), body: '[[[[[[[]]]]]]]' })).status).to.equal(400)
    } finally {
      await small.close()
    }
  })

  it('signals the instance that waits', async () => {
    bench.catalogue.add(fakeDefinition('waiter', { events: [{ name: 'e', type: 'go', kind: 'consumed', dataOnly: true, correlation: [], metadata: {} }] }))
    bench.host.behaviours.set('waiter', behaviours.waits('go'))
    await bench.send('POST', '/waiter', { body: {} })
    await post({ headers: binary({ 'ce-type': 'go' }) })
    expect(bench.host.events.at(-1)?.type).to.equal('go')
  })

  it('lists topics', async () => {
    bench.catalogue.add(fakeDefinition('maker', { events: [{ name: 'p', type: 'made', source: '/m', kind: 'produced', dataOnly: true, correlation: [], metadata: {} }] }))
    expect((await bench.send('GET', '/messaging/topics')).json).to.deep.equal([
      { name: 'order.placed', type: 'INCOMING', eventsMeta: [{ type: 'order.placed', source: '', kind: 'CONSUMED', specVersion: '1.0' }] },
      { name: 'made', type: 'OUTGOING', eventsMeta: [{ type: 'made', source: '/m', kind: 'PRODUCED', specVersion: '1.0' }] },
    ])
  })
})
