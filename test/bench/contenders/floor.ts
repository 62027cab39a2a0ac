import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import Koa from 'koa'
import { Pool } from 'undici'
import { ready } from './ready.ts'

// The floor: the same services written by hand, with the same Koa and the same JSON. `stub` is the remote service of W3.

const stub = process.env['BENCH_STUB']
const pool = stub === undefined ? undefined : new Pool(stub, { connections: 64 })
const CURRENCIES = new Set(['EUR', 'USD', 'JPY', 'GBP', 'CAD', 'BRL', 'AUD'])

interface Input {
  readonly amount: number
  readonly exchangeRate: number
  readonly currencyFrom: string
  readonly currencyTo: string
  readonly exchangeDate: string
}

const handlers: Readonly<Record<string, (input: Input) => object | Promise<object>>> = {
  '/chain'(input) {
    const result = input.amount * input.exchangeRate
    if (result > 1_000_000) return { ...input, result }
    return { ...input, result, label: `${input.currencyTo} amount`, status: 'OK' }
  },
  '/parallel'(input) {
    let { result } = input as unknown as { result?: string }
    for (const letter of 'ABC') result = (result ?? '') + letter
    return { ...input, result }
  },
  async '/currency_exchange_workflow'(input) {
    if (!CURRENCIES.has(input.currencyFrom) || !CURRENCIES.has(input.currencyTo) || !/^\d{4}-\d\d-\d\d$/.test(input.exchangeDate)) {
      return { ...input, exchangeRate: null, executionStatus: 'ERROR' }
    }
    const query = `currencyFrom=${encodeURIComponent(input.currencyFrom)}&currencyTo=${encodeURIComponent(input.currencyTo)}&exchangeDate=${encodeURIComponent(input.exchangeDate)}`
    const answer = await pool?.request({
      method: 'GET',
      path: `/financial-service/exchange-rate?${query}`,
      headers: { accept: 'application/json', authorization: 'Bearer token' },
    })
    const { rate } = await answer?.body.json() as { rate: number }
    return { ...input, exchangeRate: rate, result: input.amount * rate, executionStatus: 'OK', executionStatusMessage: 'Execution successful' }
  },
}

function readBody(request: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    request.on('end', () => { resolve(Buffer.concat(chunks).toString('utf8')) })
    request.on('error', reject)
  })
}

const app = new Koa()
app.use(async (ctx) => {
  const handler = handlers[ctx.path]
  if (ctx.method !== 'POST' || handler === undefined) return
  const input = JSON.parse(await readBody(ctx.req)) as Input
  const id = randomUUID()
  const workflowdata = await handler(input)
  ctx.status = 201
  ctx.set('Location', `http://${ctx.host}${ctx.path}/${id}`)
  ctx.body = { id, workflowdata }
})
const answer = app.callback()
ready(createServer((request, response) => { void answer(request, response) }))
