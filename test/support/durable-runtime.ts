import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, Logger } from '../../lib/common/index.ts'
import { silentLogger } from '../../lib/common/index.ts'
import type { CloudEventRecord } from '../../lib/events/index.ts'
import type { FunctionCall, FunctionResult } from '../../lib/functions/index.ts'
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
  remove(): Promise<void>
}

export interface ProjectOptions {
  readonly settings?: Readonly<Record<string, unknown>>
  readonly definitions?: readonly { readonly uri: string; readonly document: Json }[]
  readonly call?: (call: FunctionCall) => Promise<FunctionResult> | FunctionResult
  readonly crashPoint?: (point: CrashPoint) => void
  readonly log?: Logger
}

/** Makes an empty project; its functions of type `suite` record their arguments. */
export async function createDurableProject(defaults: ProjectOptions = {}): Promise<DurableProject> {
  const directory = await mkdtemp(join(tmpdir(), 'durable-'))
  const clock = createVirtualClock()
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
      const { settings, definitions = [], call = record, crashPoint, log = silentLogger } = { ...defaults, ...options }
      return createRuntime({
        root: directory,
        environment: {},
        hostClasses: new Map(),
        definitions,
        settings: { 'sonatina.profile': 'spec', ...defaults.settings, ...settings },
        functionTypes: new Map([['suite', (_operation: string, given: FunctionCall) => call(given)]]),
        onEvent: (event) => { events.push(event) },
        clock,
        log,
        strict: true,
        ...(crashPoint === undefined ? {} : { crashPoint }),
      })
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
