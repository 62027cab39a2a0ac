import { correlationOf, isCorrelated, isEventOf, type CloudEventRecord } from '../../events/index.ts'
import { textOf } from '../router.ts'
import type { IndexedWait } from './messages.ts'
import type { Bound, ObjectContext, ObjectSharedContext } from './sdk.ts'
import type { WorkerParts } from './worker-parts.ts'

interface Place {
  readonly rev: number
  readonly keys: readonly string[]
}

/**
 * Knows, for one event type, who waits for it: under the type alone or, where their correlation is known, under one attribute value.
 *
 * State is read key by key: an event looks at its own keys, however many instances wait.
 */
export function createWaitsObject({ sdk, names }: Pick<WorkerParts, 'sdk' | 'names'>): Bound {
  const { shared } = sdk.handlers.object
  return sdk.object({
    name: names.waits,
    handlers: {
      /** Replaces what an instance waits for; an older change that comes late is left out. */
      async set(ctx: ObjectContext, { instanceId, rev, waits }: { instanceId: string; rev: number; waits: readonly IndexedWait[] }): Promise<null> {
        const place = await ctx.get<Place>(`of ${instanceId}`)
        if (place !== null && place.rev >= rev) return null
        const keys = [...new Set(waits.map(({ key }) => key))]
        for (const key of new Set([...place?.keys ?? [], ...keys])) {
          const others = (await ctx.get<readonly IndexedWait[]>(key) ?? []).filter((wait) => wait.instanceId !== instanceId)
          const now = [...others, ...waits.filter((wait) => wait.key === key)]
          if (now.length === 0) ctx.clear(key)
          else ctx.set(key, now)
        }
        if (waits.length === 0) ctx.clear(`of ${instanceId}`)
        else ctx.set<Place>(`of ${instanceId}`, { rev, keys })
        return null
      },
      find: shared(async (ctx: ObjectSharedContext, keys: readonly string[]) => {
        const found = await Promise.all(keys.map((key) => ctx.get<readonly IndexedWait[]>(key)))
        return found.flatMap((waits) => waits ?? [])
      }),
    },
    options: { enableLazyState: true },
  })
}

/** The instances that an event is handed to. */
export interface Chosen {
  readonly instances: readonly { readonly id: string; readonly correlated: boolean }[]
  /** Definitions whose instances take the event where they begin: it starts no other of them. */
  readonly atStart: readonly string[]
  /** Whether the event may start instances when so many took it. */
  readonly mayStart: (taken: number) => boolean
}

/** Chooses among those that wait (http-contract.md §5): the correlated, else those named, else all. */
export function choose(waits: readonly IndexedWait[], event: CloudEventRecord): Chosen {
  const reference = textOf(event, 'wfprocrefid', 'kogitoprocrefid')
  const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
  const fitting = waits.flatMap((wait) => {
    const definition = wait.definition as unknown as Parameters<typeof correlationOf>[0]
    const values = isEventOf(definition, event, wait.byTypeOnly ? 'type' : 'type-and-source') ? correlationOf(definition, event) : undefined
    if (values === undefined || !isCorrelated(wait.known, values)) return []
    return [{ wait, isCorrelated: Object.keys(values).length > 0 }]
  })
  const correlated = fitting.filter((match) => match.isCorrelated)
  const hasCorrelated = correlated.length > 0
  const chosen = hasCorrelated ? correlated : fitting.filter(({ wait }) =>
    (reference === undefined || wait.instanceId === reference) && (businessKey === undefined || wait.businessKey === businessKey))
  return {
    instances: [...new Set(chosen.map(({ wait }) => wait.instanceId))].map((id) => ({ id, correlated: hasCorrelated })),
    atStart: [...new Set(chosen.filter(({ wait }) => wait.atStart).map(({ wait }) => wait.workflowId))],
    mayStart: (taken) => !hasCorrelated && reference === undefined && (businessKey === undefined || taken === 0),
  }
}
