import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import Koa from 'koa'
import { ready } from './ready.ts'
import { SERVICES, type Input } from './services.ts'

// The floor: the same services written by hand, with the same Koa and the same JSON.

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
  const handler = SERVICES[ctx.path]
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
