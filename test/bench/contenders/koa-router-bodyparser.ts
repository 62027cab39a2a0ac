import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import Koa from 'koa'
import Router from '@koa/router'
import { ready } from './ready.ts'

// What most people write: Koa with a router and a body parser in front of the hand-written W1.

const app = new Koa()
const router = new Router()

app.use(async (ctx, next) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  ctx.state['body'] = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  await next()
})
router.post('/chain', (ctx) => {
  const input = ctx.state['body'] as { amount: number; exchangeRate: number; currencyTo: string }
  const id = randomUUID()
  ctx.status = 201
  ctx.set('Location', `http://${ctx.host}/chain/${id}`)
  ctx.body = { id, workflowdata: { ...input, result: input.amount * input.exchangeRate, label: `${input.currencyTo} amount`, status: 'OK' } }
})
app.use(router.routes()).use(router.allowedMethods())
const answer = app.callback()
ready(createServer((request, response) => { void answer(request, response) }))
