import { isQuiet, recordOf, type DurableLife, type LiveInstance } from './live-instance.ts'
import type { Durability } from './durability.ts'
import type { StoredInstance } from './journal.ts'

/** Steps that stand in the row of an instance at most: each commit writes them again. */
const MOST_STEPS_IN_A_ROW = 30

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** Gives an instance the form in which it is stored. */
export function toStored(live: LiveInstance, life: DurableLife, { storedHeaders }: Durability): StoredInstance {
  const { facts, instance, workflow, endedAt } = live
  const { parent } = facts
  const record = recordOf(live)
  const { continuation } = instance
  // Each turn of each instance comes here: copies that leave out what is absent would cost more than all else.
  const stored: Mutable<StoredInstance> = {
    facts: { ...facts, headers: storedHeaders(facts.headers) },
    definition: workflow.loaded.source.hash,
    status: record.status,
    record,
    busy: endedAt === undefined && isBusy(live, life),
    undelivered: endedAt !== undefined && parent?.token !== undefined,
    dependent: parent?.token === undefined && parent?.onParentComplete === 'terminate',
    nextStep: life.nextStep,
  }
  if (endedAt === undefined) stored.state = instance.persist()
  // Many an instance ends soon, and its history with it: until it waits, its steps stand in its row.
  if (stored.busy && life.steps.length <= MOST_STEPS_IN_A_ROW) stored.steps = life.steps
  if (continuation !== undefined) stored.continuation = continuation
  if (life.place !== undefined) stored.place = life.place.key
  return stored
}

/** Something is under way that a start of the process has to take up again. */
function isBusy(live: LiveInstance, { commands }: DurableLife): boolean {
  return live.starting.size > 0 || live.calls.size > 0 || !isQuiet(live, () => undefined) || commands.some(({ kind }) => kind !== 'timer' && kind !== 'publish')
}

/** Due instants of the timers that an instance waits for, by token. */
export function timersOf({ instance }: LiveInstance): ReadonlyMap<string, number> {
  let timers: Map<string, number> | undefined
  for (const [token, { input }] of instance.pending) if (input.effect === 'timer') (timers ??= new Map()).set(token, input.dueAt ?? input.since)
  return timers ?? NO_TIMERS
}

/** The timers of an instance that has none. */
export const NO_TIMERS: ReadonlyMap<string, number> = new Map()

/** Whether two maps hold the same. */
export function sameTimers(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  if (left.size !== right.size) return false
  for (const [token, dueAt] of left) if (right.get(token) !== dueAt) return false
  return true
}

/** Whether two lists hold the same keys in the same order. */
export function sameKeys(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index])
}
