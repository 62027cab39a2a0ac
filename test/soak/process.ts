import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A worker that runs, or has ended. */
export interface Worker {
  readonly url: string
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Stops it as it stands, its connections open. */
  freeze(): void
  /** Asks it to stop; gives the exit code. */
  stop(): Promise<number | null>
  readonly exited: Promise<number | null>
  readonly hasExited: boolean
}

/** How a worker is started. */
export interface WorkerOptions {
  readonly directory: string
  readonly host: string
  readonly crash?: string
  /** Settings beside those of every worker. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts a worker and waits until it serves; `undefined` when it ended before. */
export async function startWorker(options: WorkerOptions): Promise<Worker | undefined> {
  const script = fileURLToPath(new URL('worker.ts', import.meta.url))
  const args = ['--import', 'tsx', script, '--directory', options.directory, '--host', options.host, '--settings', JSON.stringify(options.settings ?? {})]
  const child = spawn(process.execPath, options.crash === undefined ? args : [...args, '--crash', options.crash], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const url = await Promise.race([firstLine(child), exited.then(() => undefined)])
  if (url === undefined) return undefined
  return {
    url,
    exited,
    get hasExited() { return child.exitCode !== null || child.signalCode !== null },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    freeze() { child.kill('SIGSTOP') },
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) return undefined
  for await (const line of createInterface({ input: stdout })) return line
  return undefined
}
