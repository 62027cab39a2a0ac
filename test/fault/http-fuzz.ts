import { connect } from 'node:net'
import { pathToFileURL } from 'node:url'
import { behaviours, eventDefinition, fakeDefinition } from '../support/fake-host.ts'
import { openBench, type Bench } from '../unit/server/setup.ts'

/** What a run of the fuzzer found. */
export interface FuzzReport {
  readonly requests: number
  readonly seed: number
  /** Answers by status; `cut` counts connections that ended without one. */
  readonly statuses: Readonly<Record<string, number>>
  /** Requests that were answered with a server error: none of them may be. */
  readonly serverErrors: readonly string[]
  /** Heap in MB before and after, garbage collected when node runs with --expose-gc. */
  readonly heap: readonly [before: number, after: number]
  readonly seconds: number
}

/**
 * Sends so many random requests over real connections: valid ones, damaged ones, noise, in pieces, and cut off.
 *
 * The host is a fake that never fails, so each 5xx is a fault of the server.
 */
export async function fuzz(options: { readonly requests: number; readonly seed: number; readonly concurrency?: number }): Promise<FuzzReport> {
  const bench = await openBench({ swaggerUi: true, headersTimeout: 2000, requestTimeout: 2000, idleTimeout: 1000, maxBodySize: 20_000 })
  bench.catalogue.add(eventDefinition('ev', 'order.placed'))
  bench.catalogue.add(fakeDefinition('a b'))
  bench.host.behaviours.set('a b', behaviours.waits('order.placed'))
  const random = createRandom(options.seed)
  const statuses: Record<string, number> = {}
  const serverErrors: string[] = []
  const begun = process.hrtime.bigint()
  const found: Found = { bench, random, statuses, serverErrors }
  const run = async (requests: number): Promise<void> => {
    let left = requests
    await Promise.all(Array.from({ length: options.concurrency ?? 64 }, async () => {
      while (left > 0) {
        const share = Math.min(20, left)
        left -= share
        await round(found, share)
      }
    }))
    forget(bench)
  }
  // What is loaded and compiled once is not counted as growth.
  const warmUp = Math.min(2000, Math.floor(options.requests / 4))
  await run(warmUp)
  const before = heap()
  await run(options.requests - warmUp)
  const after = heap()
  const alive = await bench.send('POST', '/hello', { body: { alive: true } })
  if (alive.status !== 201) serverErrors.push(`the request after the run was answered ${String(alive.status)}`)
  await bench.close()
  return { requests: options.requests, seed: options.seed, statuses, serverErrors, heap: [before, after], seconds: Number(process.hrtime.bigint() - begun) / 1e9 }
}

interface Found {
  readonly bench: Bench
  readonly random: Random
  readonly statuses: Record<string, number>
  readonly serverErrors: string[]
}

async function round({ bench, random, statuses, serverErrors }: Found, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const request = makeRequest(random)
    const text = await exchange(bench.port, request, random)
    const found = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')
    for (const status of found.length === 0 ? ['cut'] : found) statuses[status] = (statuses[status] ?? 0) + 1
    if (found.some((status) => status.startsWith('5'))) serverErrors.push(`${JSON.stringify(request.bytes.toString('latin1').slice(0, 500))} was answered ${text.slice(0, 500)}`)
    if (n % 100 === 0) forget(bench)
  }
}

// What the fake host remembers is no memory of the server.
function forget({ host }: Bench): void {
  host.starts.length = 0
  host.events.length = 0
  host.instances.clear()
}

function heap(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10
}

interface Random {
  below(limit: number): number
  one<T>(items: readonly [T, ...T[]]): T
  chance(share: number): boolean
}

// Mulberry32: a run is repeated by its seed.
function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    one: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    chance: (share) => next() < share,
  }
}

const METHODS = ['GET', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND', 'TRACE', 'CONNECT', 'get', 'M-SEARCH', 'PURGE'] as const
const PARTS = [
  'hello', 'ev', 'a%20b', 'nothing', 'q', 'openapi', 'swagger-ui', 'health', 'ready', 'metrics', 'management', 'processes', 'instances', 'sources', 'nodes', 'error', 'retrigger', 'timers', 'sla', 'log-levels',
  'messaging', 'topics', 'schema', 'tasks', 'id-1', 'id-2', '..', '.', '', '%', '%zz', '%00', '%2F', '%252F', '\u00e9', '__proto__', 'constructor', 'x'.repeat(300), '*', ';a=b', '{id}', ':id',
] as const
const QUERIES = ['', '', '', '?', '?format=json', '?businessKey=k', `?businessKey=${'k'.repeat(400)}`, '?status=Active', '?status=%FF', '?limit=-1', '?limit=99999999999', '?cursor=%00', '?data.__proto__.x=1', '?a=b&a=c', '?%zz', '?uri=../../etc/passwd', '?format=json&format=yaml', '??##'] as const
const BODIES = [
  '', '{}', '{"a":1}', '{"workflowdata":{"a":1}}', '{"workflowdata":1}', '[]', 'null', '1', '{"a":', '\u0000', '{"__proto__":{"x":1}}', '{"expirationTime":"soon"}', '{"expirationTime":"2026-01-01T00:00:00Z"}',
  '{"specversion":"1.0","id":"1","source":"s","type":"order.placed","data":{}}', '{"specversion":"1.0","id":1}', '['.repeat(3000), `{"a":"${'x'.repeat(5000)}"}`, 'x'.repeat(30_000), '\ufeff{}', '{"":"\\ud800"}',
] as const
const HEADERS = [
  'Content-Type: application/json', 'Content-Type: application/json; charset=utf-8', 'Content-Type: text/plain', 'Content-Type: application/cloudevents+json', 'Content-Type: application/cloudevents-batch+json', 'Content-Type: ;;;', 'Content-Type: application/json; charset="\\"',
  'Content-Encoding: gzip', 'Content-Encoding: identity', 'Idempotency-Key: k', 'Idempotency-Key: a b', 'Prefer: respond-async', 'Prefer: wait=1, wait=x', 'Prefer: ,,;=', 'X-Request-Id: r', 'X-Request-Id: \u00ff', 'X-KOGITO-StartFromNode: Compute', 'X-KOGITO-StartFromNode: \u00ff',
  'ce-id: 1', 'ce-source: s', 'ce-type: order.placed', 'ce-specversion: 1.0', 'ce-specversion: 9', 'ce-time: never', 'ce-type: %zz', 'ce-x y: 1', 'Accept: application/json', 'Accept: */*;q=x', 'If-None-Match: *', 'If-None-Match: "x', 'Range: bytes=0-1', 'traceparent: 00-x',
  'Origin: null', 'Forwarded: for=x;host="', 'X-Forwarded-Host: a/b', 'Expect: 100-continue', 'Upgrade: websocket', 'Cookie: a=b', 'Authorization: Basic x', 'TE: trailers',
] as const
/** Headers that make most requests unreadable; fewer have one. */
const BREAKING = [
  'Host: other', 'Host: a b', 'Host:', 'Expect: x', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Content-Length: 5', 'Content-Length: -1', 'Content-Length: 99999999999999999999', `X-Long: ${'x'.repeat(25_000)}`, 'broken', ': empty',
  'Connection: keep-alive', 'Connection: upgrade',
] as const
const I = '/management/processes/hello/instances'
/** Paths that are there. */
const PATHS = [
  '/', '/hello', '/hello', '/hello', '/ev', '/a%20b', '/hello/id-1', '/hello/schema', '/hello/id-1/tasks', '/q/openapi', '/q/swagger-ui', '/q/health', '/q/metrics', '/messaging/topics', '/management/processes', '/management/processes/sources',
  '/management/processes/hello', '/management/processes/hello/nodes', '/management/processes/hello/source', I, `${I}/id-1`, `${I}/id-1/history`, `${I}/id-1/error`, `${I}/id-1/retrigger`, `${I}/id-1/nodeInstances/wait-1`, `${I}/id-1/sla`, `${I}/id-1/nodes/Compute`,
] as const

/** Requests that are right, as a base for damage and as proof that the service is reached. */
const RIGHT = [
  ['POST', '/hello', '{"a":1}', ['Content-Type: application/json']],
  ['POST', '/a%20b', '', []],
  ['GET', '/hello', '', []],
  ['POST', '/', '{"x":1}', ['ce-id: 1', 'ce-source: s', 'ce-type: order.placed', 'ce-specversion: 1.0', 'Content-Type: application/json']],
  ['POST', '/', '{"specversion":"1.0","id":"1","source":"s","type":"order.placed","data":{}}', ['Content-Type: application/cloudevents+json']],
  ['POST', '/hello', 'x'.repeat(30_000), ['Content-Type: application/json']],
  ['POST', '/hello', 'x', ['Content-Type: text/plain']],
  ['GET', '/hello', '', [`X-Long: ${'x'.repeat(25_000)}`]],
] as const

interface FuzzRequest {
  readonly bytes: Buffer
  /** The caller goes away in the midst of it. */
  readonly isCutOff: boolean
}

function makeRequest(random: Random): FuzzRequest {
  if (random.chance(0.03)) return { bytes: Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256))), isCutOff: true }
  const right = random.chance(0.2) ? random.one(RIGHT) : undefined
  const method = right?.[0] ?? random.one(METHODS)
  const path = right?.[1] ?? makePath(random)
  const target = right === undefined && random.chance(0.02) ? random.one(['*', 'http://h/hello', 'http://[', 'hello', '//hello', 'http://h:99999/x', '\\hello']) : path
  const body = right?.[2] ?? random.one(BODIES)
  const lines = [`${method} ${target} ${random.chance(0.98) ? 'HTTP/1.1' : random.one(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''])}`]
  if (random.chance(0.95)) lines.push('Host: 127.0.0.1')
  lines.push(...right?.[3] ?? [])
  if (right === undefined) for (let n = random.below(4); n > 0; n--) lines.push(random.one(HEADERS))
  if (random.chance(right === undefined ? 0.1 : 0.02)) lines.push(random.one(BREAKING))
  const isChunked = random.chance(0.1)
  if (isChunked) lines.push('Transfer-Encoding: chunked')
  else if (body !== '' || random.chance(0.5)) lines.push(`Content-Length: ${String(Buffer.byteLength(body))}`)
  lines.push('Connection: close')
  const framed = isChunked ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
  const request = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${framed}`, random.chance(0.9) ? 'utf8' : 'latin1')
  if (random.chance(0.1)) for (let n = 1 + random.below(5); n > 0; n--) request[random.below(request.length)] = random.below(256)
  return random.chance(0.05) ? { bytes: request.subarray(0, random.below(request.length)), isCutOff: true } : { bytes: request, isCutOff: random.chance(0.03) }
}

function makePath(random: Random): string {
  if (random.chance(0.6)) return random.one(PATHS) + random.one(QUERIES)
  return `/${Array.from({ length: random.below(7) }, () => random.one(PARTS)).join('/')}${random.one(QUERIES)}`
}

/** Sends bytes at once, in pieces, or cut off, and gives what came back. */
function exchange(port: number, { bytes, isCutOff }: FuzzRequest, random: Random): Promise<string> {
  const pieces = random.chance(0.1) ? 2 + random.below(4) : 1
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port })
    socket.setNoDelay(true)
    // A request that was damaged may never end: the caller gives up before the server does.
    socket.setTimeout(1500, () => { socket.destroy() })
    socket.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    socket.on('error', () => { socket.destroy() })
    socket.on('close', () => { resolve(Buffer.concat(chunks).toString('latin1')) })
    const size = Math.ceil(bytes.length / pieces)
    const write = (from: number): void => {
      socket.write(bytes.subarray(from, from + size))
      if (from + size < bytes.length) setImmediate(() => { write(from + size) })
      else if (isCutOff) setImmediate(() => { socket.end() })
    }
    write(0)
  })
}

// As a program: `node --expose-gc --import tsx test/fault/http-fuzz.ts [requests] [seed]`.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [requests = '100000', seed = '1'] = process.argv.slice(2)
  const report = await fuzz({ requests: Number(requests), seed: Number(seed) })
  process.stdout.write(`${JSON.stringify({ ...report, serverErrors: report.serverErrors.slice(0, 5), faults: report.serverErrors.length })}\n`)
  process.exitCode = report.serverErrors.length === 0 ? 0 : 1
}
