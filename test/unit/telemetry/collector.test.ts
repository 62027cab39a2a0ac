import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createLogger, isJsonObject, type Json } from '../../../lib/common/index.ts'
import { createRuntime } from '../../../lib/runtime.ts'

const HELLO = { id: 'hello', version: '1', specVersion: '0.8', start: 'Say', states: [{ name: 'Say', type: 'inject', data: {}, end: true }] }

/** Runs one instance with tracing to an address, stops, and gives status and log. */
async function runTo(endpoint: string, graceMilliseconds = 5000): Promise<{ status: string; warnings: readonly Json[] }> {
  const lines: Json[] = []
  const runtime = await createRuntime({
    definitions: [{ uri: 'memory:hello.sw.json', document: HELLO }],
    environment: {},
    profile: 'test',
    log: createLogger({ level: 'warn', write: (line) => lines.push(JSON.parse(line) as Json) }),
    settings: { 'sonatina.store': 'memory', 'sonatina.otel.enabled': true, 'sonatina.otel.exporter.otlp.endpoint': endpoint, 'sonatina.otel.service-name': 'greeter' },
  })
  const { status } = await runtime.host.start({ workflowId: 'hello', input: {} })
  await runtime.close(graceMilliseconds)
  return { status, warnings: lines.filter((line) => isJsonObject(line) && line['module'] === 'telemetry') }
}

describe('lib/telemetry: a collector', () => {
  let server: Server
  let address: string
  let answer = 200
  const requests: { path: string; type: string; body: string }[] = []

  before(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        requests.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body: Buffer.concat(chunks).toString('utf8') })
        response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
      })
    })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  })

  after(() => {
    server.closeAllConnections()
    server.close()
  })

  beforeEach(() => {
    requests.length = 0
    answer = 200
  })

  it('receives what is left when the service stops', async () => {
    const { status, warnings } = await runTo(address)
    expect(status).to.equal('completed')
    expect(warnings).to.deep.equal([])
    expect(requests).to.have.length(1)
    expect(requests[0]).to.include({ path: '/v1/traces', type: 'application/json' })
    const spans = /"name":"sonataflow\.process\.hello(?:\.execute)?"/g
    expect(requests[0]?.body.match(spans)).to.have.length(2)
    expect(requests[0]?.body).to.include('greeter')
  })

  it('that refuses gets one warning and harms no request', async () => {
    answer = 400
    const { status, warnings } = await runTo(address)
    expect(status).to.equal('completed')
    expect(warnings).to.have.length(1)
    expect(JSON.stringify(warnings)).to.include('spans do not arrive')
  })

  it('that is not there gets one warning and harms no request', async () => {
    const { status, warnings } = await runTo('http://127.0.0.1:1', 50)
    expect(status).to.equal('completed')
    expect(warnings).to.have.length(1)
  })
})
