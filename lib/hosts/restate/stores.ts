import type { HistoryStep } from '../../instance/index.ts'
import type { StoredDefinition, StoredSchedule } from '../journal.ts'
import type { Bound, ObjectContext, ObjectSharedContext } from './sdk.ts'
import type { WorkerParts } from './worker-parts.ts'

type StoreParts = Pick<WorkerParts, 'sdk' | 'names'>

/** Keeps the texts of definitions, each under its hash. */
export function createDefinitionObject({ sdk, names }: StoreParts): Bound {
  const { shared } = sdk.handlers.object
  return sdk.object({
    name: names.definition,
    handlers: {
      async put(ctx: ObjectContext, definition: StoredDefinition): Promise<null> {
        if (await ctx.get('definition') === null) ctx.set('definition', definition)
        return null
      },
      get: shared(async (ctx: ObjectSharedContext) => ctx.get<StoredDefinition>('definition')),
    },
  })
}

/** Keeps the steps of instances, apart from their lives: a turn does not read what has been. */
export function createHistoryObject({ sdk, names }: StoreParts): Bound {
  const { shared } = sdk.handlers.object
  return sdk.object({
    name: names.history,
    handlers: {
      add(ctx: ObjectContext, steps: readonly HistoryStep[]): Promise<null> {
        ctx.set(`from ${String(steps[0]?.sequence ?? 0)}`, steps)
        return Promise.resolve(null)
      },
      forget(ctx: ObjectContext): Promise<null> {
        ctx.clearAll()
        return Promise.resolve(null)
      },
      read: shared(async (ctx: ObjectSharedContext) => {
        const pages = await Promise.all((await ctx.stateKeys()).map((key) => ctx.get<readonly HistoryStep[]>(key)))
        return pages.flatMap((steps) => steps ?? []).sort((one, other) => one.sequence - other.sequence)
      }),
    },
    options: { enableLazyState: true },
  })
}

/** Remembers when schedules began and last ran. */
export function createScheduleObject({ sdk, names }: StoreParts): Bound {
  const { shared } = sdk.handlers.object
  return sdk.object({
    name: names.schedule,
    handlers: {
      async put(ctx: ObjectContext, schedule: StoredSchedule): Promise<null> {
        const before = await ctx.get<StoredSchedule>('schedule')
        // Several processes keep the same schedule: the first beginning and the last run count.
        const lastRun = Math.max(before?.lastRun ?? -Infinity, schedule.lastRun ?? -Infinity)
        ctx.set('schedule', { deployedAt: before?.deployedAt ?? schedule.deployedAt, ...(lastRun === -Infinity ? {} : { lastRun }) })
        return null
      },
      get: shared(async (ctx: ObjectSharedContext) => ctx.get<StoredSchedule>('schedule')),
    },
  })
}
