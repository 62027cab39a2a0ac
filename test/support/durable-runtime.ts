import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock, Json, Logger } from '../../lib/common/index.ts'
import { silentLogger } from '../../lib/common/index.ts'
import type { CloudEventRecord } from '../../lib/events/index.ts'
import type { FunctionCall, FunctionResult } from '../../lib/functions/index.ts'
import type { ClusterLink } from '../../lib/hosts/cluster/index.ts'
import type { CrashPoint } from '../../lib/hosts/index.ts'
import type { Runtime } from '../../lib/runtime-options.ts'
import { createRuntime } from '../../lib/runtime.ts'
import { createVirtualClock, type VirtualClock } from './clock.ts'

/** A project directory whose runtime is opened, closed and opened again. */
export interface DurableProject {
  readonly directory: string
  readonly file: string
  readonly clock: VirtualClock
  readonly calls: Json[]
  readonly events: CloudEventRecord[]
  open(options?: ProjectOptions): Promise<Runtime>
  /**
   * Makes a project of what a process that was killed at this instant would leave behind: the files of the store as they are, and
   * nothing that is only in memory. Its clock stands where this one does; calls and events are recorded anew.
   */
  killed(): DurableProject
  remove(): Promise<void>
}

export interface ProjectOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly definitions?: readonly { readonly uri: string; readonly document: Json }[]
  readonly call?: (call: FunctionCall) => Promise<FunctionResult> | FunctionResult
  /** Type of the functions that `call` carries out. @default 'suite' */
  readonly functionType?: string
  /** Told of every event that goes out, in place of the project's list. */
  readonly event?: (event: CloudEventRecord) => void
  readonly crashPoint?: (point: CrashPoint) => void
  readonly log?: Logger
  /** Place among several processes on one machine. */
  readonly cluster?: ClusterLink
  /** Time, where it is not to be the project's. */
  readonly clock?: Clock
}

/** Makes an empty project; its functions of type `suite` record their arguments. */
export function createDurableProject(defaults: ProjectOptions = {}, startAt?: number): Promise<DurableProject> {
  return Promise.resolve(projectOf(defaults, startAt))
}

function projectOf(defaults: ProjectOptions, startAt?: number): DurableProject {
  const directory = mkdtempSync(join(tmpdir(), 'durable-'))
  const clock = createVirtualClock(startAt)
  const calls: Json[] = []
  const events: CloudEventRecord[] = []
  const record = (call: FunctionCall): FunctionResult => {
    const given = (call.arguments ?? {}) as { readonly fail?: boolean }
    calls.push(given)
    if (given.fail === true) throw new Error('told to fail')
    return { output: { called: calls.length } }
  }
  return {
    directory,
    file: join(directory, '.sonatina/sonatina.db'),
    clock,
    calls,
    events,
    open(options = {}) {
      const { settings, definitions = [], call = record, crashPoint, cluster, log = silentLogger, clock: given = clock, functionType = 'suite', event = (sent: CloudEventRecord) => { events.push(sent) } } = { ...defaults, ...options }
      return createRuntime({
        root: directory,
        environment: {},
        hostClasses: new Map(),
        definitions,
        settings: { 'sonatina.profile': 'spec', ...defaults.settings, ...settings },
        functionTypes: new Map([[functionType, (_operation: string, called: FunctionCall) => call(called)]]),
        onEvent: event,
        clock: given,
        log,
        strict: true,
        ...(crashPoint === undefined ? {} : { crashPoint }),
        ...(cluster === undefined ? {} : { cluster }),
      })
    },
    killed() {
      const successor = projectOf(defaults, clock.now())
      mkdirSync(dirname(successor.file), { recursive: true })
      for (const ending of ['', '-wal']) {
        const file = join(directory, `.sonatina/sonatina.db${ending}`)
        if (existsSync(file)) copyFileSync(file, `${successor.file}${ending}`)
      }
      return successor
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
