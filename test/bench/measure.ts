import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

/** A server of the bench in a process of its own. */
export interface Contender {
  readonly name: string
  readonly url: string
  readonly process: ChildProcess
}

/** What one round of load on one contender showed. */
export interface Sample {
  /** Server CPU (user and system) per request, microseconds. */
  readonly cpu: number
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** A request that is repeated. */
export interface Load {
  readonly path: string
  readonly body: object
  readonly seconds: number
  readonly connections: number
}

/** Ticks of a second in `/proc/<pid>/stat`; the same on every Linux that Node runs on. */
const TICKS = 100

/** Starts a contender's script, pinned to the first core where the system can do that. */
export function startContender(name: string, script: URL, env: Record<string, string>): Promise<Contender> {
  const child = fork(script, {
    env: { ...process.env, ...env, NODE_ENV: 'production' },
    execArgv: ['--import=tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', (message) => {
      pin(child.pid ?? 0, 0)
      resolve({ name, url: (message as { url: string }).url, process: child })
    })
    child.once('exit', (code) => { reject(new Error(`${name} ended with ${String(code)} before it was ready`)) })
  })
}

/** Pins a process to a core where the system can do that: servers on one, load and stubs on the other. */
export function pin(pid: number, core: number): void {
  spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' })
}

/** CPU time that a process has used so far, microseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 1_000_000 / TICKS
}

/** Resident memory of a process, bytes. */
export function memoryOf(pid: number): number {
  const line = readFileSync(`/proc/${String(pid)}/status`, 'utf8').split('\n').find((text) => text.startsWith('VmRSS'))
  return Number(line?.replace(/\D/g, '')) * 1024
}

/** Puts load on a contender and takes the figures. */
export async function measure({ url, process: child }: Contender, { path, body, seconds, connections }: Load): Promise<Sample> {
  const pid = child.pid ?? 0
  const before = cpuOf(pid)
  const result = await autocannon({
    url: url + path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    duration: seconds,
    connections,
  })
  const requests = result.requests.total
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}${path}: ${String(result.non2xx)} answers were no success, ${String(result.errors)} errors`)
  return {
    cpu: (cpuOf(pid) - before) / requests,
    requestsPerSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
  }
}

/** Ends a contender and waits for its process. */
export async function stopContender({ process: child }: Contender): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => { child.once('exit', resolve) })
  child.kill('SIGKILL')
  await ended
}

/** Median, least and most of some figures. */
export function spread(values: readonly number[]): { readonly median: number; readonly min: number; readonly max: number } {
  const sorted = [...values].sort((left, right) => left - right)
  return { median: sorted[Math.floor(sorted.length / 2)] ?? NaN, min: sorted[0] ?? NaN, max: sorted.at(-1) ?? NaN }
}
