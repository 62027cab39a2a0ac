import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rowsLeft } from '../ledger.ts'
import { faultsOf, type Entry } from './drive.ts'
import type { CrashWorkflow } from './workflows.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))

/** What came of one kill. */
export interface KillResult {
  /** Whether the process was killed: a workflow does not pass every point. */
  readonly killed: boolean
  readonly faults: readonly string[]
}

/** Drives a workflow in a process that is killed at a point (`after-commit@2`), then in another to its end. */
export async function runKill(workflow: CrashWorkflow, crash: string): Promise<KillResult> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-'))
  try {
    const killed = await run(directory, workflow, crash) === null
    const code = killed ? await run(directory, workflow) : 0
    const faults = [
      ...(code === 0 ? [] : [`the process that went on ended with ${String(code)}`]),
      ...faultsOf(workflow, readEntries(directory)),
      ...rowsLeft(join(directory, '.sonatina/sonatina.db')),
    ]
    return { killed, faults: faults.map((fault) => `${workflow.id}, killed at ${crash}: ${fault}`) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function run(directory: string, { id }: CrashWorkflow, crash?: string): Promise<number | null> {
  const args = ['--import', 'tsx', WORKER, '--directory', directory, '--workflow', id, ...(crash === undefined ? [] : ['--crash', crash])]
  const [code] = await once(spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }), 'exit') as [number | null]
  return code
}

/** Reads what the processes of a run have written down; a line that a kill cut short is left out. */
export function readEntries(directory: string): readonly Entry[] {
  const file = join(directory, 'ledger.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').split('\n').flatMap((line): Entry[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry]
    } catch {
      return []
    }
  })
}
