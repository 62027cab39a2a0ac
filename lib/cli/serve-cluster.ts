import { createSystemClock } from '../common/index.ts'
import { runPrimary } from '../cluster/index.ts'
import type { Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { RuntimeOptions } from '../runtime-options.ts'
import { readSettings } from '../runtime-surroundings.ts'
import type { CommandIo } from './io.ts'

/** A cluster that the settings ask for. */
export interface ClusterPlan {
  readonly count: number
  /** Milliseconds for which workers may finish what they have. */
  readonly patience: number
}

/**
 * Tells whether the settings ask for several processes, and whether these can do what the settings say.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when something else can only be done by one process
 */
export async function readCluster(options: RuntimeOptions): Promise<ClusterPlan | undefined> {
  const settings = await readSettings(options, options.root ?? '.')
  const count = settings.number('sonatina.cluster.workers', 1)
  if (count === 1) return undefined
  const reason = refusal(settings)
  if (reason !== undefined) throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `sonatina.cluster.workers=${String(count)}: ${reason}`, details: { key: 'sonatina.cluster.workers' } })
  return { count, patience: settings.duration('sonatina.shutdown.delay', 0) + settings.duration('sonatina.shutdown.timeout', 30_000) + 10_000 }
}

function refusal(settings: Settings): string | undefined {
  const store = settings.text('sonatina.store')
  if (store === 'sqlite') return 'the store sqlite has one owner. Use one process, or sonatina.store=memory when instances may end with their process, or sonatina.store=restate'
  if (store === 'restate') return 'with sonatina.store=restate start as many services as there are to be; each needs its own sonatina.restate.listen'
  if (store === undefined) return 'workers keep instances in memory, which end with their process. Say so by sonatina.store=memory'
  if (settings.boolean('sonatina.definitions.upload', false)) return 'a definition that is uploaded would reach one worker only. Turn sonatina.definitions.upload off'
  return undefined
}

/** Runs the workers until the user or the system asks them to stop. @returns the exit code */
export function serveCluster({ count, patience }: ClusterPlan, args: readonly string[], io: CommandIo): Promise<number> {
  return runPrimary({
    count,
    patience,
    clock: createSystemClock(),
    argumentsOf: (slot) => ['serve', ...args, '--worker', `${String(slot)}/${String(count)}`],
    tell: (line) => { io.out(line) },
    warn: (line) => { io.err(line) },
    stopped: io.stopped().then(() => { io.out('Stopping: requests under way are finished first.') }),
  })
}
