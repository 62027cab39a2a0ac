import { isQuiet, recordOf, statusOf, type DurableLife, type LiveInstance } from './live-instance.ts'
import type { Durability } from './durability.ts'
import type { StoredInstance } from './journal.ts'

/** Gives an instance the form in which it is stored. */
export function toStored(live: LiveInstance, life: DurableLife, { storedHeaders }: Durability): StoredInstance {
  const { facts, instance, workflow, endedAt } = live
  const { parent } = facts
  const record = recordOf(live)
  const { continuation } = instance
  return {
    facts: { ...facts, headers: storedHeaders(facts.headers) },
    definition: workflow.loaded.source.hash,
    status: statusOf(live),
    record,
    busy: endedAt === undefined && isBusy(live, life),
    undelivered: endedAt !== undefined && parent?.token !== undefined,
    dependent: parent?.token === undefined && parent?.onParentComplete === 'terminate',
    nextStep: life.nextStep,
    ...(endedAt === undefined ? { state: instance.persist() } : {}),
    ...(continuation === undefined ? {} : { continuation }),
    ...(life.place === undefined ? {} : { place: life.place.key }),
  }
}

/** Something is under way that a start of the process has to take up again. */
function isBusy(live: LiveInstance, { commands }: DurableLife): boolean {
  return live.starting.size > 0 || live.calls.size > 0 || !isQuiet(live, () => undefined) || commands.some(({ kind }) => kind !== 'timer' && kind !== 'publish')
}

/** Due instants of the timers that an instance waits for, by token. */
export function timersOf({ instance }: LiveInstance): ReadonlyMap<string, number> {
  const timers = new Map<string, number>()
  for (const [token, { input }] of instance.pending) if (input.effect === 'timer') timers.set(token, input.dueAt ?? input.since)
  return timers
}

/** Whether two maps hold the same. */
export function sameTimers(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  if (left.size !== right.size) return false
  for (const [token, dueAt] of left) if (right.get(token) !== dueAt) return false
  return true
}
