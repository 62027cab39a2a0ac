import { expect } from 'chai'
import { silentLogger, type Logger } from '../../../lib/common/index.ts'
import { createSettings } from '../../../lib/configuration/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'
import type { HttpRequest, HttpResponse } from '../../../lib/http-client/index.ts'
import { createOutgoing, type Outgoing } from '../../../lib/messaging/index.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'

const event = (rest: Partial<CloudEventRecord> = {}): CloudEventRecord =>
  ({ specversion: '1.0', id: 'e1', source: '/orders', type: 'order.placed', datacontenttype: 'application/json', data: { amount: 3 }, ...rest })

const SINK = { 'sonatina.messaging.sink': 'http://sink' }

describe('messaging/outgoing', () => {
  let clock: VirtualClock
  let requests: HttpRequest[]
  let answer: (request: HttpRequest) => Promise<number> | number
  let errors: { readonly fields: object; readonly message: string }[]

  beforeEach(() => {
    clock = createVirtualClock()
    requests = []
    errors = []
    answer = () => 202
  })

  async function open(settings: Readonly<Record<string, unknown>>): Promise<Outgoing> {
    const log: Logger = { ...silentLogger, error: (fields, message) => { errors.push({ fields, message }) } }
    const client = {
      options: {} as never,
      async request(request: HttpRequest): Promise<HttpResponse> {
        requests.push(request)
        return { status: await answer(request), statusMessage: '', headers: {}, body: new Uint8Array() }
      },
      close: () => Promise.resolve(),
    }
    const read = await createSettings({ settings, root: import.meta.dirname, environment: {}, readFile: () => Promise.resolve(undefined) })
    return createOutgoing({ settings: read, client, clock, log })
  }

  /** Lets everything that does not wait for time come to its end. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }

  async function closeNow(outgoing: Outgoing): Promise<void> {
    const closed = outgoing.close(0)
    clock.advance(0)
    await closed
  }

  const urls = (): string[] => requests.map(({ method, url }) => `${method} ${url}`)
  const bodyOf = (request: HttpRequest | undefined): unknown => JSON.parse(Buffer.from(request?.body ?? '').toString())

  describe('channels', () => {
    it('sends to the channel of the type, by its name, its type or its topic', async () => {
      const outgoing = await open({
        'sonatina.messaging.outgoing.named.url': 'http://named',
        'sonatina.messaging.outgoing.typed.url': 'http://typed',
        'sonatina.messaging.outgoing.typed.type': 'order.placed',
        'sonatina.messaging.outgoing.topical.url': 'http://topical',
        'sonatina.messaging.outgoing.topical.topic': 'order.paid',
        'sonatina.messaging.outgoing."with.dots".url': 'http://dots',
      })
      for (const type of ['named', 'order.placed', 'order.paid', 'with.dots']) outgoing.send(event({ type }))
      await outgoing.idle()
      expect(urls()).to.deep.equal(['POST http://named', 'POST http://typed', 'POST http://topical', 'POST http://dots'])
      expect(['named', 'typed', 'order.paid', 'other'].map((name) => outgoing.hasChannel(name))).to.deep.equal([true, true, true, false])
    })

    it('sends to a channel that is named, whatever the type', async () => {
      const outgoing = await open({ 'sonatina.messaging.outgoing.audit.url': 'http://audit', ...SINK })
      outgoing.send(event(), 'audit')
      await outgoing.idle()
      expect(urls()).to.deep.equal(['POST http://audit'])
    })

    it('takes the sink for what has no channel, and for channels without an address', async () => {
      const outgoing = await open({ ...SINK, 'sonatina.messaging.outgoing.put.method': 'PUT' })
      outgoing.send(event())
      outgoing.send(event({ type: 'put' }))
      await outgoing.idle()
      expect(urls()).to.deep.equal(['POST http://sink', 'PUT http://sink'])
    })

    it('takes the channel kogito_outgoing_stream before the sink', async () => {
      const outgoing = await open({ ...SINK, 'mp.messaging.outgoing.kogito_outgoing_stream.url': 'http://stream' })
      outgoing.send(event())
      await outgoing.idle()
      expect(urls()).to.deep.equal(['POST http://stream'])
    })

    it('drops what has nowhere to go: it counts as delivered', async () => {
      const outgoing = await open({ 'sonatina.messaging.outgoing.lonely.type': 'order.placed' })
      outgoing.send(event())
      expect(await outgoing.deliver(event())).to.equal(true)
      expect(requests).to.deep.equal([])
      expect(outgoing.hasChannel('lonely')).to.equal(false)
    })
  })

  describe('forms', () => {
    it('are binary: attributes as headers, data as the body', async () => {
      const outgoing = await open(SINK)
      outgoing.send(event())
      await outgoing.idle()
      expect(requests[0]?.headers).to.include({ 'ce-id': 'e1', 'ce-type': 'order.placed', 'content-type': 'application/json' })
      expect(bodyOf(requests[0])).to.deep.equal({ amount: 3 })
      expect(requests[0]?.purpose, 'names no address').to.equal('event')
    })

    for (const key of ['sonatina.messaging.outgoing.order.cloud-events-mode', 'sonatina.messaging.outgoing.order.mode', 'kogito.addon.messaging.outgoing.cloudEventMode.order']) {
      it(`are structured by ${key}`, async () => {
        const outgoing = await open({ ...SINK, 'sonatina.messaging.outgoing.order.method': 'POST', [key]: 'structured' })
        outgoing.send(event({ type: 'order' }))
        await outgoing.idle()
        expect(requests[0]?.headers).to.deep.equal({ 'content-type': 'application/cloudevents+json' })
        expect(bodyOf(requests[0])).to.include({ id: 'e1', type: 'order' })
      })
    }

    it('have no body without data', async () => {
      const outgoing = await open(SINK)
      const { data: _none, ...bare } = event()
      outgoing.send(bare)
      await outgoing.idle()
      expect(requests[0]).to.not.have.property('body')
    })
  })

  describe('deliveries that fail', () => {
    it('are tried again after 100 ms, 1 s and 5 s, with the same event', async () => {
      const statuses = [500, 503, 404, 204]
      answer = () => statuses.shift() ?? 0
      const outgoing = await open(SINK)
      const delivered = outgoing.deliver(event())
      const instants: number[] = []
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await settle()
        instants.push(requests.length)
        const next = clock.next()
        if (next !== undefined) instants.push(next - clock.now())
        clock.moveTo(next ?? clock.now())
      }
      expect(instants).to.deep.equal([1, 100, 2, 1000, 3, 5000, 4])
      expect(await delivered).to.equal(true)
      expect(new Set(requests.map(({ headers }) => (headers as Record<string, string>)['ce-id']))).to.have.length(1)
      expect([errors, clock.pending]).to.deep.equal([[], 0])
    })

    it('are given up after the fourth attempt, and logged with what was wrong', async () => {
      answer = () => Promise.reject(new Error('connection refused'))
      const outgoing = await open(SINK)
      const delivered = outgoing.deliver(event())
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await settle()
        clock.moveTo(clock.next() ?? clock.now())
      }
      expect(await delivered).to.equal(false)
      expect(requests).to.have.length(4)
      expect(errors).to.deep.equal([{ fields: { event: 'e1', type: 'order.placed', problem: 'connection refused' }, message: 'event could not be delivered' }])
    })

    it('count redirects as failures: they are the business of the client', async () => {
      answer = () => 307
      const outgoing = await open(SINK)
      const delivered = outgoing.deliver(event())
      await settle()
      await closeNow(outgoing)
      expect(await delivered).to.equal(false)
      expect(errors[0]?.fields).to.include({ problem: 'status 307' })
    })

    it('do not hold others up', async () => {
      answer = ({ url }) => url === 'http://slow' ? 500 : 200
      const outgoing = await open({ ...SINK, 'sonatina.messaging.outgoing.slow.url': 'http://slow' })
      const slow = outgoing.deliver(event({ type: 'slow' }))
      expect(await outgoing.deliver(event())).to.equal(true)
      await closeNow(outgoing)
      expect(await slow).to.equal(false)
    })
  })

  it('logs an event that can never be sent, and does not ask to be given it again', async () => {
    const outgoing = await open(SINK)
    const broken = event({ type: '' })
    outgoing.send(broken)
    expect(await outgoing.deliver(broken)).to.equal(true)
    expect(requests).to.deep.equal([])
    expect(errors.map(({ message }) => message)).to.deep.equal(['event cannot be sent', 'event cannot be sent'])
  })

  describe('close', () => {
    it('waits for deliveries that are under way', async () => {
      let finish: (status: number) => void = () => undefined
      answer = () => new Promise((resolve) => { finish = resolve })
      const outgoing = await open(SINK)
      const delivered = outgoing.deliver(event())
      await settle()
      const closed = outgoing.close(1000)
      finish(202)
      await closed
      expect(await delivered).to.equal(true)
      expect(clock.pending).to.equal(0)
    })

    it('gives up what waits for its next attempt when the time is over, and leaves no timer', async () => {
      answer = () => 500
      const outgoing = await open(SINK)
      const delivered = outgoing.deliver(event())
      await settle()
      const closed = outgoing.close(50)
      clock.advance(50)
      await closed
      expect(await delivered).to.equal(false)
      expect([requests.length, clock.pending]).to.deep.equal([1, 0])
      expect(errors[0]?.fields).to.include({ problem: 'status 500' })
    })

    it('tries nothing again afterwards', async () => {
      answer = () => 500
      const outgoing = await open(SINK)
      await outgoing.close(0)
      expect(await outgoing.deliver(event())).to.equal(false)
      expect([requests.length, clock.pending]).to.deep.equal([1, 0])
    })
  })

  it('is idle when nothing is under way, retries included', async () => {
    const statuses = [500, 200]
    answer = () => statuses.shift() ?? 0
    const outgoing = await open(SINK)
    await outgoing.idle()
    outgoing.send(event())
    let isIdle = false
    const idle = outgoing.idle().then(() => { isIdle = true })
    await settle()
    expect(isIdle).to.equal(false)
    clock.advance(100)
    await idle
    expect(requests).to.have.length(2)
  })
})
