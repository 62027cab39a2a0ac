import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { createRandomIdSource, createSystemClock, silentLogger } from '../../lib/common/index.ts'
import { createSettings } from '../../lib/configuration/index.ts'
import { createFunctionCompiler, type FunctionCall } from '../../lib/functions/index.ts'
import { createHttpClients } from '../../lib/http-client/index.ts'
import { createOpenApiLibrary } from '../../lib/functions/openapi/library.ts'
import { listOperations, toOperationModel } from '../../lib/functions/openapi/operation.ts'
import { compileRequestBuilder } from '../../lib/functions/openapi/request.ts'

// What a rest function costs: building its request, and CPU of a whole call against one by hand through undici.Pool, interleaved so that
// both see the same machine. The stub runs in a process of its own. `npx tsx test/bench/functions-rest.bench.ts`

const ROUNDS = 12
const CALLS = 3000
const CONCURRENT = 16
const BUILDS = 400_000
const ANSWER = JSON.stringify({ rate: 1.0578 })
const root = path.resolve(import.meta.dirname, '../..')
const args = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10' }

if (process.argv[2] === 'stub') serve()
else {
  await measureBuilder()
  await measureCalls()
}

function serve(): void {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length })
    response.end(ANSWER)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

async function measureBuilder(): Promise<void> {
  const library = createOpenApiLibrary()
  const { resolved } = await library.load('specs/acme-financial-service.yml', { base: root, root, extensions: [], remote: false }, () => Promise.resolve(''))
  const [found] = listOperations(resolved.document)
  if (found === undefined) return
  const builder = compileRequestBuilder(toOperationModel(resolved, found))
  let length = 0
  const build = (count: number): void => { for (let index = 0; index < count; index++) length += builder.build(args).query.length }
  build(BUILDS)
  const started = process.cpuUsage()
  build(BUILDS)
  const { user, system } = process.cpuUsage(started)
  process.stdout.write(`building a request with three query parameters: ${((user + system) / BUILDS).toFixed(2)} µs CPU (goal 3), ${String(length / BUILDS / 2)} characters\n`)
}

async function measureCalls(): Promise<void> {
  const stub = fork(fileURLToPath(import.meta.url), ['stub'])
  const port = await new Promise<number>((resolve) => stub.once('message', (message) => { resolve(message as number) }))
  const origin = `http://127.0.0.1:${String(port)}`
  const settings = await createSettings({
    settings: { 'sonatina.rest-client.acme_financial_service_yml.url': origin, 'sonatina.openapi-generator.codegen.spec.acme_financial_service_yml.enable-security-generation': false },
    environment: {},
    root: path.join(root, 'specs'),
  })
  const clock = createSystemClock()
  const httpClients = createHttpClients({ settings, clock, log: silentLogger })
  const compiler = createFunctionCompiler({
    settings, clock, httpClients, root, ids: createRandomIdSource(), log: silentLogger, hostClasses: new Map(),
    authorizer: { compile: () => undefined, compileDefinition: () => ({ apply: () => undefined, renew: () => false }), close: () => undefined },
  })
  const invoker = await compiler.compile(
    { name: 'getExchangeRate', type: 'rest', operation: 'specs/acme-financial-service.yml#exchangeRate', metadata: {} },
    { workflowId: 'bench', profile: 'spec', base: root, auth: [], extensions: [], secrets: [], constants: {}, evaluate: (text) => text },
  )
  const call = (signal: AbortSignal): FunctionCall => ({
    arguments: args,
    data: args,
    context: { workflowId: 'bench', workflowVersion: '1.0', instanceId: 'y', state: 's', headers: {}, idempotencyKey: 'k', signal, log: silentLogger },
  })
  const pool = new Pool(origin, { connections: CONCURRENT })
  const headers = { accept: 'application/json', 'content-type': 'application/json', wfprocid: 'bench', wfprocinstanceid: 'y', wfprocist: 'Active', wfproctype: 'SW', wfprocversion: '1.0', 'user-agent': 'bench' }
  const target = '/financial-service/exchange-rate?currencyFrom=EUR&currencyTo=USD&exchangeDate=2022-06-10'
  const byHand = async (): Promise<unknown> => (await pool.request({ method: 'GET', path: target, headers })).body.json()
  const ours = (signal: AbortSignal): unknown => invoker.invoke(call(signal))
  await cpu(byHand)
  await cpu(ours)
  const results: { hand: number; ours: number }[] = []
  for (let round = 0; round < ROUNDS; round++) results.push({ hand: await cpu(byHand), ours: await cpu(ours) })
  const hand = median(results.map((result) => result.hand))
  const mine = median(results.map((result) => result.ours))
  const ratio = median(results.map((result) => result.ours / result.hand))
  process.stdout.write(`undici.Pool ${hand.toFixed(1)} µs, rest function ${mine.toFixed(1)} µs CPU a call, ratio ${ratio.toFixed(2)} (goal 1.3 to 1.4)\n`)
  await Promise.all([pool.close(), httpClients.close(), compiler.close()])
  stub.kill()
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function cpu(call: (signal: AbortSignal) => unknown): Promise<number> {
  const before = process.cpuUsage()
  let left = CALLS
  const worker = async (): Promise<void> => {
    // As an instance has it: one signal for the calls of a branch. Making one costs 5 to 10 µs.
    const { signal } = new AbortController()
    while (left-- > 0) await call(signal)
  }
  await Promise.all(Array.from({ length: CONCURRENT }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}
