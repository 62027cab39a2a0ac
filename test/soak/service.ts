import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))

/** A command of the product that runs as a process of its own. */
export interface Command {
  readonly pid: number
  /** All that it has printed and logged so far. */
  output(): string
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Exit code; `null` when a signal ended it. */
  readonly exited: Promise<number | null>
}

/** A service that has told its address. */
export interface Service extends Command {
  readonly url: string
}

/** Serves a project as a process; `undefined` when it ended before it served. */
export async function startService(directory: string, settings: Readonly<Record<string, string>> = {}): Promise<Service | Command> {
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve', directory, '--port', '0', ...sets], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { output += text })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const command: Command = { pid: child.pid ?? 0, output: () => output, kill: (signal) => { child.kill(signal) }, exited }
  const served = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`
      const [, url] = /^Sonatina serves .* at (\S+)$/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([served, exited.then(() => undefined)])
  return url === undefined ? command : { ...command, url }
}

/** A remote side whose answers the test gives. */
export interface Remote {
  readonly url: string
  readonly requests: { readonly key: string | undefined; readonly answer: (status: number, body: object) => void }[]
  close(): Promise<void>
}

/** Opens a remote side on a free port. */
export async function openRemote(): Promise<Remote> {
  const requests: Remote['requests'] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const key = request.headers['idempotency-key']
    requests.push({
      key: Array.isArray(key) ? key[0] : key,
      answer: (status, body) => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)) },
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => { server.close(resolve) })
    },
  }
}
