import { createServer } from 'node:http'
import { randomUUID } from 'node:crypto'
import Koa from 'koa'
import { loadPeer } from '../peers.ts'
import { ready } from './ready.ts'
import type { Input } from './services.ts'

// W1 in an interpreter of Amazon's state language behind the floor's Koa. The language has no arithmetic: two tasks are local functions.

interface StateMachine {
  run(input: object, options: object): { readonly result: Promise<object> }
}

// It is written for a newer Node.js than the oldest that is measured.
const promises = Promise as unknown as { withResolvers?: () => object }
promises.withResolvers ??= () => {
  let settle = {}
  const promise = new Promise((resolve, reject) => { settle = { resolve, reject } })
  return { promise, ...settle }
}

const { StateMachine: Machine } = await loadPeer('aws-local-stepfunctions') as { StateMachine: new (definition: object) => StateMachine }
const resource = (name: string): string => `arn:aws:lambda:us-east-1:123456789012:function:${name}`
const machine = new Machine({
  StartAt: 'Convert',
  States: {
    Convert: { Type: 'Task', Resource: resource('convert'), ResultPath: '$.result', Next: 'Check' },
    Check: { Type: 'Choice', Choices: [{ Variable: '$.result', NumericGreaterThan: 1_000_000, Next: 'Large' }], Default: 'Label' },
    Large: { Type: 'Succeed' },
    Label: { Type: 'Task', Resource: resource('label'), ResultPath: '$.label', Next: 'Finish' },
    Finish: { Type: 'Pass', Result: 'OK', ResultPath: '$.status', End: true },
  },
})
const options = {
  overrides: {
    taskResourceLocalHandlers: {
      Convert: ({ amount, exchangeRate }: Input) => amount * exchangeRate,
      Label: ({ currencyTo }: Input) => `${currencyTo} amount`,
    },
  },
}

const app = new Koa()
app.use(async (ctx) => {
  const chunks: Buffer[] = []
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
  const id = randomUUID()
  const workflowdata = await machine.run(JSON.parse(Buffer.concat(chunks).toString('utf8')) as object, options).result
  ctx.status = 201
  ctx.set('Location', `http://${ctx.host}${ctx.path}/${id}`)
  ctx.body = { id, workflowdata }
})
const answer = app.callback()
ready(createServer((request, response) => { void answer(request, response) }))
