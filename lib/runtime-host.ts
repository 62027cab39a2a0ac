import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Clock, IdSource } from './common/index.ts'
import type { Settings } from './configuration/index.ts'
import type { Registry } from './deployment/index.ts'
import { canWait, type DeployedWorkflow, type Durability, type KernelOptions, type RunningHost, type StoredDefinition } from './hosts/index.ts'
import { createClusterHost } from './hosts/cluster/index.ts'
import { createMemoryHost } from './hosts/memory/index.ts'
import { createSqliteHost, hasLibrary } from './hosts/sqlite/index.ts'
import { createLifecycle, type Lifecycle, type Outgoing } from './messaging/index.ts'
import { secretsOf } from './runtime-inspection.ts'
import type { Surroundings } from './runtime-surroundings.ts'
import type { ServerMetrics } from './server/index.ts'

/** What the host is made from beside the surroundings. */
export type HostParts = { readonly registry: Registry; readonly metrics: ServerMetrics; readonly outgoing: Outgoing; readonly redeploy: (stored: StoredDefinition) => Promise<DeployedWorkflow> }

/** Picks the host: in memory, in a file for what can wait, or with the distributed engine (`sonatina.store`). */
export async function createHost(surroundings: Surroundings, parts: HostParts): Promise<RunningHost> {
  const { options, settings, clock, log, root } = surroundings
  const store = settings.text('sonatina.store')
  const kernel = kernelOptions(surroundings, parts)
  if (options.cluster !== undefined) return createClusterHost(kernel, options.cluster)
  if (store === 'memory') return createMemoryHost(kernel)
  const keep = keepOptions(surroundings, parts)
  // Loaded only where it is chosen: its package is optional.
  if (store === 'restate') return (await import('./runtime-restate.ts')).createEngineHost(settings, { kernel, keep: { ...keep, ownTimers: options.clock !== undefined }, redeploy: parts.redeploy })
  const file = resolve(root, settings.text('sonatina.store.sqlite.file', '.sonatina/sonatina.db'))
  const hasStore = once(() => {
    if (hasLibrary()) return true
    log.warn({ store }, `there is no binary of the package "libsql" for ${process.platform}-${process.arch}: instances are kept in memory and end with the process`)
    return false
  })
  const { deployments } = parts.registry
  // The library is read when a definition can wait, or when there is a store already.
  if ((store === 'sqlite' || existsSync(file)) && !hasStore()) return createMemoryHost(kernel)
  return createSqliteHost({
    ...kernel,
    file,
    synchronous: settings.text('sonatina.store.sqlite.synchronous', 'FULL') === 'NORMAL' ? 'NORMAL' : 'FULL',
    startedAt: clock.now(),
    keep: {
      isDurable: store === 'sqlite' ? () => true : (workflow) => canWait(workflow, deployments) && hasStore(),
      redeploy: parts.redeploy,
      ...keep,
      ...(options.crashPoint === undefined ? {} : { probe: options.crashPoint }),
    },
  })
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined
  return () => (made ??= { result: make() }).result
}

const DAY = 86_400_000

/** How hosts that keep instances do it. */
function keepOptions({ options, settings }: Surroundings, { outgoing }: Pick<HostParts, 'outgoing'>): Pick<Durability, 'forward' | 'storedHeaders' | 'inboxRetention' | 'history'> {
  return {
    forward(event) {
      options.onEvent?.(event)
      return outgoing.deliver(event)
    },
    storedHeaders: headersToStore(settings),
    inboxRetention: settings.duration('sonatina.store.inbox-retention', DAY),
    history: settings.boolean('sonatina.store.history', true),
  }
}

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
