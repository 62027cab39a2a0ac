import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { createHttpClient } from '../../lib/http-client/index.ts'

// CPU of one call through our client against one by hand through undici.Pool, on loopback, interleaved so that both see the
// same machine. The stub runs in a process of its own: only the caller's CPU counts. `node --expose-gc --import tsx test/bench/http-client.bench.ts`

const ROUNDS = 12
const CALLS = 3000
const CONCURRENT = 16
const ANSWER = JSON.stringify({ rate: 1.0578 })

if (process.argv[2] === 'stub') serve()
else await measure()

function serve(): void {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length })
    response.end(ANSWER)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

async function measure(): Promise<void> {
  const stub = fork(fileURLToPath(import.meta.url), ['stub'])
  const port = await new Promise<number>((resolve) => stub.once('message', (message) => { resolve(message as number) }))
  const origin = `http://127.0.0.1:${port}`
  const path = '/financial-service/exchange-rate?currencyFrom=EUR&currencyTo=USD'
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json', Authorization: 'Bearer abc', wfprocid: 'x', wfprocinstanceid: 'y', wfprocist: 'Active', wfproctype: 'SW', wfprocversion: '1.0' }
  const pool = new Pool(origin, { connections: CONCURRENT })
  const client = createHttpClient({ name: 'bench', connections: CONCURRENT })
  const byHand = async (): Promise<unknown> => {
    const { body } = await pool.request({ method: 'GET', path, headers: { ...headers, 'User-Agent': 'bench' } })
    return body.json()
  }
  const ours = async (): Promise<unknown> => {
    const { body } = await client.request({ method: 'GET', url: `${origin}${path}`, headers })
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
  }
  await cpu(byHand)
  await cpu(ours)
  const results: { hand: number; ours: number }[] = []
  for (let round = 0; round < ROUNDS; round++) results.push({ hand: await cpu(byHand), ours: await cpu(ours) })
  const median = (values: number[]): number => values.sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
  const hand = median(results.map((result) => result.hand))
  const mine = median(results.map((result) => result.ours))
  const ratio = median(results.map((result) => result.ours / result.hand))
  process.stdout.write(`undici.Pool ${hand.toFixed(1)} µs, http-client ${mine.toFixed(1)} µs CPU a call, ratio ${ratio.toFixed(2)} (goal 1.3)\n`)
  const heap = await growth(ours)
  process.stdout.write(`heap after 10,000 calls ${(heap / 1024).toFixed(0)} KiB more than after 1,000\n`)
  await Promise.all([pool.close(), client.close()])
  stub.kill()
}

async function growth(call: () => Promise<unknown>): Promise<number> {
  const heapAfter = async (calls: number): Promise<number> => {
    for (let index = 0; index < calls; index++) await call()
    // `--expose-gc` makes the figure exact; without it the garbage of the last moments counts too.
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = await heapAfter(1000)
  return (await heapAfter(10_000)) - before
}

async function cpu(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  let left = CALLS
  const worker = async (): Promise<void> => { while (left-- > 0) await call() }
  await Promise.all(Array.from({ length: CONCURRENT }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}
