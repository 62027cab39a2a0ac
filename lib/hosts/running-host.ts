import type { CloudEventRecord } from '../events/index.ts'
import type { Host } from './host.ts'
import type { ScheduleMemory } from './schedules.ts'

/** A host as the composition sees it: what starts it, and what belongs to it beside instances. */
export interface RunningHost extends Host {
  /** Takes up what was left by processes before. @throws {@link HostError} */
  recover(): Promise<void>
  /** Remembers over restarts what schedules have started; absent where nothing is kept. */
  readonly schedules: ScheduleMemory | undefined
  /** Whether schedules and events begin instances of a definition in this process; they do when it is absent. */
  begins?(workflowId: string): boolean
  /** Resolves when no instance has anything to do but wait. */
  quiet(): Promise<void>
  /** Sends an event out, and back in where produced events come back. */
  emit(event: CloudEventRecord): void
}
