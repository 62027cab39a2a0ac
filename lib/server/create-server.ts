import { createApp, createListener } from './app.ts'
import type { Lifecycle, ServerContext } from './context.ts'
import { createSystemClock } from '../common/index.ts'
import { openListener, type Listener } from './listener.ts'
import { createOrigin } from './location.ts'
import { createServerMetrics } from './metrics.ts'
import type { Listening, Server, ServerOptions } from './options.ts'
import { createWorkflowRoutes } from './workflow-routes.ts'

/** Grace of a stop when the caller names none, in milliseconds. */
const DEFAULT_GRACE = 30_000

/**
 * Creates the HTTP server of workflows (http-contract.md); it listens once it is told to.
 *
 * The host is the caller's: closing the server does not close it.
 */
export function createServer(options: ServerOptions): Server {
  const { settings } = options
  const mounts = options.mounts ?? []
  const lifecycle: Lifecycle = { stopping: false, draining: false }
  const context = createContext(options, lifecycle)
  const isSplit = settings.managementPort !== undefined
  const parts = { authenticate: options.authenticate, mounts }
  const app = createApp(context, isSplit ? 'workflows' : 'all', parts)
  const handle = createListener(app, context)
  const listeners: Listener[] = []

  const listen = async (address: { readonly host?: string; readonly port?: number } = {}): Promise<Listening> => {
    const host = address.host ?? settings.host
    const main = await openListener(context, { handle, mounts, address: { host, port: address.port ?? settings.port } })
    listeners.push(main)
    const url = main.origin + settings.rootPath
    if (settings.managementPort === undefined) return { url }
    const management = createListener(createApp(context, 'management', parts), context)
    const second = await openListener(context, { handle: management, mounts, address: { host, port: settings.managementPort } })
    listeners.push(second)
    return { url, managementUrl: second.origin + settings.rootPath }
  }

  let closed: Promise<void> | undefined
  const stop = async (grace: number): Promise<void> => {
    lifecycle.stopping = true
    if (settings.shutdownDelay > 0 && grace > 0 && listeners.length > 0) await pause(Math.min(settings.shutdownDelay, grace))
    // Whoever is told to close its connection comes back on a new one: that must be refused by then, and not accepted and cut.
    await Promise.all(listeners.map((listener) => listener.refuse()))
    lifecycle.draining = true
    await Promise.all(listeners.map((listener) => listener.drain(grace)))
    context.workflows.close()
  }
  return {
    app,
    metrics: context.metrics,
    callback: () => handle,
    listen,
    close: (grace = DEFAULT_GRACE) => (closed ??= stop(grace)),
  }
}

function createContext(options: ServerOptions, lifecycle: Lifecycle): ServerContext {
  const { settings } = options
  return {
    host: options.host,
    catalogue: options.catalogue,
    settings,
    log: options.log,
    clock: options.clock,
    ids: options.ids,
    application: options.application ?? { name: 'sonatina', version: '0' },
    workflows: createWorkflowRoutes(options.catalogue, settings.rootPath),
    metrics: options.metrics ?? createServerMetrics(),
    sourceRoots: options.sourceRoots ?? [],
    logLevels: options.logLevels,
    deploy: options.deploy,
    origin: createOrigin(settings),
    lifecycle,
  }
}

// Load balancers keep real time.
function pause(milliseconds: number): Promise<void> {
  const clock = createSystemClock()
  return new Promise((resolve) => { clock.at(clock.now() + milliseconds, resolve) })
}
