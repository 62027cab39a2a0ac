import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLogger } from '../../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../../lib/functions/index.ts'
import { createRuntime } from '../../../lib/runtime.ts'
import { drive, produced, type Entry } from './drive.ts'
import { readEntries } from './kills.ts'
import { definitionsOf, WORKFLOWS } from './workflows.ts'

// The process of a kill: drives one workflow to its end, or until it passes the point at which it has to die.

const { values } = parseArgs({ options: { directory: { type: 'string', default: '.' }, workflow: { type: 'string' }, crash: { type: 'string', default: '' } } })
const { directory } = values
const workflow = WORKFLOWS.find(({ id }) => id === values.workflow)
if (workflow === undefined) throw new Error(`there is no workflow ${String(values.workflow)}`)
const [crashAt, crashNumber = '1'] = values.crash.split('@')
let left = Number(crashNumber)

function note(entry: Entry): void {
  appendFileSync(join(directory, 'ledger.jsonl'), `${JSON.stringify(entry)}\n`)
}

async function mark(_operation: string, { arguments: given, context }: FunctionCall): Promise<FunctionResult> {
  note({ kind: 'effect', name: (given as { name: string }).name, key: context.idempotencyKey, at: Date.now() })
  await new Promise((resolve) => { setTimeout(resolve, 2) })
  return { output: {} }
}

const runtime = await createRuntime({
  root: directory,
  environment: {},
  hostClasses: new Map(),
  definitions: definitionsOf(workflow),
  settings: { 'sonatina.store': 'sqlite', 'sonatina.profile': 'spec' },
  functionTypes: new Map([['crash', mark]]),
  onEvent: (event) => { note(produced(event)) },
  log: createLogger({ level: 'error', write: (line) => process.stderr.write(line) }),
  crashPoint: (point) => {
    if (point !== crashAt) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  },
})
const finished = await drive({
  runtime,
  workflow,
  entries: () => readEntries(directory),
  tick: () => new Promise((resolve) => { setTimeout(resolve, 20) }),
})
await runtime.close(1000)
process.exit(finished ? 0 : 1)
