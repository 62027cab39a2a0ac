import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogger } from '../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../lib/functions/index.ts'
import { createRuntime } from '../../lib/runtime.ts'
import { DEFINITIONS } from './definitions.ts'

// The process that is killed: serves the workflows from a store and writes every effect to a ledger.

const { values } = parseArgs({ options: { directory: { type: 'string' }, host: { type: 'string' }, crash: { type: 'string' }, settings: { type: 'string', default: '{}' } } })
const directory = values.directory ?? '.'
const [crashAt, crashNumber = '1'] = (values.crash ?? '').split('@')
let left = Number(crashNumber)

function note(line: object): void {
  appendFileSync(join(directory, 'ledger.jsonl'), `${JSON.stringify(line)}\n`)
}

async function mark(_operation: string, { arguments: given, context }: FunctionCall): Promise<FunctionResult> {
  const { name, order, item } = given as { name: string; order: string; item: string | null }
  note({ kind: 'effect', name, order, item, key: context.idempotencyKey, at: Date.now() })
  await new Promise((resolve) => { setTimeout(resolve, 5) })
  return { output: {} }
}

const runtime = await createRuntime({
  root: directory,
  environment: {},
  hostClasses: new Map(),
  definitions: DEFINITIONS,
  settings: { 'sonatina.store': values.host ?? 'sqlite', 'sonatina.profile': 'spec', 'sonatina.store.sqlite.synchronous': 'NORMAL', ...JSON.parse(values.settings) as Record<string, string> },
  functionTypes: new Map([['soak', mark]]),
  onEvent: (event) => { note({ kind: 'event', id: event.id, data: event.data }) },
  // That the engine is away is what its soak is about.
  log: createLogger({ level: values.host === 'restate' ? 'silent' : 'error', write: (line) => process.stderr.write(line) }),
  crashPoint: (point) => {
    if (point !== crashAt) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  },
})
const { url } = await runtime.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
process.once('SIGTERM', () => {
  void runtime.close(2000).then(() => { process.exit(0) })
})
