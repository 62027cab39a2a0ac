import { type Metadata, Server, ServerCredentials, status, type handleBidiStreamingCall, type handleClientStreamingCall, type handleServerStreamingCall, type handleUnaryCall, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Json } from '../../../../lib/common/index.ts'
import { DefinitionError, FunctionError } from '../../../../lib/errors/index.ts'
import type { FunctionScope, Invoker } from '../../../../lib/functions/index.ts'
import { createVirtualClock } from '../../../support/clock.ts'
import { callOf, createTestCompiler, noAuthorizer, type TestCompiler } from '../support.ts'

const PROTO = `syntax = "proto3";
package shop.v1;
import "google/protobuf/empty.proto";
import "parts.proto";
service Greeter {
  rpc One (Request) returns (Reply);
  rpc Many (Request) returns (stream Reply);
  rpc Collect (stream Request) returns (Reply);
  rpc Chat (stream Request) returns (stream Reply);
  rpc Nothing (google.protobuf.Empty) returns (google.protobuf.Empty);
  rpc Echo (Everything) returns (Everything);
}
message Request { string name = 1; Inner inner_thing = 2; }
`
const PARTS = `syntax = "proto3";
package shop.v1;
enum State { UNKNOWN = 0; SUCCESS = 1; }
message Inner { bool unknown = 1; }
message Reply { string message = 1; State state = 2; Nested nested = 3; repeated Nested list = 4; message Nested { int32 number = 1; State state = 2; } }
message Everything {
  int64 big = 1; bytes raw = 2; map<string, Inner> by_name = 3; optional int32 maybe = 4; oneof choice { int32 left = 5; string right = 6; }
  repeated int32 numbers = 7; double ratio = 8;
}
`

interface Message { readonly name?: string }

describe('functions/kinds/rpc', () => {
  let directory: string
  let server: Server
  let port: number
  let seen: Metadata[] = []

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'sonatina-grpc-'))
    await writeFile(path.join(directory, 'greeter.proto'), PROTO)
    await writeFile(path.join(directory, 'parts.proto'), PARTS)
    server = new Server()
    const { 'shop.v1.Greeter': service } = loadSync(path.join(directory, 'greeter.proto'), { includeDirs: [directory] }) as unknown as Record<string, ServiceDefinition>
    const one: handleUnaryCall<Message, object> = (call, callback) => {
      seen.push(call.metadata)
      const { name } = call.request
      if (name === 'unauthenticated' && seen.length === 1) callback({ code: status.UNAUTHENTICATED, details: 'token expired' })
      else if (name === 'missing') callback({ code: status.NOT_FOUND, details: 'no such greeting' })
      else if (name !== 'silent') callback(null, { message: `Hello ${name ?? ''}`, state: name === 'ok' ? 1 : 0, nested: { number: 0, state: 0 }, list: [{ number: 1 }] })
    }
    const many: handleServerStreamingCall<Message, object> = (call) => {
      call.write({ message: 'one' })
      call.write({ message: 'two' })
      if (call.request.name === 'error') call.emit('error', { code: status.OUT_OF_RANGE, details: 'no third' })
      else call.end()
    }
    const collect: handleClientStreamingCall<Message, object> = (call, callback) => {
      const names: string[] = []
      call.on('data', ({ name }: Message) => names.push(name ?? ''))
      call.on('end', () => { callback(null, { message: names.join() }) })
    }
    const chat: handleBidiStreamingCall<Message, object> = (call) => {
      call.on('data', ({ name }: Message) => { call.write({ message: `Hi ${name ?? ''}` }) })
      call.on('end', () => { call.end() })
    }
    server.addService(service!, {
      One: one, Many: many, Collect: collect, Chat: chat,
      Nothing: ((_call, callback) => { callback(null, {}) }) as handleUnaryCall<object, object>,
      Echo: ((call, callback) => { callback(null, call.request) }) as handleUnaryCall<object, object>,
    })
    port = await new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => { if (error === null) resolve(bound); else reject(error) })
    })
  })
  after(async () => {
    server.forceShutdown()
    await rm(directory, { recursive: true })
  })
  beforeEach(() => { seen = [] })

  const create = (options: Parameters<typeof createTestCompiler>[0] = {}): Promise<TestCompiler> => createTestCompiler({
    root: directory,
    ...options,
    config: { 'quarkus.grpc.clients.Greeter.host': '127.0.0.1', 'quarkus.grpc.clients.Greeter.port': String(port), ...options.config },
  })
  const compile = (compiler: TestCompiler, method: string, scope: Partial<FunctionScope> = {}): Promise<Invoker> =>
    compiler.compile({ type: 'rpc', operation: `greeter.proto#Greeter#${method}` }, { base: path.join(directory, 'x.sw.json'), ...scope })
  async function call(method: string, args: Json | undefined, options: Parameters<typeof createTestCompiler>[0] = {}): Promise<Json | undefined> {
    await using compiler = await create(options)
    return (await (await compile(compiler, method)).invoke(callOf(args))).output
  }
  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

  it('makes all four kinds of calls', async () => {
    expect(await call('One', { name: 'ok' })).to.deep.equal({ message: 'Hello ok', state: 'SUCCESS', nested: {}, list: [{ number: 1 }] })
    expect(await call('Many', { name: 'John' })).to.deep.equal([{ message: 'one' }, { message: 'two' }])
    expect(await call('Collect', [{ name: 'a' }, { name: 'b' }])).to.deep.equal({ message: 'a,b' })
    expect(await call('Chat', [{ name: 'a' }, { name: 'b' }])).to.deep.equal([{ message: 'Hi a' }, { message: 'Hi b' }])
    expect(await call('Nothing', undefined)).to.deep.equal({})
  })

  it('leaves out fields that hold their default, but enums where the setting asks for them', async () => {
    expect(await call('One', { name: 'John' })).to.deep.equal({ message: 'Hello John', nested: {}, list: [{ number: 1 }] })
    expect(await call('One', { name: 'John' }, { config: { 'kogito.grpc.enum.includeDefault': 'true' } })).to.deep.equal({
      message: 'Hello John', state: 'UNKNOWN', nested: { state: 'UNKNOWN' }, list: [{ number: 1, state: 'UNKNOWN' }],
    })
  })

  it('reads every kind of field as the JSON mapping of protobuf has it', async () => {
    const message = { big: '9007199254740993', raw: 'aGk=', byName: { a: { unknown: true }, b: {} }, maybe: 0, left: 0, numbers: [0, 1], ratio: 1.5 }
    expect(await call('Echo', message)).to.deep.equal(message)
  })

  it('sends who calls and the idempotency key as metadata', async () => {
    await call('One', { name: 'x' })
    expect(seen[0]?.getMap()).to.include({ wfprocid: 'orders', wfprocinstanceid: 'i-1', 'idempotency-key': 'i-1:e1:t1' })
  })

  it('renews credentials once', async () => {
    let count = 0
    const authorizer = {
      ...noAuthorizer,
      compileDefinition: () => ({ apply: (request: { headers: Record<string, string> }) => { request.headers['Authorization'] = `Bearer ${String(++count)}` }, renew: () => true }),
    }
    await using compiler = await create({ authorizer })
    const invoker = await compiler.compile({ type: 'rpc', operation: 'greeter.proto#Greeter#One', authRef: 'a' }, { base: path.join(directory, 'x'), auth: [{ name: 'a', scheme: 'bearer', properties: {} }] })
    expect((await invoker.invoke(callOf({ name: 'unauthenticated' }))).output).to.have.property('message', 'Hello unauthenticated')
    expect(seen.map((metadata) => metadata.get('authorization')[0])).to.deep.equal(['Bearer 1', 'Bearer 2'])
  })

  it('fails with the details of the service, and of a stream with those after some items', async () => {
    expect(await failure(call('One', { name: 'missing' }))).to.be.instanceOf(FunctionError).with.property('message').that.includes('no such greeting')
    expect(await failure(call('Many', { name: 'error' }))).to.be.instanceOf(FunctionError).with.property('message').that.includes('no third')
  })

  it('ends a call by its timeout, by the injected clock, and by the signal', async () => {
    const clock = createVirtualClock()
    await using compiler = await create({ clock })
    const invoker = await compile(compiler, 'One')
    const late = failure(Promise.resolve(invoker.invoke(callOf({ name: 'silent' }))))
    while (seen.length === 0) await new Promise((resolve) => { setImmediate(resolve) })
    clock.advance(10_000)
    expect(await late).to.include({ code: 'FUNCTION_TIMEOUT', retryable: true })
    const abort = new AbortController()
    const stopped = failure(Promise.resolve(invoker.invoke(callOf({ name: 'silent' }, { context: { signal: abort.signal } }))))
    while (seen.length === 1) await new Promise((resolve) => { setImmediate(resolve) })
    abort.abort()
    expect(await stopped).to.have.property('message').that.includes('cancelled')
    expect(clock.pending).to.equal(0)
  })

  it('tells no address when the service is away', async () => {
    const error = await failure(call('One', {}, { config: { 'quarkus.grpc.clients.Greeter.port': '1' } }))
    expect(error).to.include({ code: 'FUNCTION_FAILED', retryable: true })
    expect(String(error)).not.to.include('127.0.0.1')
  })

  it('refuses unknown fields and wrong types before anything is sent; profile sonataflow drops unknown ones', async () => {
    for (const args of [{ nome: 'x' }, { innerThing: { unknwon: true } }, { innerThing: 3 }, [1], 'text']) {
      expect(await failure(call('One', args)), JSON.stringify(args)).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
    }
    await using compiler = await create()
    expect((await (await compile(compiler, 'One', { profile: 'sonataflow' })).invoke(callOf({ nome: 'x' }))).output).to.have.property('message')
  })

  for (const [operation, text] of [
    ['greeter.proto#Greeter#Oen', 'One'],
    ['greeter.proto#Greter#One', 'shop.v1.Greeter'],
    ['missing.proto#Greeter#One', 'does not exist'],
    ['greeter.proto#One', 'malformed'],
    ['outside.proto#Greeter#One', 'outside'],
    ['broken.proto#Greeter#One', 'not a valid .proto file'],
  ] as const) {
    it(`refuses ${operation} at load`, async () => {
      await writeFile(path.join(directory, 'outside.proto'), 'syntax = "proto3";\nimport "../../../../../etc/hostname";\n')
      await writeFile(path.join(directory, 'broken.proto'), 'syntax = "proto3";\nmessage {')
      await using compiler = await create()
      const error = await failure(compiler.compile({ type: 'rpc', operation }, { base: path.join(directory, 'x') }))
      expect(error).to.be.instanceOf(DefinitionError).with.property('message').that.includes(text)
    })
  }
})
