import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createLogging, createRandomIdSource, createSystemClock, type Clock, type IdSource, type Logger, type Logging } from './common/index.ts'
import { createSettings, type Settings } from './configuration/index.ts'
import type { DevServices } from './dev-services/index.ts'
import { ConfigurationError } from './errors/index.ts'
import { openInspection, type Inspection } from './runtime-inspection.ts'
import type { DefinitionInput, RuntimeOptions } from './runtime-options.ts'
import { resolveLogOptions } from './server/index.ts'
import { openTracing, type Tracing } from './telemetry/index.ts'

/** What the parts of a runtime are made from. */
export interface Surroundings {
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
  /** Absent when the inspector is off. */
  readonly inspection: Inspection | undefined
  /** Absent where no traces are asked for. */
  readonly tracing: Tracing | undefined
}

/**
 * Reads the settings and opens what all parts stand on; dev services are started here, for their addresses are settings.
 *
 * @throws {@link ConfigurationError} when settings are wrong
 */
export async function surround(options: RuntimeOptions): Promise<Surroundings> {
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
  return {
    options,
    settings,
    root,
    clock,
    ids,
    log,
    logging: options.log === undefined ? logging : undefined,
    devServices,
    inspection: await openInspection(settings),
    tracing,
    definitions: options.definitions ?? await defaultDefinitions(settings, root),
  }
}

/** Reads the settings of a runtime, from where its options say. @throws {@link ConfigurationError} when they are wrong */
export function readSettings(options: RuntimeOptions, root: string): Promise<Settings> {
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
    const texts = await Promise.all(paths.map(async (file) => readFile(resolve(root, file), 'utf8').catch((cause: unknown) => {
      throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `Settings file "${file}" cannot be read: ${(cause as Error).message}`, cause })
    })))
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
