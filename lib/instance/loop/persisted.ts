import type { AnyActorRef, Snapshot } from 'xstate'

/** A snapshot of XState as far as its persisted form holds it. */
interface PersistableSnapshot {
  readonly status: string
  readonly output: unknown
  readonly error: unknown
  readonly value: unknown
  readonly context: unknown
  readonly children: Readonly<Record<string, PersistableChild | undefined>>
}

type PersistableChild = Pick<AnyActorRef, 'getPersistedSnapshot' | 'src'> & { readonly systemId: string | undefined; readonly _syncSnapshot: boolean }

/**
 * The persisted form of a machine in the loop of our own, equal to XState's: which copies a snapshot twice, and looks for actors in
 * all of its context. Our machines have no history states.
 */
export function persistedOf({ status, output, error, value, context, children }: PersistableSnapshot): Snapshot<unknown> {
  const persistedChildren: Record<string, object> = {}
  for (const id in children) {
    const child = children[id]
    if (child !== undefined) persistedChildren[id] = { snapshot: child.getPersistedSnapshot(), src: child.src, systemId: child.systemId, syncSnapshot: child._syncSnapshot }
  }
  return { status, output, error, value, historyValue: {}, context, children: persistedChildren } as unknown as Snapshot<unknown>
}
