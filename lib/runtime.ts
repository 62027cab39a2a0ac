import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createAccessControl, createAuthorizer } from './auth/index.ts'
import { keepAlive, type Cancel, type Clock } from './common/index.ts'
import { loadDefinition, type LoadOptions } from './definition/index.ts'
import { createLoader, createRegistry, deploy, watchFiles, type DeployOptions, type Loader, type Registry } from './deployment/index.ts'
import { createFunctionCompiler, findHostModules, loadHostClasses, type FunctionCompiler } from './functions/index.ts'
import { createSchedules, type DeployedWorkflow, type RunningHost, type StoredDefinition } from './hosts/index.ts'
import { createHttpClients, type HttpClients } from './http-client/index.ts'
import type { Inspector } from './inspector/index.ts'
import { createOutgoing, type Outgoing } from './messaging/index.ts'
import { createHost } from './runtime-host.ts'
import { secretsOf } from './runtime-inspection.ts'
import { openFunctions, openTenancy, type FunctionsPart, type TenancyPart } from './runtime-mounts.ts'
import type { Addresses, Runtime, RuntimeOptions } from './runtime-options.ts'
import { surround, type Surroundings } from './runtime-surroundings.ts'
import { createServer, createServerMetrics, resolveServerSettings, type Server, type ServerMetrics } from './server/index.ts'

/** The parts, wired. */
interface Parts extends Surroundings {
  readonly registry: Registry
  readonly clients: HttpClients
  readonly metrics: ServerMetrics
  readonly outgoing: Outgoing
  readonly host: RunningHost
  readonly functions: FunctionCompiler
  readonly hosted: FunctionsPart | undefined
  readonly tenancy: TenancyPart | undefined
  readonly loader: Loader
}

/**
 * Puts a runtime together: settings, definitions, functions, a host, and the server that is opened by `listen`.
 *
 * A definition that cannot be loaded does not stop the others; `catalogue.failures` names it.
 *
 * @throws {@link ConfigurationError} when settings are wrong
 * @throws {@link DefinitionError} with option `strict`, when a definition cannot be loaded
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const parts = await wire(await surround(options))
  const { host, registry, loader, clock, log, settings, definitions, outgoing } = parts
  await loader.add(definitions)
  await host.recover()
  const schedules = createSchedules({ clock, log, memory: host.schedules, start: ({ program: { definition } }, due) => startScheduled(host, definition, due) })
  // Of several processes on one machine, one keeps the schedules of a definition.
  const schedule = (): void => { schedules.update(registry.deployments.list().filter(({ program: { definition } }) => host.begins?.(definition.id) !== false)) }
  schedule()
  registry.catalogue.onChange(schedule)
  const unwatch = settings.boolean('sonatina.definitions.watch', settings.profile === 'dev') ? await watchDefinitions(parts) : undefined
  let server: Server | undefined
  let inspector: Inspector | undefined
  return {
    host,
    catalogue: registry.catalogue,
    deploy: (more) => loader.add(more),
    undeploy: (id, version) => { registry.remove(id, version) },
    async listen(address) {
      inspector = openInspector(parts)
      server = openServer(parts, inspector)
      return describe(await server.listen(address), parts)
    },
    async quiet() {
      await host.quiet()
      await outgoing.idle()
    },
    async close(graceMilliseconds = settings.duration('sonatina.shutdown.timeout', 30_000)) {
      const release = keepAlive()
      // The server listens on for a while first.
      const delay = server === undefined ? 0 : Math.min(settings.duration('sonatina.shutdown.delay', 0), graceMilliseconds)
      const left = countDown(clock, clock.now() + delay + graceMilliseconds, Math.min(graceMilliseconds, LEAST_GRACE))
      try {
        unwatch?.()
        parts.tenancy?.close()
        schedules.close()
        // Its streams would hold the server's connections open.
        await inspector?.close()
        // Requests first, then what they started, then the connections that both used.
        await server?.close(graceMilliseconds)
        await closeParts(parts, left)
      } finally {
        release()
      }
    },
  }
}

/** What each part has at least, in milliseconds, when those before it have taken all the time of a stop. */
const LEAST_GRACE = 1000

/** Tells what is left of the time of a stop, in milliseconds: all parts share it, for whoever stops the process waits no longer. */
function countDown(clock: Clock, deadline: number, least: number): () => number {
  return () => Math.max(deadline - clock.now(), least)
}

async function closeParts({ host, outgoing, tracing, functions, hosted, clients, devServices }: Parts, left: () => number): Promise<void> {
  await host.close(left())
  await outgoing.close(left())
  await tracing?.close(left())
  await functions.close()
  await hosted?.close()
  await clients.close()
  await devServices?.close()
}

/** The key lets a run that was started before a crash not be started again after it. */
function startScheduled(host: RunningHost, { id, version }: { readonly id: string; readonly version: string }, due: number): Promise<unknown> {
  return host.start({ workflowId: id, version, input: {}, idempotencyKey: `schedule/${version}/${String(due)}` })
}

async function wire(surroundings: Surroundings): Promise<Parts> {
  const { settings, clock, log, options } = surroundings
  const registry = createRegistry()
  const clients = createHttpClients({ settings, clock, log })
  const metrics = createServerMetrics()
  const outgoing = createOutgoing({ settings, client: clients.general, clock, log })
  const deployed: { functions?: FunctionCompiler } = {}
  const redeploy = async (stored: StoredDefinition): Promise<DeployedWorkflow> =>
    deploy(await loadDefinition({ uri: stored.uri, text: stored.text }, loadOptions(surroundings)), deployOptions(surroundings, deployed.functions as FunctionCompiler))
  const host = await createHost(surroundings, { registry, metrics, outgoing, redeploy })
  const hosted = await openFunctions(surroundings)
  const tenancy = await openTenancy(surroundings)
  const functions = await createFunctions(surroundings, { clients, host, hosted })
  deployed.functions = functions
  const loader = createLoader({
    registry,
    log,
    load: loadOptions(surroundings),
    deploy: deployOptions(surroundings, functions),
    strict: options.strict ?? settings.boolean('sonatina.definitions.strict', false),
  })
  return { ...surroundings, registry, clients, metrics, outgoing, host, functions, hosted, tenancy, loader }
}

async function createFunctions(surroundings: Surroundings, { clients, host, hosted }: Pick<Parts, 'clients' | 'host' | 'hosted'>): Promise<FunctionCompiler> {
  const { options, settings, root, clock, ids, log, tracing } = surroundings
  const found = await loadHostClasses(await hostModules(surroundings))
  const compiler = createFunctionCompiler({
    settings,
    clock,
    ids,
    log,
    root,
    httpClients: clients,
    authorizer: createAuthorizer({ settings, clients, clock, ids, log }),
    publish: (event) => { host.emit(event) },
    ...(hosted === undefined ? {} : { hostedFunctions: hosted.hosted }),
    hostClasses: new Map([...found, ...(options.hostClasses ?? [])]),
    ...(options.functionTypes === undefined ? {} : { functionTypes: options.functionTypes }),
    ...(options.stdout === undefined ? {} : { stdout: options.stdout }),
  })
  return tracing?.traced(compiler) ?? compiler
}

/** Modules named in the settings, else those beside the definitions. */
async function hostModules({ settings, root, definitions, options }: Surroundings): Promise<readonly string[]> {
  const named = settings.list('sonatina.host-classes')
  if (named !== undefined && named.length > 0) return named.map((path) => resolve(root, path))
  // A program that hands its classes over does not want files to be run that happen to lie there.
  if (options.hostClasses !== undefined) return []
  const directories = definitions.filter((input) => typeof input === 'string').map(async (path) => {
    const isDirectory = await stat(path).then((entry) => entry.isDirectory(), () => false)
    return isDirectory ? path : dirname(path)
  })
  return findHostModules(await Promise.all(directories))
}

function loadOptions({ options, settings, root }: Surroundings): LoadOptions {
  const functionTypes = options.functionTypes === undefined ? undefined : [...options.functionTypes.keys()]
  return {
    profile: settings.languageProfile,
    branchData: settings.text('sonatina.parallel.data', 'shared') === 'isolated' ? 'isolated' : 'shared',
    root,
    ...(functionTypes === undefined ? {} : { functionTypes }),
    ...(options.readResource === undefined ? {} : { readResource: options.readResource }),
  }
}

function deployOptions({ options, settings, root, clock, ids, log, inspection }: Surroundings, functions: FunctionCompiler): DeployOptions {
  return {
    functions,
    root,
    clock,
    ids,
    log,
    secrets: secretsOf(settings, inspection),
    maxSteps: settings.number('sonatina.instances.max-steps', 100_000),
    loop: options.loop ?? 'fast',
    expressions: {
      lenient: settings.boolean('sonatina.expressions.lenient', false),
      dynamicSecrets: settings.boolean('sonatina.expressions.dynamic-secrets', false),
      regex: settings.text('sonatina.expressions.regex', 'linear') === 'backtracking' ? 'backtracking' : 'linear',
    },
    ...(options.replace?.functions === undefined ? {} : { replacements: options.replace.functions }),
  }
}

async function watchDefinitions(parts: Parts): Promise<Cancel> {
  const { definitions, loader, clock, log } = parts
  const paths = definitions.filter((input) => typeof input === 'string')
  let modules = await hostModuleTimes(parts)
  return watchFiles({
    paths,
    clock,
    log,
    async changed() {
      const { failures } = await loader.reload(paths)
      log.info({ failures: failures.length }, 'definitions were loaded again')
      const before = modules
      modules = await hostModuleTimes(parts)
      if (modules !== before) log.warn({}, 'host classes have changed, and go on as they were: start the service again')
    },
  })
}

/** What changes when a host module does: a process cannot forget the one that it has read. */
async function hostModuleTimes(surroundings: Surroundings): Promise<string> {
  const paths = await hostModules(surroundings)
  const times = await Promise.all(paths.map((path) => stat(path).then(({ mtimeMs }) => mtimeMs, () => 0)))
  return JSON.stringify([paths, times])
}

/** The inspector, where it is on. */
function openInspector({ host, registry, settings, clock, log, inspection }: Parts): Inspector | undefined {
  if (inspection === undefined) return undefined
  const { rootPath } = resolveServerSettings(settings)
  inspection.open = inspection.create({ host, catalogue: registry.catalogue, clock, log: log.child({ module: 'inspector' }), rootPath })
  return inspection.open
}

function openServer({ host, registry, settings, log, logging, clock, ids, metrics, clients, root, loader, hosted, tenancy }: Parts, inspector: Inspector | undefined): Server {
  const access = createAccessControl({ settings, httpClient: clients.general, clock, log })
  return createServer({
    host,
    catalogue: registry.catalogue,
    settings: resolveServerSettings(settings),
    log,
    clock,
    ids,
    metrics,
    ...(logging === undefined ? {} : { logLevels: logging }),
    sourceRoots: [root],
    async deploy(source) {
      const { failures } = await loader.add([source])
      if (failures[0] !== undefined) throw failures[0].error
    },
    mounts: [tenancy?.mount, hosted?.mount, inspector].filter((mount) => mount !== undefined),
    ...(access.active ? { authenticate: (request) => access.authorize(request) } : {}),
  })
}

function describe({ url, managementUrl }: Addresses, { settings, inspection }: Parts): Addresses {
  const service = managementUrl ?? url
  return {
    url,
    ...(managementUrl === undefined ? {} : { managementUrl }),
    ...(inspection === undefined ? {} : { inspectorUrl: `${service}/inspect` }),
    ...(settings.boolean('sonatina.swagger-ui.always-include', settings.profile === 'dev') ? { swaggerUiUrl: `${service}/q/swagger-ui` } : {}),
  }
}
