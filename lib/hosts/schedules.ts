import type { Cancel, Clock, Logger } from '../common/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { StoredSchedule } from './journal.ts'
import { compileSchedule, type NextRun } from './schedule.ts'

/** What schedules need to start instances. */
export interface SchedulesOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Starts an instance without input (S264); `due` is the instant for which it is started, milliseconds since the epoch. */
  readonly start: (workflow: DeployedWorkflow, due: number) => Promise<unknown>
  /** Remembers over restarts what has been started; absent where nothing is kept. */
  readonly memory?: ScheduleMemory | undefined
}

/** Remembers when schedules began and last ran. */
export interface ScheduleMemory {
  get(workflow: DeployedWorkflow): StoredSchedule | undefined
  put(workflow: DeployedWorkflow, schedule: StoredSchedule): void
}

/** Keeps the timers of scheduled definitions. */
export interface Schedules {
  /** Brings the timers in line with the definitions in service; a definition that stays keeps its rhythm. */
  update(workflows: readonly DeployedWorkflow[]): void
  close(): void
}

/**
 * Creates the keeper of schedules (S253–S265).
 *
 * Runs that were missed while the process was down are made up for by one.
 */
export function createSchedules({ clock, log, start, memory }: SchedulesOptions): Schedules {
  const running = new Map<DeployedWorkflow, Cancel>()
  const arm = (workflow: DeployedWorkflow, next: NextRun, after: number, deployedAt: number): void => {
    const due = next(after)
    if (due === undefined) {
      running.delete(workflow)
      return
    }
    running.set(workflow, clock.at(due, () => {
      // Several missed runs are one: the next counts from now.
      arm(workflow, next, Math.max(due, clock.now()), deployedAt)
      start(workflow, due).then(() => { memory?.put(workflow, { deployedAt, lastRun: due }) }).catch((error: unknown) => { log.error({ workflow: workflow.program.definition.id, error }, 'scheduled start failed') })
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
        if (schedule === undefined || running.has(workflow)) continue
        const known = memory?.get(workflow)
        if (known === undefined) memory?.put(workflow, { deployedAt: now })
        const deployedAt = known?.deployedAt ?? now
        arm(workflow, compileSchedule(schedule, deployedAt), known?.lastRun ?? Math.max(deployedAt, now) - 1, deployedAt)
      }
    },
    close() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
