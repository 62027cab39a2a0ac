import { spawn } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { createLogger, importModule, type Logger } from '../../common/index.ts'
import { createSettings, type Settings } from '../../configuration/index.ts'
import { ConfigurationError, SonatinaError } from '../../errors/index.ts'
import {
  functionOptionsFrom,
  functionsOf,
  isFunctionService,
  isHostedFunction,
  listenFunctions,
  serve,
  type FunctionRuntimeOptions,
  type FunctionServer,
  type FunctionService,
  type ListenOptions,
} from '../../function-runtime/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, usageError } from '../usage.ts'

const HELP = `sonatina functions FILE ... [options]

Serves the functions that modules export: what defineFunction gives, instances of classes with @Funq, or serve(...) as the default.

  --host ADDRESS      address to listen on                     (sonatina.http.host, 127.0.0.1)
  --port NUMBER       port; 0 takes a free one                 (sonatina.http.port, PORT, 8080)
  --export NAME       the function at /                        (sonatina.function-runtime.export)
  --profile NAME      configuration profile                    (SONATINA_CONFIG_PROFILE, prod)
  --set KEY=VALUE     a setting; also -DKEY=VALUE; repeatable
  --watch             start anew when a file changes
  --help              this text`

/** What modules export, as far as it can be served. */
interface Exports {
  readonly sources: readonly object[]
  /** Export names by value. */
  readonly names: ReadonlyMap<unknown, string>
  /** The default export, when it is a service. */
  readonly service: FunctionService | undefined
}

/** Runs `sonatina functions` until it is told to stop. */
export function functionsCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return serveFunctions(args, io)
}

/**
 * Serves functions of modules; `options` and `environment` are handed in by programs that embed the command, and by tests.
 *
 * @throws {@link UsageError} for wrong arguments; {@link ConfigurationError} when functions or settings cannot be used
 */
export async function serveFunctions(
  args: readonly string[],
  io: CommandIo,
  options: FunctionRuntimeOptions & { readonly environment?: Readonly<Record<string, string | undefined>> } = {},
): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    host: { type: 'string' },
    port: { type: 'string' },
    export: { type: 'string' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    watch: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  if (positionals.length === 0) throw usageError('name at least one file that exports functions')
  if (values['watch'] === true) return watch(args.filter((arg) => arg !== '--watch'), io)

  const given = [['sonatina.http.host', values['host']], ['sonatina.http.port', values['port']], ['sonatina.function-runtime.export', values['export']]]
  const settings = await createSettings({
    root: io.cwd,
    settings: Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, unknown>,
    arguments: (values['set'] ?? []) as readonly string[],
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  })
  for (const { level, message } of settings.warnings) io.err(`${level}: ${message}`)
  const exports = await loadExports(positionals, io.cwd)
  const service = exports.service ?? serve(exports.sources, { ...functionOptionsFrom(settings, namesOf(exports)), ...options })
  const server = await open(service, exports, settings)
  return untilStopped(service, { server, log: options.log ?? createLogger() }, io)
}

interface Running {
  readonly server: FunctionServer
  readonly log: Logger
}

async function untilStopped(service: FunctionService, { server, log }: Running, io: CommandIo): Promise<number> {
  const onStray = (error: unknown): void => { log.error({ err: error }, 'A promise that no function waits for was rejected') }
  process.on('unhandledRejection', onStray)
  try {
    io.out(`Sonatina serves ${String(service.names().length)} function${service.names().length === 1 ? '' : 's'} at ${server.url}`)
    for (const name of service.names()) io.out(`  ${server.url}/${encodeURIComponent(name)}`)
    await io.stopped()
    io.out('Stopping: running functions are finished first.')
    await server.close()
    return 0
  } finally {
    process.off('unhandledRejection', onStray)
  }
}

// Errors of the hook `init` and of the port are not ours, and no defect either.
async function open(service: FunctionService, exports: Exports, settings: Settings): Promise<FunctionServer> {
  try {
    await service.start(exports.names)
    return await listenFunctions(service, listenOptions(settings))
  } catch (error) {
    if (SonatinaError.is(error)) throw error
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `The functions could not be started: ${error instanceof Error ? error.message : String(error)}`,
      cause: error,
    })
  }
}

async function loadExports(files: readonly string[], cwd: string): Promise<Exports> {
  const names = new Map<unknown, string>()
  let service: FunctionService | undefined
  for (const file of files) {
    const module = await importModule(resolve(cwd, file), relative(cwd, resolve(cwd, file)))
    for (const [name, value] of Object.entries(module)) {
      if (isFunctionService(value)) service = value
      else if (isHostedFunction(value) || (typeof value === 'object' && value !== null && functionsOf(value).length > 0)) names.set(value, name)
    }
  }
  if (service !== undefined && files.length > 1) throw usageError('a module that exports serve(...) is served alone')
  if (service === undefined && names.size === 0) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `${files.join(', ')} exports no function; export what defineFunction(...) gives, or an instance of a class with @Funq methods`,
    })
  }
  return { sources: [...names.keys()] as object[], names, service }
}

function namesOf({ sources, names }: Exports): string[] {
  return sources.flatMap((source) => isHostedFunction(source)
    ? [source.options.name ?? names.get(source) ?? '']
    : functionsOf(source).map(({ options }) => options.name ?? ''))
}

function listenOptions(settings: Settings): ListenOptions {
  return {
    host: settings.text('sonatina.http.host', '127.0.0.1'),
    port: settings.number('sonatina.http.port', 8080),
    maxHeaderSize: settings.size('sonatina.http.limits.max-header-size', 20 * 1024),
    headersTimeout: settings.duration('sonatina.http.headers-timeout', 30_000),
    requestTimeout: settings.duration('sonatina.http.request-timeout', 60_000),
    idleTimeout: settings.duration('sonatina.http.idle-timeout', 60_000),
  }
}

// Node.js knows what the process has imported and starts it anew when one of those files changes.
async function watch(args: readonly string[], io: CommandIo): Promise<number> {
  const program = process.argv[1] ?? ''
  const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...process.execArgv, program, 'functions', ...args], {
    cwd: io.cwd,
    stdio: 'inherit',
  })
  const ended = new Promise<number>((done) => { child.once('exit', (code) => { done(code ?? 0) }) })
  const stopped = io.stopped().then(() => {
    child.kill('SIGTERM')
    return ended
  })
  return Promise.race([ended, stopped])
}
