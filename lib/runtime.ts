import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createAccessControl, createAuthorizer } from './auth/index.ts'
import { createLogging, createRandomIdSource, createSystemClock, type Cancel, type Clock, type IdSource, type Logger, type Logging } from './common/index.ts'
import { createSettings, type Settings } from './configuration/index.ts'
import { loadDefinition, type LoadOptions } from './definition/index.ts'
import { createLoader, createRegistry, deploy, watchFiles, type DeployOptions, type Loader, type Registry } from './deployment/index.ts'
import type { DevServices } from './dev-services/index.ts'
import { createFunctionCompiler, findHostModules, loadHostClasses, type FunctionCompiler } from './functions/index.ts'
import { canWait, createSchedules, type DeployedWorkflow, type Kernel, type KernelOptions, type StoredDefinition } from './hosts/index.ts'
import { createMemoryHost } from './hosts/memory/index.ts'
import { createSqliteHost, hasLibrary } from './hosts/sqlite/index.ts'
import { createHttpClients, type HttpClients } from './http-client/index.ts'
import { createInspector, createRecorder, resolveInspectorSettings, type Inspector, type InspectorSettings, type Recorder } from './inspector/index.ts'
import { createLifecycle, createOutgoing, type Lifecycle, type Outgoing } from './messaging/index.ts'
import { openFunctions, openTenancy, type FunctionsPart, type TenancyPart } from './runtime-mounts.ts'
import type { Addresses, DefinitionInput, Runtime, RuntimeOptions } from './runtime-options.ts'
import { createServer, createServerMetrics, resolveLogOptions, resolveServerSettings, type Server, type ServerMetrics } from './server/index.ts'
import { openTracing, type Tracing } from './telemetry/index.ts'

/** What the parts of a runtime are made from. */
interface Surroundings {
  readonly options: RuntimeOptions
  readonly settings: Settings
  readonly root: string
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** Levels that can be changed; absent when the caller brought a logger of its own. */
  readonly logging: Logging | undefined
  /** Files, directories and documents to serve. */
  readonly definitions: readonly DefinitionInput[]
  readonly devServices: DevServices | undefined
  /** Settings and memory of the inspector; absent when it is off. */
  readonly inspection: { readonly settings: InspectorSettings; readonly recorder: Recorder; open?: Inspector } | undefined
  /** Absent where no traces are asked for. */
  readonly tracing: Tracing | undefined
}

/** The parts, wired. */
interface Parts extends Surroundings {
  readonly registry: Registry
  readonly clients: HttpClients
  readonly metrics: ServerMetrics
  readonly outgoing: Outgoing
  readonly host: Kernel
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
  schedules.update(registry.deployments.list())
  registry.catalogue.onChange(() => { schedules.update(registry.deployments.list()) })
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
      unwatch?.()
      schedules.close()
      // Its streams would hold the server's connections open.
      await inspector?.close()
      // Requests first, then what they started, then the connections that both used.
      await server?.close(graceMilliseconds)
      await host.close(graceMilliseconds)
      await outgoing.close(graceMilliseconds)
      await parts.tracing?.close(graceMilliseconds)
      await parts.functions.close()
      await parts.hosted?.close()
      await parts.clients.close()
      await parts.devServices?.close()
    },
  }
}

/** The key lets a run that was started before a crash not be started again after it. */
function startScheduled(host: Kernel, { id, version }: { readonly id: string; readonly version: string }, due: number): Promise<unknown> {
  return host.start({ workflowId: id, version, input: {}, idempotencyKey: `schedule/${version}/${String(due)}` })
}

async function surround(options: RuntimeOptions): Promise<Surroundings> {
  const root = resolve(options.root ?? '.')
  const clock = options.clock ?? createSystemClock()
  const ids = options.ids ?? createRandomIdSource()
  const first = await readSettings(options, root)
  const logging = createLogging(resolveLogOptions(first))
  const log = options.log ?? logging.log
  const devServices = await wantsDevServices(first, root) ? await startDevServices(first, clock, log) : undefined
  const settings = devServices === undefined ? first : await readSettings({ ...options, settings: { ...options.settings, ...settingsOf(devServices) } }, root)
  for (const { level, message } of settings.warnings) log[level]({}, message)
  const tracing = await openTracing({ settings, clock, log: log.child({ module: 'telemetry' }), ...(options.spanExporter === undefined ? {} : { exporter: options.spanExporter }) })
  return { options, settings, root, clock, ids, log, logging: options.log === undefined ? logging : undefined, devServices, inspection: inspectionOf(settings), tracing, definitions: options.definitions ?? await defaultDefinitions(settings, root) }
}

function inspectionOf(settings: Settings): Surroundings['inspection'] {
  const resolved = resolveInspectorSettings(settings)
  return resolved === undefined ? undefined : { settings: resolved, recorder: createRecorder(resolved) }
}

function readSettings(options: RuntimeOptions, root: string): Promise<Settings> {
  return createSettings({
    root,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.arguments === undefined ? {} : { arguments: options.arguments }),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.settingsFiles === undefined ? {} : { readFile: explicitFiles(root, options.settingsFiles) }),
  })
}

/** Lets files named explicitly stand for the project's `application.properties`. */
function explicitFiles(root: string, paths: readonly string[]): (path: string) => Promise<string | undefined> {
  const standard = resolve(root, 'application.properties')
  return async (path) => {
    if (path !== standard || paths.length === 0) return undefined
    const texts = await Promise.all(paths.map((file) => readFile(resolve(root, file), 'utf8')))
    return texts.join('\n')
  }
}

async function defaultDefinitions(settings: Settings, root: string): Promise<readonly string[]> {
  const configured = settings.list('sonatina.definitions')
  if (configured !== undefined && configured.length > 0) return configured.map((path) => resolve(root, path))
  const workflows = join(root, 'workflows')
  return [await exists(workflows) ? workflows : root]
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false)
}

const ACME = { document: 'specs/acme-financial-service.yml', client: 'sonatina.rest-client.acme_financial_service_yml', oauth: 'sonatina.oidc-client.acme_financial_oauth' }

/** In development the remote side of the reference workflow comes along, unless the project has one of its own. */
async function wantsDevServices(settings: Settings, root: string): Promise<boolean> {
  if (settings.profile !== 'dev' || !settings.boolean('sonatina.dev-services.enabled', true)) return false
  const configured = settings.has(`${ACME.client}.url`) || settings.has(`${ACME.oauth}.client-id`)
  return !configured && await exists(join(root, ACME.document))
}

// Loaded only here: production needs neither.
async function startDevServices(settings: Settings, clock: Clock, log: Logger): Promise<DevServices> {
  const { startDevServices: start } = await import('./dev-services/index.ts')
  return start({
    clock,
    log: log.child({ module: 'dev-services' }),
    oauthPort: settings.number('sonatina.dev-services.oauth-port', 0),
    acmePort: settings.number('sonatina.dev-services.acme-port', 0),
  })
}

function settingsOf({ authorizationServer, acme }: DevServices): Record<string, string> {
  return {
    [`${ACME.client}.url`]: acme.url,
    [`${ACME.oauth}.discovery-enabled`]: 'false',
    [`${ACME.oauth}.token-path`]: authorizationServer.tokenUrl,
    [`${ACME.oauth}.client-id`]: authorizationServer.clientId,
    [`${ACME.oauth}.credentials.client-secret.value`]: authorizationServer.clientSecret,
  }
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
  const host = createHost(surroundings, { registry, metrics, outgoing, redeploy })
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

type HostParts = Pick<Parts, 'registry' | 'metrics' | 'outgoing'> & { readonly redeploy: (stored: StoredDefinition) => Promise<DeployedWorkflow> }

/** Picks the host: in memory, or in a file for what can wait (`sonatina.store`). */
function createHost(surroundings: Surroundings, parts: HostParts): Kernel {
  const { options, settings, clock, log, root } = surroundings
  const store = settings.text('sonatina.store')
  const kernel = kernelOptions(surroundings, parts)
  if (store === 'memory') return createMemoryHost(kernel)
  if (!hasLibrary()) {
    log.warn({ store }, `there is no binary of the package "libsql" for ${process.platform}-${process.arch}: instances are kept in memory and end with the process`)
    return createMemoryHost(kernel)
  }
  const { deployments } = parts.registry
  return createSqliteHost({
    ...kernel,
    file: resolve(root, settings.text('sonatina.store.sqlite.file', '.sonatina/sonatina.db')),
    synchronous: settings.text('sonatina.store.sqlite.synchronous', 'FULL') === 'NORMAL' ? 'NORMAL' : 'FULL',
    startedAt: clock.now(),
    keep: {
      isDurable: store === 'sqlite' ? () => true : (workflow) => canWait(workflow, deployments),
      redeploy: parts.redeploy,
      forward(event) {
        options.onEvent?.(event)
        return parts.outgoing.deliver(event)
      },
      storedHeaders: headersToStore(settings),
      inboxRetention: settings.duration('sonatina.store.inbox-retention', DAY),
      history: settings.boolean('sonatina.store.history', true),
      ...(options.crashPoint === undefined ? {} : { probe: options.crashPoint }),
    },
  })
}

const DAY = 86_400_000

/** Headers are kept only where that is asked for, and without those named (configuration.md §5). */
function headersToStore(settings: Settings): (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>> {
  if (!settings.boolean('sonatina.persistence.headers.enabled', false)) return () => ({})
  const excluded = new Set((settings.list('sonatina.persistence.headers.excluded') ?? []).map((name) => name.toLowerCase()))
  return (headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !excluded.has(name)))
}

function kernelOptions({ options, settings, clock, ids, log, inspection, tracing }: Surroundings, { registry, metrics, outgoing }: HostParts): KernelOptions {
  const maxActive = settings.number('sonatina.instances.max-active')
  const lifecycle = createLifecycleOf(settings, { clock, ids, outgoing })
  return {
    deployments: registry.deployments,
    clock,
    ids,
    log,
    secrets: secretsOf(settings, inspection),
    publish(event) {
      options.onEvent?.(event)
      outgoing.send(event)
    },
    loopback: options.loopback ?? settings.text('sonatina.messaging.sink') === undefined,
    maxSteps: settings.number('sonatina.instances.max-steps', 100_000),
    kogitoAttributes: settings.boolean('sonatina.headers.kogito', settings.languageProfile === 'sonataflow'),
    retention: settings.duration('sonatina.instances.retention', 0),
    ...(maxActive === undefined ? {} : { maxActive }),
    ...(options.replace?.subflows === undefined ? {} : { subflows: options.replace.subflows }),
    ...(lifecycle === undefined && inspection === undefined ? {} : {
      onRest(record, facts) {
        lifecycle?.data(record, facts)
        inspection?.recorder.rest(record)
      },
    }),
    ...(inspection === undefined ? {} : {
      inspect(facts) {
        const observer = inspection.open?.observe(facts)
        return observer === undefined ? undefined : (_instance, event) => { observer(event) }
      },
    }),
    onStep(step, facts) {
      lifecycle?.step(step, facts)
      tracing?.step(step, facts)
      inspection?.recorder.step(step, facts)
      metrics.observe(step, facts)
      options.onStep?.({ ...step, instanceId: facts.id, workflowId: facts.workflowId, version: facts.version })
    },
  }
}

/** Lifecycle events cost an event for every change: only where they are asked for. */
function createLifecycleOf(settings: Settings, { clock, ids, outgoing }: { clock: Clock; ids: IdSource; outgoing: Outgoing }): Lifecycle | undefined {
  const channel = settings.text('sonatina.lifecycle-events.channel', 'kogito-processinstances-events')
  const wanted = settings.boolean('sonatina.lifecycle-events.enabled', settings.languageProfile === 'sonataflow')
  if (!wanted || !outgoing.hasChannel(channel)) return undefined
  return createLifecycle({ clock, ids, send: (event) => { outgoing.send(event, channel) } })
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

/** What expressions read as `$SECRET` is remembered by the inspector, so that it is never shown. */
function secretsOf(settings: Settings, inspection: Surroundings['inspection']): DeployOptions['secrets'] {
  return {
    read(key) {
      const value = settings.expressionSecret(key)
      inspection?.recorder.secret(value)
      return value
    },
  }
}

function watchDefinitions({ definitions, loader, clock, log }: Parts): Promise<Cancel> {
  const paths = definitions.filter((input) => typeof input === 'string')
  return watchFiles({
    paths,
    clock,
    log,
    async changed() {
      const { failures } = await loader.reload(paths)
      log.info({ failures: failures.length }, 'definitions were loaded again')
    },
  })
}

/** The inspector, where it is on. */
function openInspector({ host, registry, settings, clock, log, inspection }: Parts): Inspector | undefined {
  if (inspection === undefined) return undefined
  const { rootPath } = resolveServerSettings(settings)
  inspection.open = createInspector({ settings: inspection.settings, recorder: inspection.recorder, host, catalogue: registry.catalogue, clock, log: log.child({ module: 'inspector' }), rootPath })
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
