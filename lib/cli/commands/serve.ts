import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LoadFailure } from '../../definition/index.ts'
import type { Runtime, RuntimeOptions } from '../../runtime-options.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parseSettings, usageError } from '../usage.ts'
import { wordViolations } from '../violations.ts'

const HELP = `sonatina serve [DIRECTORY or FILE ...] [options]

Serves workflow definitions over HTTP: POST /<workflow id> starts an instance.
One directory is taken as a project with its settings and specs; several are definitions of the project in the working directory.

  --host ADDRESS        address to listen on                          (sonatina.http.host, 127.0.0.1)
  --port NUMBER         port; 0 takes a free one                      (sonatina.http.port, PORT, 8080)
  --profile NAME        configuration profile: prod, dev, test, ...   (SONATINA_CONFIG_PROFILE, prod)
  --settings FILE       settings file in place of those found; repeatable
  --set KEY=VALUE       a setting; also -DKEY=VALUE; repeatable
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
    strict: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const port = readPort(values['port'])
  const host = values['host']
  const files = values['settings']
  const runtime = await create({
    ...await readPlaces(positionals, io.cwd),
    arguments: [
      ...Object.entries(parseSettings(asList(values['set']))).map(([key, value]) => `${key}=${value}`),
      ...(typeof host === 'string' ? [`sonatina.http.host=${host}`] : []),
      ...(port === undefined ? [] : [`sonatina.http.port=${String(port)}`]),
    ],
    ...(files === undefined ? {} : { settingsFiles: asList(files).map((file) => resolve(io.cwd, String(file))) }),
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
    ...(values['strict'] === true ? { strict: true } : {}),
  })
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
