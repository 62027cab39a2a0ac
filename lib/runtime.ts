import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createAuthorizer } from './auth/index.ts'
import { createLogger, createRandomIdSource, createSystemClock, type Clock, type IdSource, type Logger } from './common/index.ts'
import { createSettings, type Settings } from './configuration/index.ts'
import { checkDuplicates, loadDefinition, loadDefinitions, type LoadFailure, type LoadedDefinition, type LoadOptions } from './definition/index.ts'
import { createRegistry, deploy, type DeployOptions, type Registry } from './deployment/index.ts'
import { DefinitionError } from './errors/index.ts'
import type { CloudEventRecord } from './events/index.ts'
import { createFunctionCompiler, loadHostClasses, type FunctionCompiler } from './functions/index.ts'
import { createSchedules, type Kernel } from './hosts/index.ts'
import { createMemoryHost } from './hosts/memory/index.ts'
import { createHttpClients, type HttpClients } from './http-client/index.ts'
import { createLifecycle, createOutgoing, type Lifecycle, type Outgoing } from './messaging/index.ts'
import type { DefinitionInput, Runtime, RuntimeOptions } from './runtime-options.ts'
import { createServer, createServerMetrics, resolveServerSettings, type Server, type ServerMetrics } from './server/index.ts'

/** What the parts of a runtime are made from. */
interface Surroundings {
  readonly options: RuntimeOptions
  readonly settings: Settings
  readonly root: string
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
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
  const surroundings = await surround(options)
  const { settings, clock, log } = surroundings
  for (const { level, message } of settings.warnings) log[level]({}, message)
  const registry = createRegistry()
  const clients = createHttpClients({ settings, clock, log })
  const metrics = createServerMetrics()
  const outgoing = createOutgoing({ settings, client: clients.general, clock, log })
  const host = createHost(surroundings, registry, metrics, outgoing)
  const functions = await createFunctions(surroundings, clients, (event) => { host.emit(event) })
  const schedules = createSchedules({ clock, log, start: ({ program }) => host.start({ workflowId: program.definition.id, version: program.definition.version, input: {} }) })
  registry.catalogue.onChange(() => { schedules.update(registry.deployments.list()) })
  const loader = createLoader(surroundings, registry, functions)
  await loader.add(options.definitions ?? defaultDefinitions(surroundings))
  let server: Server | undefined
  return {
    host,
    catalogue: registry.catalogue,
    deploy: (definitions) => loader.add(definitions),
    undeploy: (id, version) => { registry.remove(id, version) },
    async listen(address) {
      server = createServer({ host, catalogue: registry.catalogue, settings: resolveServerSettings(settings), log, clock, ids: surroundings.ids, metrics })
      const { url } = await server.listen(address)
      return { url }
    },
    quiet: () => host.quiet(),
    async close(graceMilliseconds = settings.duration('sonatina.shutdown.timeout', 30_000)) {
      // Requests first, then what they started, then the connections that both used.
      schedules.close()
      await server?.close(graceMilliseconds)
      await host.close(graceMilliseconds)
      await outgoing.close(graceMilliseconds)
      await functions.close()
      await clients.close()
    },
  }
}

async function surround(options: RuntimeOptions): Promise<Surroundings> {
  const root = resolve(options.root ?? '.')
  const settings = await createSettings({
    root,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.arguments === undefined ? {} : { arguments: options.arguments }),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.settingsFiles === undefined ? {} : { readFile: explicitFiles(root, options.settingsFiles) }),
  })
  return {
    options,
    settings,
    root,
    clock: options.clock ?? createSystemClock(),
    ids: options.ids ?? createRandomIdSource(),
    log: options.log ?? createLogger({ level: toLevel(settings.text('sonatina.log.level', 'INFO')) }),
  }
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

function toLevel(text: string): 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' {
  const level = text.toLowerCase()
  return level === 'trace' || level === 'debug' || level === 'warn' || level === 'error' ? level : level === 'off' ? 'silent' : 'info'
}

function defaultDefinitions({ settings, root }: Surroundings): readonly string[] {
  return settings.list('sonatina.definitions', ['workflows']).map((path) => resolve(root, path))
}

async function createFunctions({ options, settings, root, clock, ids, log }: Surroundings, httpClients: HttpClients, publish: (event: CloudEventRecord) => void): Promise<FunctionCompiler> {
  const modules = settings.list('sonatina.host-classes')?.map((path) => resolve(root, path))
  const found = modules === undefined ? new Map<string, object>() : await loadHostClasses(modules)
  return createFunctionCompiler({
    settings,
    clock,
    ids,
    log,
    root,
    httpClients,
    publish,
    authorizer: createAuthorizer({ settings, clients: httpClients, clock, ids, log }),
    hostClasses: new Map([...found, ...(options.hostClasses ?? [])]),
    ...(options.functionTypes === undefined ? {} : { functionTypes: options.functionTypes }),
    ...(options.stdout === undefined ? {} : { stdout: options.stdout }),
  })
}

function createHost({ options, settings, clock, ids, log }: Surroundings, registry: Registry, metrics: ServerMetrics, outgoing: Outgoing): Kernel {
  const maxActive = settings.number('sonatina.instances.max-active')
  const lifecycle = createLifecycleOf(settings, { clock, ids, outgoing })
  return createMemoryHost({
    deployments: registry.deployments,
    clock,
    ids,
    log,
    secrets: { read: (key) => settings.expressionSecret(key) },
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
    ...(lifecycle === undefined ? {} : { onRest: (record, facts) => { lifecycle.data(record, facts) } }),
    onStep(step, facts) {
      lifecycle?.step(step, facts)
      const observed = { ...step, instanceId: facts.id, workflowId: facts.workflowId, version: facts.version }
      metrics.observe(observed)
      options.onStep?.(observed)
    },
  })
}

/** Lifecycle events cost an event for every change: only where they are asked for. */
function createLifecycleOf(settings: Settings, { clock, ids, outgoing }: { clock: Clock; ids: IdSource; outgoing: Outgoing }): Lifecycle | undefined {
  const channel = settings.text('sonatina.lifecycle-events.channel', 'kogito-processinstances-events')
  const wanted = settings.boolean('sonatina.lifecycle-events.enabled', settings.languageProfile === 'sonataflow')
  if (!wanted || !outgoing.hasChannel(channel)) return undefined
  return createLifecycle({ clock, ids, send: (event) => { outgoing.send(event, channel) } })
}

interface Loader {
  add(definitions: readonly DefinitionInput[]): Promise<{ readonly failures: readonly LoadFailure[] }>
}

/** Loads definitions and takes those that can run into service. */
function createLoader(surroundings: Surroundings, registry: Registry, functions: FunctionCompiler): Loader {
  const { options } = surroundings
  const deployOptions = deploymentOptions(surroundings, functions)
  return {
    async add(definitions) {
      const { loaded, failures } = await load(definitions, loadOptions(surroundings))
      const refused: LoadFailure[] = [...failures]
      for (const definition of withoutDuplicates(loaded, refused)) {
        for (const warning of definition.warnings) surroundings.log.warn({ workflow: definition.definition.id, ...warning }, warning.message)
        await take(definition, refused)
      }
      for (const { uri, error } of refused) surroundings.log.error({ definition: uri, code: error.code }, error.message)
      registry.setFailures(refused)
      if (options.strict === true && refused[0] !== undefined) throw refused[0].error
      return { failures: refused }
    },
  }

  async function take(definition: LoadedDefinition, refused: LoadFailure[]): Promise<void> {
    try {
      registry.add(await deploy(definition, deployOptions))
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      refused.push({ uri: definition.source.uri, error })
    }
  }
}

/** Of two files with one id and version the first is served, and the second is named together with it (decisions.md 3). */
function withoutDuplicates(loaded: readonly LoadedDefinition[], refused: LoadFailure[]): readonly LoadedDefinition[] {
  const kept: LoadedDefinition[] = []
  for (const candidate of loaded) {
    try {
      checkDuplicates([...kept, candidate])
      kept.push(candidate)
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      refused.push({ uri: candidate.source.uri, error })
    }
  }
  return kept
}

async function load(definitions: readonly DefinitionInput[], options: LoadOptions): Promise<{ loaded: LoadedDefinition[]; failures: LoadFailure[] }> {
  const paths = definitions.filter((input) => typeof input === 'string')
  const { loaded, failures } = await loadDefinitions(paths, options)
  const result = { loaded: [...loaded], failures: [...failures] }
  for (const input of definitions) {
    if (typeof input === 'string') continue
    try {
      result.loaded.push(await loadDefinition(input, options))
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      result.failures.push({ uri: input.uri, error })
    }
  }
  return result
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

function deploymentOptions({ options, settings, root, clock, ids, log }: Surroundings, functions: FunctionCompiler): DeployOptions {
  return {
    functions,
    root,
    clock,
    ids,
    log,
    secrets: { read: (key) => settings.expressionSecret(key) },
    maxSteps: settings.number('sonatina.instances.max-steps', 100_000),
    expressions: {},
    ...(options.replace?.functions === undefined ? {} : { replacements: options.replace.functions }),
  }
}
