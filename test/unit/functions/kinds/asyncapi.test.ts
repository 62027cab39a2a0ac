import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect, type NatsConnection } from 'nats'
import type { Json } from '../../../../lib/common/index.ts'
import { DefinitionError } from '../../../../lib/errors/index.ts'
import type { CloudEventRecord } from '../../../../lib/events/index.ts'
import type { Invoker } from '../../../../lib/functions/index.ts'
import { callOf, createTestCompiler, startRecordingServer, type TestCompiler } from '../support.ts'

const VERSION_3 = `asyncapi: 3.0.0
info: { title: t, version: '1' }
servers: { main: { host: 'localhost:9092', protocol: kafka } }
channels:
  waiting: { address: wait.here, messages: { m: { $ref: '#/components/messages/m' } } }
  done: { address: done }
operations:
  send: { action: send, channel: { $ref: '#/channels/done' } }
  wait: { action: receive, channel: { $ref: '#/channels/waiting' }, messages: [{ $ref: '#/channels/waiting/messages/m' }] }
components: { messages: { m: { contentType: application/json } } }
`
const VERSION_2 = `asyncapi: 2.6.0
info: { title: t, version: '1' }
servers: { main: { url: '{host}/base', protocol: http, variables: { host: { default: 'http://localhost:1' } } } }
channels:
  orders/new:
    publish: { operationId: announce, bindings: { http: { method: PUT } }, message: { contentType: text/plain } }
    subscribe: { operationId: hear }
`

function natsServer(): string | undefined {
  return ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server'].find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => { resolve(port) })
    })
  })
}

describe('functions/kinds/asyncapi', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sonatina-asyncapi-'))
    await writeFile(path.join(directory, 'v3.yaml'), VERSION_3)
    await writeFile(path.join(directory, 'v2.yaml'), VERSION_2)
    await writeFile(path.join(directory, 'v1.yaml'), VERSION_2.replace('2.6.0', '1.2.0'))
  })
  after(() => rm(directory, { recursive: true }))

  const create = (options: Parameters<typeof createTestCompiler>[0] = {}): Promise<TestCompiler> => createTestCompiler({ root: directory, ...options })
  const compile = (compiler: TestCompiler, operation: string): Promise<Invoker> =>
    compiler.compile({ type: 'asyncapi', operation }, { base: path.join(directory, 'x.sw.json') })
  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

  it('makes an event of a channel whose protocol is not spoken here', async () => {
    const published: CloudEventRecord[] = []
    await using compiler = await create({ publish: (event) => { published.push(event) } })
    const invoker = await compile(compiler, 'v3.yaml#send')
    expect(invoker.event).to.deep.equal({ kind: 'produced', type: 'done' })
    expect(await invoker.invoke(callOf({ a: 1 }))).to.deep.equal({ output: null })
    await invoker.invoke(callOf(undefined, { data: { whole: true } }))
    expect(published.map(({ data }) => data)).to.deep.equal([{ a: 1 }, { whole: true }])
    expect(published[0]).to.include({ specversion: '1.0', id: 'i-1:e1:t1', source: '/process/orders', type: 'done', wfprocinstanceid: 'i-1', time: '2026-01-01T00:00:00.000Z' })
  })

  it('says which event a receiving operation waits for', async () => {
    await using compiler = await create()
    const invoker = await compile(compiler, 'v3.yaml#wait')
    expect(invoker.event).to.deep.equal({ kind: 'consumed', type: 'wait.here' })
    expect(() => invoker.invoke(callOf())).to.throw('waits for events')
  })

  it('sends to an http server, in the words of version 2', async () => {
    const server = await startRecordingServer()
    try {
      await using compiler = await create({ config: { 'sonatina.asyncapi.v2_yaml.url': `${server.url}/other` } })
      await (await compile(compiler, 'v2.yaml#announce')).invoke(callOf('plain words'))
      const [request] = server.requests
      expect([request?.method, request?.target, request?.body.toString()]).to.deep.equal(['PUT', '/other/orders/new', 'plain words'])
      expect(request?.headers).to.include({ 'content-type': 'text/plain', wfprocid: 'orders' })
    } finally {
      await server.close()
    }
  })

  it('prefers a channel that the messaging settings name', async () => {
    await using compiler = await create({ config: { 'mp.messaging.outgoing.orders/new.path': '/x' } })
    expect((await compile(compiler, 'v2.yaml#announce')).event).to.deep.equal({ kind: 'produced', type: 'orders/new' })
    expect((await compile(compiler, 'v2.yaml#hear')).event).to.deep.equal({ kind: 'consumed', type: 'orders/new' })
  })

  for (const [operation, text] of [['v3.yaml#sned', 'send'], ['v1.yaml#announce', '1.2.0'], ['none.yaml#x', 'does not exist'], ['v3.yaml', 'malformed']] as const) {
    it(`refuses ${operation} at load`, async () => {
      await using compiler = await create()
      expect(await failure(compile(compiler, operation))).to.be.instanceOf(DefinitionError).with.property('message').that.includes(text)
    })
  }

  describe('over NATS', () => {
    const binary = natsServer()
    let running: ChildProcess
    let client: NatsConnection
    let address: string

    before(async function () {
      if (binary === undefined) {
        process.stdout.write('SKIPPED: no nats-server is installed; 1 suite did not run\n')
        this.skip()
      }
      const port = await freePort()
      address = `nats://127.0.0.1:${String(port)}`
      running = spawn(binary, ['-a', '127.0.0.1', '-p', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
      await new Promise<void>((resolve) => {
        running.stderr?.on('data', (chunk: Buffer) => { if (chunk.includes('Server is ready')) resolve() })
      })
      client = await connect({ servers: address })
    })
    after(async () => {
      if (binary === undefined) return
      await client.close()
      const ended = new Promise((resolve) => { running.once('exit', resolve) })
      running.kill()
      await ended
    })

    const config = (): Record<string, string> => ({ 'sonatina.asyncapi.v3_yaml.url': address })

    it('publishes and answers when the server has the message', async () => {
      await using compiler = await create({ config: config() })
      const subscription = client.subscribe('done', { max: 1 })
      await client.flush()
      await (await compile(compiler, 'v3.yaml#send')).invoke(callOf({ a: [1] }))
      for await (const message of subscription) expect(message.json()).to.deep.equal({ a: [1] })
    })

    it('waits for the next message', async () => {
      await using compiler = await create({ config: config() })
      const invoker = await compile(compiler, 'v3.yaml#wait')
      const waiting = Promise.resolve(invoker.invoke(callOf()))
      let output: Json | undefined
      void waiting.then((result) => { output = result.output })
      while (output === undefined) {
        client.publish('wait.here', '{"wait":"over"}')
        await client.flush()
      }
      expect(output).to.deep.equal({ wait: 'over' })
    })

    it('stops waiting when the branch is stopped', async () => {
      await using compiler = await create({ config: config() })
      const abort = new AbortController()
      const waiting = failure(Promise.resolve((await compile(compiler, 'v3.yaml#wait')).invoke(callOf({}, { context: { signal: abort.signal } }))))
      await client.flush()
      abort.abort()
      expect(await waiting).to.include({ code: 'FUNCTION_FAILED' })
    })

    it('fails, to be retried, when the server is away', async () => {
      await using compiler = await create({ config: { 'sonatina.asyncapi.v3_yaml.url': 'nats://127.0.0.1:1' } })
      const error = await failure(Promise.resolve((await compile(compiler, 'v3.yaml#send')).invoke(callOf({}))))
      expect(error).to.include({ code: 'FUNCTION_FAILED', retryable: true })
      expect(String(error)).not.to.include('127.0.0.1')
    })
  })
})
