import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** `sonatina serve` in processes of its own. */
export interface ServeProcess {
  readonly child: ChildProcess
  readonly output: () => string
}

/** One that serves. */
export interface RunningServe extends ServeProcess {
  readonly port: number
}

/** Runs `sonatina serve` with a project, on a free port. */
export function spawnServe(root: string, ...args: readonly string[]): ServeProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/main.ts', 'serve', root, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => { text += chunk.toString('utf8') })
  return { child, output: () => text }
}

/** Looks every 50 ms until there is something to see. */
export async function until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    await new Promise((resolve) => { setTimeout(resolve, 50) })
  }
}

/** Longest start, in milliseconds. */
const PATIENCE = 25_000

/** Runs `sonatina serve` and waits until it serves; one that does not is ended. */
export async function startServe(root: string, ...args: readonly string[]): Promise<RunningServe> {
  const { child, output } = spawnServe(root, ...args)
  const deadline = Date.now() + PATIENCE
  const port = await until(() => {
    if (child.exitCode !== null) throw new Error(output())
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`it does not serve:\n${output()}`)
    }
    return /serves \d+ workflows? at http:\/\/127\.0\.0\.1:(\d+)\n/.exec(output())?.[1]
  })
  return { child, port: Number(port), output }
}

/** Ends what a test has left, and waits for it; workers end with their first process. */
export async function endServe({ child }: ServeProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Gives the workers of a first process by their slots, without the compiler that runs TypeScript for it; the kernel of Linux tells. */
export async function workersOf({ child }: ServeProcess): Promise<ReadonlyMap<number, number>> {
  const pid = String(child.pid)
  const pids = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter((text) => text !== '').map(Number)
  const slots = await Promise.all(pids.map(async (each) => {
    const command = await readFile(`/proc/${String(each)}/cmdline`, 'utf8').catch(() => '')
    const slot = /--worker\0(\d+)\//.exec(command)?.[1]
    return slot === undefined ? [] : [[Number(slot), each] as const]
  }))
  return new Map(slots.flat())
}

/** Tells whether a process is there. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
