import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import Koa from 'koa'
import { Pool } from 'undici'
import { silentLogger } from '../../lib/common/index.ts'
import { readBody } from '../../lib/function-runtime/body.ts'
import { defineFunction, json, listenFunctions, serve } from '../../lib/function-runtime/index.ts'

// Compares a function over HTTP with a bare Koa application that reads and writes the same bodies.
// Each server is a process of its own; what counts is its CPU time for a request, which other load on the machine hardly changes.
// Run: npx tsx test/bench/functions.bench.ts

const ROUNDS = Number(process.argv[3] ?? 7)
const REQUESTS = 6000
const WARM_UP = 8000
const CONNECTIONS = 10
const BODY = JSON.stringify({ name: 'Bill', tags: ['a', 'b'], address: { street: 'Main', number: 7 } })

const Person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    address: { type: 'object', properties: { street: { type: 'string' }, number: { type: 'integer' } } },
  },
  required: ['name'],
} as const
const Greeting = { type: 'object', properties: { name: { type: 'string' }, message: { type: 'string' } } } as const

const SCENARIOS = {
  'bare Koa': { server: 'bare', headers: {}, target: undefined },
  'JSON function': { server: 'functions', headers: {}, target: 1.3 },
  'binary event': {
    server: 'functions',
    headers: { 'ce-id': 'A234-1234-1234', 'ce-specversion': '1.0', 'ce-type': 'greet', 'ce-source': '/mycontext', 'ce-time': '2018-04-05T17:31:00Z' },
    target: 1.5,
  },
} as const

async function listenBare(): Promise<string> {
  const app = new Koa()
  app.use(async (ctx) => {
    const person = JSON.parse(Buffer.from(await readBody(ctx.req, 10 * 1024 * 1024)).toString()) as { name: string }
    ctx.set('Content-Type', 'application/json')
    ctx.body = JSON.stringify({ name: person.name, message: `Hello ${person.name}!` })
  })
  const handle = app.callback()
  const server = createServer((request, response) => { void handle(request, response) })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
}

async function listenHosted(): Promise<string> {
  const greet = defineFunction(
    { name: 'greet', input: json(Person), output: json(Greeting) },
    ({ name }) => ({ name, message: `Hello ${name}!` }),
  )
  const { url } = await listenFunctions(serve([greet], { log: silentLogger }), { port: 0 })
  return url
}

async function serveChild(kind: string): Promise<void> {
  const url = kind === 'bare' ? await listenBare() : await listenHosted()
  process.on('message', () => { process.send?.({ cpu: process.cpuUsage() }) })
  process.send?.({ url })
}

async function ask<T>(child: ChildProcess): Promise<T> {
  const answer = once(child, 'message')
  child.send('cpu')
  return (await answer as [T])[0]
}

async function load(url: string, headers: Readonly<Record<string, string>>, amount: number): Promise<void> {
  const pool = new Pool(url, { connections: CONNECTIONS })
  let left = amount
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const sent = { method: 'POST', path: '/', headers: { 'content-type': 'application/json', ...headers }, body: BODY } as const
      const { statusCode, body } = await pool.request(sent)
      await body.dump()
      if (statusCode !== 200) process.stderr.write(`unexpected status ${String(statusCode)}\n`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  await pool.close()
}

async function measure(child: ChildProcess, url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const before = await ask<{ cpu: NodeJS.CpuUsage }>(child)
  await load(url, headers, REQUESTS)
  const after = await ask<{ cpu: NodeJS.CpuUsage }>(child)
  return (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / REQUESTS
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function main(): Promise<void> {
  const children: ChildProcess[] = []
  const servers = new Map<string, { child: ChildProcess; url: string }>()
  for (const [name, { server, headers }] of Object.entries(SCENARIOS)) {
    const child = fork(fileURLToPath(import.meta.url), ['serve', server])
    children.push(child)
    const [{ url }] = await once(child, 'message') as [{ url: string }]
    servers.set(name, { child, url })
    await load(url, headers, WARM_UP)
  }
  const times = new Map<string, number[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { headers }] of Object.entries(SCENARIOS)) {
      const server = servers.get(name)
      if (server !== undefined) times.set(name, [...times.get(name) ?? [], await measure(server.child, server.url, headers)])
    }
  }
  const bare = median(times.get('bare Koa') ?? [])
  for (const [name, { target }] of Object.entries(SCENARIOS)) {
    const own = median(times.get(name) ?? [])
    const goal = target === undefined ? '' : ` (goal ≤ ${String(target)}: ${own / bare <= target ? 'met' : 'missed'})`
    process.stdout.write(`${name.padEnd(14)} ${own.toFixed(1).padStart(6)} µs CPU a request, ${(own / bare).toFixed(2)}× bare Koa${goal}\n`)
  }
  for (const child of children) child.kill()
}

if (process.argv[2] === 'serve') await serveChild(process.argv[3] ?? 'bare')
else await main()
