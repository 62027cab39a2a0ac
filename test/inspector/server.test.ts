import { expect } from 'chai'
import { createWebSocketReceiver } from '@statelyai/inspect'
import { WebSocket } from 'ws'
import type { JsonObject } from '../../lib/common/index.ts'
import { EXCHANGE, HOSTILE, SECRET, serve, type Served } from './support.ts'

interface View extends JsonObject {
  readonly status: string
  readonly path: { readonly nodes: Record<string, { readonly status: string; readonly note?: string }>; readonly edges: readonly string[] }
  readonly timeline: readonly JsonObject[]
}

describe('inspector: addresses', function () {
  this.timeout(120_000)
  let served: Served
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${served.url}/inspect${path}`, { headers })
  const json = async (path: string): Promise<JsonObject> => (await get(path)).json() as Promise<JsonObject>
  const view = async (id: string): Promise<View> => await json(`/api/instances/${id}`) as View

  before(async () => { served = await serve() })
  after(async () => { await served.close() })

  it('tell the path of the currency workflow, conditions and data of each state', async () => {
    const { id } = await served.start('currency_exchange_workflow', EXCHANGE)
    const { status, path, timeline } = await view(id)
    expect(status).to.equal('completed')
    const visits = timeline
    expect(visits.map(({ state }) => state)).to.deep.equal(['ValidateInputs', 'CheckInputs', 'GetExchangeRate', 'CalculateExchange', 'ReportSuccess'])
    expect(visits[1]?.['condition']).to.equal('default')
    expect(visits[2]?.['after']).to.deep.include({ exchangeRate: 1.0578 })
    expect(path.edges).to.deep.equal(['start', 'state-0-way-0', 'state-1-way-1', 'state-2-way-0', 'state-3-way-0', 'state-5-way-0'])
  })

  it('tell the end that a condition chose', async () => {
    const { id } = await served.start('currency_exchange_workflow', { ...(EXCHANGE as JsonObject), currencyFrom: 'XXX' })
    const { path } = await view(id)
    expect(path.edges.at(-1)).to.equal('state-1-way-0')
    expect(path.nodes['state-1-end']?.status).to.equal('done')
  })

  it('tell the order in which branches finished', async () => {
    const { id } = await served.start('parallel', { result: '' })
    const { nodes } = (await view(id)).path
    expect([0, 1, 2].map((branch) => nodes[`state-0-branch-${String(branch)}`]?.note)).to.deep.equal(['1.', '2.', '3.'])
  })

  it('mark a handled error red on its edge, and an unhandled one on its state', async () => {
    const handled = await view((await served.start('handled')).id)
    expect(handled.path.nodes['state-0']?.status).to.equal('handled')
    expect(handled.path.edges).to.include('state-0-way-1')
    const { id } = await served.start('unhandled')
    const failed = await view(id)
    expect(failed.status).to.equal('error')
    expect(failed.path.nodes['state-0']?.status).to.equal('failed')
    expect(failed['error']).to.deep.include({ code: 'TEST_BROKEN' })
  })

  it('tell what a waiting instance waits for, and count iterations', async () => {
    const waiting = await view((await served.start('waits')).id)
    expect(waiting.status).to.equal('waiting')
    expect(JSON.stringify(waiting['waitingFor'])).to.contain('test.go')
    const loop = await view((await served.start('loops', { list: [1, 2, 3] })).id)
    expect(loop.path.nodes['state-0']?.note).to.equal('3 done')
  })

  it('list, filter and page without a gap', async () => {
    for (let index = 0; index < 5; index += 1) await served.start('loops', { list: [] })
    const ids: unknown[] = []
    let next: unknown
    do {
      const page = await json(`/api/instances?workflow=loops&limit=2${typeof next === 'string' ? `&before=${encodeURIComponent(next)}` : ''}`)
      ids.push(...(page['instances'] as JsonObject[]).map(({ id }) => id))
      next = page['next']
    } while (next !== undefined)
    expect(new Set(ids).size).to.equal(ids.length).and.to.be.at.least(5)
    const found = await json(`/api/instances?q=${String(ids[0]).slice(0, 8)}&status=completed`)
    expect((found['instances'] as JsonObject[]).map(({ id }) => id)).to.include(ids[0])
  })

  it('refuse what is wrong by naming it', async () => {
    for (const [path, status, word] of [
      ['/api/instances?limit=abc', 400, 'limit'], ['/api/instances?before=garbage', 400, 'before'], ['/api/instances?status=odd', 400, 'status'],
      ['/api/workflows/none/diagram.svg', 404, 'none'], ['/api/instances/none', 404, 'none'], ['/api/nothing', 404, 'nothing'], ['/assets/..%2fapp.js', 404, 'assets'],
      ['/api/workflows/parallel/diagram.svg?theme=pink', 400, 'theme'],
    ] as const) {
      const response = await get(path)
      const body = await response.json() as JsonObject
      expect([path, response.status]).to.deep.equal([path, status])
      expect(body['message']).to.contain(word)
      expect(body['code']).to.be.a('string')
    }
  })

  it('draw every definition in every form', async () => {
    const { workflows } = await json('/api/workflows')
    for (const { id } of workflows as JsonObject[]) {
      for (const file of ['diagram.svg', 'diagram.svg?machine=1', 'diagram.mmd', 'diagram.dot', 'diagram.json', 'machine.json', 'definition.json', 'input-schema.json']) {
        const response = await get(`/api/workflows/${encodeURIComponent(String(id))}/${file}`)
        expect([id, file, response.status]).to.deep.equal([id, file, 200])
        expect((await response.text()).length).to.be.greaterThan(1)
      }
    }
  })

  it('hide secrets in export, list, messages and WebSocket', async () => {
    const seen: string[] = []
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/inspect/ws`)
    await new Promise((resolve) => { socket.on('open', resolve) })
    socket.on('message', (data: Buffer) => { seen.push(data.toString()) })
    const { id } = await served.start('hostile')
    const failed = await served.start('unhandled')
    await new Promise((resolve) => { socket.on('close', resolve); socket.close() })
    const texts = [...seen, await (await get(`/api/instances/${id}`)).text(), await (await get(`/api/instances/${failed.id}`)).text(), await (await get('/api/instances')).text()]
    expect(seen).to.not.have.length(0)
    // What stands in the definition itself is its author's to keep.
    for (const text of texts) expect(text.includes(SECRET) && !text.includes('"definition"')).to.equal(false)
    expect(texts[seen.length]).to.contain('•••')
    expect(await (await get('/api/workflows/hostile/diagram.svg')).text()).to.not.contain('<img')
    expect(HOSTILE).to.contain('<img')
  })

  it('refuse foreign origins and host names', async () => {
    expect((await get('/api/workflows', { Origin: 'https://evil.example' })).status).to.equal(403)
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/inspect/ws`, { origin: 'https://evil.example' })
    const status = await new Promise((resolve) => { socket.on('unexpected-response', (_request, response) => { resolve(response.statusCode); socket.terminate() }); socket.on('error', () => undefined) })
    expect(status).to.equal(403)
    const { request } = await import('node:http')
    const named = await new Promise<number | undefined>((resolve) => { request(`${served.url}/inspect/api/workflows`, { headers: { Host: 'evil.example' } }, (response) => { response.resume(); resolve(response.statusCode) }).end() })
    expect(named).to.equal(403)
  })

  it('change only what is asked for as JSON from here', async () => {
    const { id } = await served.start('waits')
    const send = (headers: Record<string, string>): Promise<Response> => fetch(`${served.url}/inspect/api/instances/${id}/abort`, { method: 'POST', headers, body: '{}' })
    expect((await send({ 'Content-Type': 'text/plain' })).status).to.equal(415)
    expect((await send({ 'Content-Type': 'application/json', Origin: 'https://evil.example' })).status).to.equal(403)
    expect((await send({ 'Content-Type': 'application/json' })).status).to.equal(200)
    expect((await view(id)).status).to.equal('aborted')
  })

  it('speak to the official WebSocket receiver, states in their order, switch and inject included', async () => {
    const seen: { type: string; definition?: string; snapshot?: { value?: unknown } }[] = []
    const subscription = createWebSocketReceiver({ server: `${served.url.replace('http', 'ws')}/inspect/ws` }).subscribe((message) => { seen.push(message as never) })
    const actor = (): string | undefined => seen.find((message) => message.type === '@xstate.actor' && message.definition?.includes('"s5"') === true)?.definition
    // Whoever reads is sent what lives already, and is not there yet for the first that start.
    while (actor() === undefined && (await get('/api/workflows')).ok) await served.start('currency_exchange_workflow', EXCHANGE)
    const reaches = (value: string): boolean => seen.some(({ snapshot }) => JSON.stringify(snapshot?.value) === value)
    while (!reaches('{"s1":"choose"}')) await new Promise((resolve) => { setImmediate(resolve) })
    subscription.unsubscribe()
    expect(Object.keys((JSON.parse(actor() ?? '{}') as { states: object }).states).slice(0, 6)).to.deep.equal(['s0', 's1', 's2', 's3', 's4', 's5'])
  })

  it('stream events, resume after the last id and say when that is not possible', async () => {
    const read = async (headers: Record<string, string>, until: RegExp): Promise<string> => {
      const abort = new AbortController()
      const response = await fetch(`${served.url}/inspect/api/events`, { headers, signal: abort.signal })
      let text = ''
      const decoder = new TextDecoder()
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk)
        if (until.test(text)) break
      }
      abort.abort()
      return text
    }
    const stay = new AbortController()
    await fetch(`${served.url}/inspect/api/events`, { signal: stay.signal })
    const first = read({}, /"type":"completed"[^]*event: instance/u)
    await served.start('loops', { list: [] })
    const text = await first
    expect(text).to.match(/event: step\ndata: .*"type":"started"/u)
    const started = /id: (\S+)\nevent: message\ndata: [^\n]*"started"/u.exec(text)?.[1] ?? ''
    const rest = await read({ 'Last-Event-ID': started }, /"type":"completed"/u)
    expect(rest).to.not.contain('"type":"started"')
    expect(await read({ 'Last-Event-ID': 'earlier-5' }, /reset/u)).to.contain('event: reset')
    stay.abort()
  })
})

describe('inspector: switched off or closed up', function () {
  this.timeout(120_000)

  it('has no address when it is off', async () => {
    const served = await serve({ 'sonatina.inspect.enabled': 'false' })
    expect((await fetch(`${served.url}/inspect`)).status).to.equal(404)
    await served.close()
  })

  it('changes nothing without control, shows kinds only with capture shape, and asks for its token', async () => {
    const served = await serve({ 'sonatina.inspect.control': 'false', 'sonatina.inspect.capture': 'shape', 'sonatina.inspect.token': 'let-me-in' })
    const headers = { Authorization: 'Bearer let-me-in', 'Content-Type': 'application/json' }
    expect((await fetch(`${served.url}/inspect/api/workflows`)).status).to.equal(401)
    expect((await fetch(`${served.url}/inspect/api/workflows?token=let-me-in`)).status).to.equal(200)
    expect((await fetch(`${served.url}/inspect/api/workflows/parallel/run`, { method: 'POST', headers, body: '{}' })).status).to.equal(403)
    const { id } = await served.start('parallel', { result: '' })
    const view = await (await fetch(`${served.url}/inspect/api/instances/${id}`, { headers })).json() as JsonObject
    expect(view['output']).to.deep.equal({ result: 'string(3)' })
    await served.close()
  })
})
