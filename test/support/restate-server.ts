import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A node of the engine that runs on loopback, or is down for a while. */
export interface RestateServer {
  readonly ingressUrl: string
  readonly adminUrl: string
  /** Settings with which a runtime uses it, as a worker on a free port. */
  settings(namespace: string): Record<string, string>
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again on what it had stored. */
  restart(): Promise<void>
  /** Ends it and removes its files. */
  close(): Promise<void>
}

/** Where the binary of the engine lies; `undefined`, told with one loud line, where its package has none for this platform. */
export function restateBinary(): string | undefined {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'))
    return join(require.resolve(`${name}/package.json`), '../bin/restate-server')
  } catch {
    process.stderr.write(`SKIPPED: the tests of the restate host need the package ${name}, which is not installed\n`)
    return undefined
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** How a cluster of several nodes is made; one node is its own cluster. */
export interface ServerOptions {
  readonly binary: string
  /** Number of nodes that keep a copy of everything. @default 1 */
  readonly nodes?: number
  /** How often a worker is asked whether it lives, and how long it may take to answer. @default that of the engine, 40 s and 20 s */
  readonly keepAlive?: string
}

/** Starts the engine in a directory of its own; resolves when it takes calls. */
export async function startRestateServer(options: ServerOptions): Promise<RestateServer> {
  const [server] = await startRestateCluster({ ...options, nodes: 1 })
  return server as RestateServer
}

/** Starts nodes that form one cluster. */
export async function startRestateCluster({ binary, nodes = 3, keepAlive }: ServerOptions): Promise<readonly RestateServer[]> {
  const ports = await Promise.all(Array.from({ length: nodes * 3 }, () => freePort()))
  const places = Array.from({ length: nodes }, (_, index): Place => ({
    node: ports[index * 3] ?? 0, ingress: ports[index * 3 + 1] ?? 0, admin: ports[index * 3 + 2] ?? 0,
  }))
  return Promise.all(places.map(async (place, index) => startNode(binary, await directoryOf(places, index, keepAlive), place)))
}

interface Place {
  readonly node: number
  readonly ingress: number
  readonly admin: number
}

async function directoryOf(places: readonly Place[], index: number, keepAlive: string | undefined): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'restate-'))
  const place = places[index] as Place
  const addresses = places.map(({ node }) => `"http://127.0.0.1:${String(node)}/"`).join(', ')
  const several = places.length > 1
  await writeFile(join(directory, 'restate.toml'), `
cluster-name = "test"
node-name = "n${String(index)}"
base-dir = "${join(directory, 'store')}"
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = ${String(place.node)}
advertised-address = "http://127.0.0.1:${String(place.node)}/"
auto-provision = ${String(index === 0)}
default-num-partitions = 4
default-replication = ${several ? '2' : '1'}
disable-telemetry = true
rocksdb-total-memory-size = "128 MiB"
log-filter = "warn"
log-disable-ansi-codes = true
[metadata-client]
addresses = [${addresses}]
[admin]
bind-port = ${String(place.admin)}
disable-web-ui = true
[ingress]
bind-port = ${String(place.ingress)}
[worker.invoker]
connect-timeout = "2s"
${keepAlive === undefined ? '' : `http2-keep-alive-interval = "${keepAlive}"\nhttp2-keep-alive-timeout = "${keepAlive}"`}
`)
  return directory
}

async function startNode(binary: string, directory: string, place: Place): Promise<RestateServer> {
  const ingressUrl = `http://127.0.0.1:${String(place.ingress)}`
  const adminUrl = `http://127.0.0.1:${String(place.admin)}`
  let child = await run()

  async function run(): Promise<ChildProcess> {
    const log = openSync(join(directory, 'server.log'), 'a')
    const started = spawn(binary, ['--config-file', join(directory, 'restate.toml')], { stdio: ['ignore', log, log], env: { ...process.env, DO_NOT_TRACK: '1' } })
    // A run that is ended by others leaves neither a process nor files.
    process.once('exit', () => {
      started.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    })
    for (let attempt = 0; attempt < 600 && started.exitCode === null; attempt += 1) {
      if (await isUp(`${ingressUrl}/restate/health`) && await isUp(`${adminUrl}/query`, QUERY)) return started
      await new Promise((resolve) => { setTimeout(resolve, 100) })
    }
    throw new Error(`the engine did not start; its log is ${join(directory, 'server.log')}`)
  }

  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    ingressUrl,
    adminUrl,
    settings: (namespace) => ({
      'sonatina.store': 'restate',
      'sonatina.restate.ingress-url': ingressUrl,
      'sonatina.restate.admin-url': adminUrl,
      'sonatina.restate.listen': '127.0.0.1:0',
      'sonatina.restate.namespace': namespace,
    }),
    kill,
    async restart() {
      child = await run()
    },
    async close() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Answered only when every partition has begun. */
const QUERY: RequestInit = { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify({ query: 'select count(*) from state' }) }

async function isUp(url: string, request: RequestInit = {}): Promise<boolean> {
  try {
    return (await fetch(url, { ...request, signal: AbortSignal.timeout(1000) })).ok
  } catch {
    // Not yet.
    return false
  }
}
