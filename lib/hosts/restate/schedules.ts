import type { DeployedWorkflow } from '../deployments.ts'
import type { StoredSchedule } from '../journal.ts'
import type { ScheduleMemory } from '../schedules.ts'
import type { RestateHostParts } from './restate-host.ts'

/** Remembers with the engine what schedules have started: a run that one process starts is started by no other. */
export class Schedules implements ScheduleMemory {
  readonly #parts: Pick<RestateHostParts, 'engine' | 'names' | 'options'>
  readonly #known = new Map<string, StoredSchedule>()

  constructor(parts: Pick<RestateHostParts, 'engine' | 'names' | 'options'>) {
    this.#parts = parts
  }

  /** Reads what is known of the schedules of definitions; without the engine nothing is. */
  async load(workflows: readonly DeployedWorkflow[]): Promise<void> {
    const { engine, names, options: { log } } = this.#parts
    await Promise.all(workflows.filter(({ program }) => program.definition.start.schedule !== undefined).map(async (workflow) => {
      try {
        const stored = await engine.call<StoredSchedule | null>({ service: names.schedule, key: keyOf(workflow), handler: 'get' }, {})
        if (stored !== null) this.#known.set(keyOf(workflow), stored)
      } catch (error) {
        log.warn({ workflow: workflow.program.definition.id, error }, 'what the schedule has started is not known: it counts from now')
      }
    }))
  }

  get(workflow: DeployedWorkflow): StoredSchedule | undefined {
    return this.#known.get(keyOf(workflow))
  }

  put(workflow: DeployedWorkflow, schedule: StoredSchedule): void {
    this.#known.set(keyOf(workflow), schedule)
    const { engine, names, options: { log } } = this.#parts
    engine.send({ service: names.schedule, key: keyOf(workflow), handler: 'put' }, schedule).catch((error: unknown) => {
      log.warn({ workflow: workflow.program.definition.id, error }, 'what the schedule has started could not be noted')
    })
  }
}

function keyOf({ program: { definition } }: DeployedWorkflow): string {
  return JSON.stringify([definition.id, definition.version])
}
