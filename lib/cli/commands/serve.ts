import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LoadFailure } from '../../definition/index.ts'
import type { Runtime, RuntimeOptions } from '../../runtime-options.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parseSettings, usageError } from '../usage.ts'
import { wordViolations } from '../violations.ts'

const HELP = `sonatina serve [DIRECTORY or FILE ...] [options]
sonatina dev   [DIRECTORY or FILE ...] [options]     the same in profile dev: dev services, inspector, Swagger UI, watched files

Serves workflow definitions over HTTP: POST /<workflow id> starts an instance.
One directory is taken as a project with its settings and specs; several are definitions of the project in the working directory.

  --host ADDRESS        address to listen on                          (sonatina.http.host, 127.0.0.1)
  --port NUMBER         port; 0 takes a free one                      (sonatina.http.port, PORT, 8080)
  --profile NAME        configuration profile: prod, dev, test, ...   (SONATINA_CONFIG_PROFILE, prod)
  --settings FILE       settings file in place of those found; repeatable
  --host-engine NAME    what keeps instances: memory, sqlite, restate (sonatina.store)
  --set KEY=VALUE       a setting; also -DKEY=VALUE; repeatable
  --workers NUMBER      processes on this machine that share the port     (sonatina.cluster.workers, 1)
  --strict              a broken definition stops the start
  --help                this text`

/** Makes a runtime; handed in so that tests need none. */
export type CreateRuntime = (options: RuntimeOptions) => Promise<Runtime>

/** Runs `sonatina serve` until it is told to stop. */
export function serveCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return serve(args, io)
}

/** Runs `sonatina dev`: serve in profile `dev`. */
export function devCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return serve(args.some((arg) => arg === '--profile' || arg.startsWith('--profile=')) ? args : ['--profile', 'dev', ...args], io)
}

/**
 * Starts a runtime as the arguments say, tells its addresses, and closes it when asked to stop.
 *
 * @throws UsageError for wrong arguments; what `createRuntime` and `listen` throw when the start fails
 */
export async function serve(args: readonly string[], io: CommandIo, create: CreateRuntime = createRuntime): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    host: { type: 'string' },
    port: { type: 'string' },
    profile: { type: 'string' },
    settings: { type: 'string', multiple: true },
    set: { type: 'string', multiple: true },
    'host-engine': { type: 'string' },
    strict: { type: 'boolean' },
    workers: { type: 'string' },
    // Given by the first process to those that it starts: SLOT/COUNT.
    worker: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const port = readPort(values['port'])
  const host = values['host']
  const engine = values['host-engine']
  const files = values['settings']
  const options: RuntimeOptions = {
    ...await readPlaces(positionals, io.cwd),
    arguments: [
      ...Object.entries(parseSettings(asList(values['set']))).map(([key, value]) => `${key}=${value}`),
      ...(typeof host === 'string' ? [`sonatina.http.host=${host}`] : []),
      ...(typeof engine === 'string' ? [`sonatina.store=${engine}`] : []),
      ...(port === undefined ? [] : [`sonatina.http.port=${String(port)}`]),
      ...(typeof values['workers'] === 'string' ? [`sonatina.cluster.workers=${values['workers']}`] : []),
    ],
    ...(files === undefined ? {} : { settingsFiles: asList(files).map((file) => resolve(io.cwd, String(file))) }),
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
    ...(values['strict'] === true ? { strict: true } : {}),
  }
  if (typeof values['worker'] === 'string') return serveAsWorker(values['worker'], options, { io, create })
  // Most services are one process, and know so without reading their settings twice.
  const cluster = await (await import('../serve-cluster.ts')).readCluster(options)
  return cluster === undefined ? serveAlone(await create(options), io) : (await import('../serve-cluster.ts')).serveCluster(cluster, args, io)
}

async function serveAlone(runtime: Runtime, io: CommandIo): Promise<number> {
  try {
    tellFailures(runtime.catalogue.failures, io)
    tellAddresses(await runtime.listen(), runtime, io)
    await io.stopped()
    io.out('Stopping: requests under way are finished first.')
    return 0
  } finally {
    await runtime.close()
  }
}

async function serveAsWorker(place: string, options: RuntimeOptions, { io, create }: { readonly io: CommandIo; readonly create: CreateRuntime }): Promise<number> {
  const { joinCluster, parentChannel } = await import('../../cluster/index.ts')
  const [slot, count] = place.split('/').map(Number)
  if (slot === undefined || count === undefined || !(slot < count)) throw usageError(`--worker ${place} is no place in a cluster; use --workers NUMBER`)
  const member = joinCluster({ slot, count }, parentChannel())
  const runtime = await create({ ...options, cluster: member.link })
  try {
    const lines: string[] = []
    const collect: CommandIo = { ...io, out: (line) => { lines.push(line) } }
    if (slot === 0) tellFailures(runtime.catalogue.failures, io)
    tellAddresses(await runtime.listen(), runtime, collect)
    member.ready(lines)
    // A terminal sends its signals to all processes, a supervisor to the first.
    await Promise.race([member.stopped, io.stopped()])
    return 0
  } finally {
    await runtime.close()
    // The channel would keep the process.
    process.disconnect()
  }
}

// Loaded only when it is needed: --help and wrong arguments are answered at once.
async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  return (await import('../../runtime.ts')).createRuntime(options)
}

function asList(value: string | boolean | readonly (string | boolean)[] | undefined): readonly (string | boolean)[] {
  if (value === undefined) return []
  return typeof value === 'object' ? value : [value]
}

function readPort(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65535) return Number(value)
  throw usageError(`--port ${value} is no port; it is a number from 0 to 65535`)
}

async function readPlaces(places: readonly string[], cwd: string): Promise<Pick<RuntimeOptions, 'root' | 'definitions'>> {
  const paths = places.map((place) => resolve(cwd, place))
  const kinds = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.isDirectory()))
  const missing = places.find((_place, index) => kinds[index] === undefined)
  if (missing !== undefined) throw usageError(`"${missing}" is no file or directory here`)
  const [only] = paths
  if (only === undefined) return { root: cwd }
  return paths.length === 1 && kinds[0] === true ? { root: only } : { root: cwd, definitions: paths }
}

function tellFailures(failures: readonly LoadFailure[], io: CommandIo): void {
  for (const { uri, error } of failures) io.err(wordViolations(uri, error))
}

/** Addresses beside the main one; a runtime tells those it has. */
interface Addresses {
  readonly url: string
  readonly managementUrl?: string
  readonly inspectorUrl?: string
  readonly swaggerUiUrl?: string
}

function tellAddresses(addresses: Addresses, runtime: Runtime, io: CommandIo): void {
  const service = addresses.managementUrl ?? addresses.url
  const count = runtime.catalogue.list().length
  io.out(`Sonatina serves ${String(count)} workflow${count === 1 ? '' : 's'} at ${addresses.url}`)
  for (const { definition } of runtime.catalogue.list().slice(0, 20)) io.out(`  ${addresses.url}/${encodeURIComponent(definition.id)}`)
  if (count > 20) io.out(`  and ${String(count - 20)} more: ${service}/management/processes`)
  io.out(`OpenAPI    ${service}/q/openapi`)
  if (addresses.swaggerUiUrl !== undefined) io.out(`Swagger UI ${addresses.swaggerUiUrl}`)
  if (addresses.inspectorUrl !== undefined) io.out(`Inspector  ${addresses.inspectorUrl}`)
}
