import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** A service that runs as a process of its own. */
export interface Program {
  readonly port: number
  readonly child: ChildProcess
  /** What it has written so far. */
  readonly output: () => string
  /** Asks it to stop and gives its exit code. */
  stop(): Promise<number | null>
}

/** How a program is started. */
export interface StartOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  readonly user?: number
}

/** Longest wait for the first line of a service, in milliseconds. */
const PATIENCE = 30_000

/**
 * Starts `sonatina serve` or `dev` and waits until it tells its address.
 *
 * @throws Error with all that the program wrote, when it ends before
 */
export function startProgram([command = '', ...args]: readonly string[], options: StartOptions): Promise<Program> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
  })
  let text = ''
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`it did not start in time:\n${text}`))
    }, PATIENCE)
    const take = (chunk: Buffer): void => {
      text += chunk.toString('utf8')
      const port = /Sonatina serves .* at https?:\/\/[^\s]*:(\d+)/.exec(text)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      resolve({ port: Number(port), child, output: () => text, stop: () => stop(child) })
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`it ended with ${String(code)}:\n${text}`))
    })
  })
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode
  child.kill('SIGTERM')
  await once(child, 'exit')
  return child.exitCode
}
