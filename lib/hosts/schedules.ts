import type { Cancel, Clock, Logger } from '../common/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import { compileSchedule, type NextRun } from './schedule.ts'

/** What schedules need to start instances. */
export interface SchedulesOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Starts an instance without input (S264). */
  readonly start: (workflow: DeployedWorkflow) => Promise<unknown>
}

/** Keeps the timers of scheduled definitions. */
export interface Schedules {
  /** Brings the timers in line with the definitions in service; a definition that stays keeps its rhythm. */
  update(workflows: readonly DeployedWorkflow[]): void
  close(): void
}

/** Creates the keeper of schedules (S253–S265). */
export function createSchedules({ clock, log, start }: SchedulesOptions): Schedules {
  const running = new Map<DeployedWorkflow, Cancel>()
  const arm = (workflow: DeployedWorkflow, next: NextRun, after: number): void => {
    const due = next(after)
    if (due === undefined) {
      running.delete(workflow)
      return
    }
    running.set(workflow, clock.at(due, () => {
      arm(workflow, next, due)
      start(workflow).catch((error: unknown) => { log.error({ workflow: workflow.program.definition.id, error }, 'scheduled start failed') })
    }))
  }
  return {
    update(workflows) {
      for (const [workflow, cancel] of running) {
        if (workflows.includes(workflow)) continue
        cancel()
        running.delete(workflow)
      }
      const now = clock.now()
      for (const workflow of workflows) {
        const { schedule } = workflow.program.definition.start
        if (schedule !== undefined && !running.has(workflow)) arm(workflow, compileSchedule(schedule, now), now - 1)
      }
    },
    close() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
