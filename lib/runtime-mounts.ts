import { resolve } from 'node:path'
import { importModule, type Clock, type IdSource, type Json, type Logger } from './common/index.ts'
import type { Settings } from './configuration/index.ts'
import { watchFiles } from './deployment/index.ts'
import { ConfigurationError } from './errors/index.ts'
import type { HostedFunctions } from './functions/index.ts'
import type { Mount } from './server/index.ts'
import type { Enforcer } from './tenancy/index.ts'

// The modules behind them are loaded only by services that use them.

/** What parts of the service beside the workflows are made with. */
export interface MountOptions {
  readonly settings: Settings
  /** Project directory. */
  readonly root: string
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
}

/** Functions that the process hosts beside its workflows. */
export interface FunctionsPart {
  /** Answers below `/functions`. */
  readonly mount: Mount
  /** What `custom` functions `function:<name>` call, without HTTP. */
  readonly hosted: HostedFunctions
  close(): Promise<void>
}

/**
 * Loads the modules of `sonatina.function-runtime.modules` and serves their functions beside the workflows.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for a module that does not load, and for every fault of a function
 */
export async function openFunctions({ settings, root, clock, ids, log }: MountOptions): Promise<FunctionsPart | undefined> {
  const modules = settings.list('sonatina.function-runtime.modules') ?? []
  if (modules.length === 0) return undefined
  const { createFunctionRegistry, functionOptionsFrom, serve } = await import('./function-runtime/index.ts')
  const sources = Object.assign({}, ...await Promise.all(modules.map((path) => loadFunctions(resolve(root, path))))) as Record<string, object>
  const options = { ...functionOptionsFrom(settings, Object.keys(sources)), rootPath: '/functions', clock, ids, log: log.child({ module: 'functions' }) }
  const service = serve(sources, options)
  const registry = createFunctionRegistry(sources, options)
  await service.start()
  return {
    mount: { path: '/functions', middleware: service },
    hosted: {
      invoke: async (name, input, { headers, signal, log: callLog }): Promise<Json> => await registry.invoke(name, input, { headers, signal, log: callLog }) ?? null,
    },
    async close() {
      await service.close()
      await registry.close()
    },
  }
}

async function loadFunctions(path: string): Promise<Record<string, object>> {
  const exported = await importModule(path, `sonatina.function-runtime.modules: ${path}`)
  const { functionsOf, isHostedFunction } = await import('./function-runtime/index.ts')
  const found = Object.entries(exported).filter((entry): entry is [string, object] => {
    const [, value] = entry
    return isHostedFunction(value) || (typeof value === 'object' && value !== null && functionsOf(value).length > 0)
  })
  return Object.fromEntries(found)
}

/** Policies of tenants that the process applies itself. */
export interface TenancyPart {
  /** Comes before everything else. */
  readonly mount: Mount
  readonly enforcer: Enforcer
  /** Ends the watching of its documents. */
  close(): void
}

/**
 * Reads the Istio documents of `sonatina.tenancy.documents` and applies them to every request (tenancy.md §7); with
 * `sonatina.tenancy.watch` again when they change: what is invalid then changes nothing.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid or there is none: a service that is to be guarded does not
 * start unguarded
 * @throws {@link ConfigurationError} `CONFIGURATION_MISSING` without the namespace of the workload
 */
export async function openTenancy({ settings, root, clock, log }: MountOptions): Promise<TenancyPart | undefined> {
  const paths = (settings.list('sonatina.tenancy.documents') ?? []).map((path) => resolve(root, path))
  if (paths.length === 0) return undefined
  const namespace = settings.text('sonatina.tenancy.namespace')
  if (namespace === undefined) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_MISSING',
      message: `sonatina.tenancy.documents needs the namespace of this workload: ${settings.describeMissing(['sonatina.tenancy.namespace'])}`,
    })
  }
  const { createEnforcer } = await import('./tenancy/index.ts')
  const logger = log.child({ module: 'tenancy' })
  const trustDomain = settings.text('sonatina.tenancy.trust-domain')
  const rootNamespace = settings.text('sonatina.tenancy.root-namespace')
  const enforcer = createEnforcer({
    documents: await readPolicies(paths),
    workload: {
      namespace,
      labels: Object.fromEntries((settings.list('sonatina.tenancy.labels') ?? []).map((label) => splitLabel(label))),
      port: settings.number('sonatina.tenancy.port', settings.number('sonatina.http.port', 8080)),
    },
    mode: settings.text('sonatina.tenancy.mode', 'strict') === 'permissive' ? 'permissive' : 'strict',
    logger,
    ...(trustDomain === undefined ? {} : { trustDomain }),
    ...(rootNamespace === undefined ? {} : { rootNamespace }),
  })
  const changed = async (): Promise<void> => {
    try {
      if (enforcer.reload(await readPolicies(paths))) logger.info({ policies: enforcer.status().policies }, 'policies were loaded again')
    } catch (error) {
      logger.error({ fault: error instanceof Error ? error.message : String(error) }, 'the new policies cannot be read; the ones before stay in force')
    }
  }
  const isWatched = settings.boolean('sonatina.tenancy.watch', settings.profile === 'dev')
  const unwatch = isWatched ? await watchFiles({ paths, clock, log: logger, changed }) : undefined
  return {
    enforcer,
    close() { unwatch?.() },
    mount: {
      path: '/',
      stage: 'first',
      middleware: (context, next) => enforcer.middleware(context, next),
      upgrade: (request, socket) => { enforcer.guardUpgrade(request, socket) },
    },
  }
}

/** Reads all policies or none: a file that does not parse may be the one that denies. */
async function readPolicies(paths: readonly string[]): Promise<readonly unknown[]> {
  const { invalidDocuments, loadDocuments } = await import('./tenancy/index.ts')
  const { documents, violations } = await loadDocuments(paths, () => Promise.resolve(''))
  if (violations.length > 0) throw invalidDocuments(violations)
  return documents.map(({ value }) => value)
}

function splitLabel(label: string): [string, string] {
  const at = label.indexOf('=')
  return at < 0 ? [label, ''] : [label.slice(0, at), label.slice(at + 1)]
}
