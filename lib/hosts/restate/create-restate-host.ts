import type { DeployedWorkflow } from '../deployments.ts'
import type { StoredDefinition } from '../journal.ts'
import type { KernelOptions } from '../parts.ts'
import type { RunningHost } from '../running-host.ts'
import { Engine, type EngineOptions } from './engine.ts'
import { serviceNames } from './names.ts'
import { RestateHost } from './restate-host.ts'
import { loadSdk } from './sdk.ts'
import { startWorker, type WorkerOptions } from './worker.ts'
import { HeaderMemory, Observer, OpenCalls, type KeepOptions } from './worker-parts.ts'
import { Workflows } from './workflows.ts'

/** What the distributed host needs beside what every host does. */
export interface RestateHostOptions extends KernelOptions, EngineOptions {
  /** Prefix of the names of its services; installations with different ones do not see each other. */
  readonly namespace: string
  /** What this process does: take requests, carry instances out, or both. */
  readonly role: 'front' | 'worker' | 'both'
  readonly worker: WorkerOptions
  readonly keep: KeepOptions
  /** Makes a definition ready that living instances were started from and that is no longer in service. */
  readonly redeploy: (definition: StoredDefinition) => Promise<DeployedWorkflow>
}

/**
 * Creates the host that leaves instances to the distributed engine Restate: any number of processes, none of which keeps anything.
 *
 * The SDK is loaded and the worker started by `recover()`.
 */
export function createRestateHost({ namespace, role, worker, keep, redeploy, ingressUrl, adminUrl, ...options }: RestateHostOptions): RunningHost {
  const engine = new Engine({ ingressUrl, adminUrl })
  const names = serviceNames(namespace)
  const workflows = new Workflows({ deployments: options.deployments, engine, names, redeploy })
  if (options.maxActive !== undefined) options.log.warn({}, 'sonatina.instances.max-active does not hold with sonatina.store=restate: the engine takes what comes')
  return new RestateHost({
    options,
    engine,
    names,
    workflows,
    isFront: role !== 'worker',
    ...(role === 'front' ? {} : {
      startWorker: async () => startWorker({
        sdk: await loadSdk(), names, options, keep, engine, workflows, calls: new OpenCalls(), headers: new HeaderMemory(), observer: new Observer(),
      }, worker),
    }),
  })
}
