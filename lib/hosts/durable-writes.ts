import type { CloudEventRecord } from '../events/index.ts'
import type { Durability } from './durability.ts'
import { stopId } from './ends.ts'
import type { Journal, StoredIntention } from './journal.ts'
import type { DurableLife, LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Shelf } from './shelf.ts'
import { sameKeys, sameTimers, timersOf, toStored } from './stored-form.ts'
import { keysOfWaits } from './wait-index.ts'

/** Writes what instances have become. */
export class DurableWrites {
  readonly #parts: Parts
  readonly #durability: Durability
  readonly #shelf: Shelf

  constructor(parts: Parts, durability: Durability, shelf: Shelf) {
    this.#parts = parts
    this.#durability = durability
    this.#shelf = shelf
  }

  /** Writes all that a turn, or several, have changed. */
  write(journal: Journal, live: LiveInstance): void {
    const life = live.durable
    if (life === undefined) return
    const { status } = live.instance
    const isEnd = status === 'completed' || status === 'aborted'
    if (isEnd || status === 'error') this.#parts.ends.conclude(live)
    this.#writeCommands(journal, live, life)
    if (life.alongside.length > 0) life.isBare = false
    for (const write of life.alongside) write(journal)
    life.alongside = []
    if (isEnd) this.#writeEnd(journal, live, life)
    else this.#writeLife(journal, live, life)
  }

  #writeHistory(journal: Journal, { facts }: LiveInstance, life: DurableLife): void {
    if (life.steps.length === 0) return
    journal.addHistory(facts.id, life.steps)
    life.isBare = false
    life.steps = []
  }

  #writeCommands(journal: Journal, live: LiveInstance, { commands }: DurableLife): void {
    for (const command of commands) {
      if (command.kind === 'publish') journal.addOutgoing(outgoingId(live, command.event), command.event)
      else if (command.kind !== 'timer' && command.detached && command.origin !== undefined) {
        this.#shelf.keepDefinition(journal, live.workflow)
        journal.addIntention(this.#intention(live, detachedId(live, command.token), { kind: 'detached', origin: command.origin }))
      }
    }
  }

  #intention({ facts, workflow }: LiveInstance, id: string, effect: StoredIntention['effect']): StoredIntention {
    return { id, facts: { ...facts, headers: this.#durability.storedHeaders(facts.headers) }, definition: workflow.loaded.source.hash, effect }
  }

  #writeLife(journal: Journal, live: LiveInstance, life: DurableLife): void {
    const { id } = live.facts
    this.#shelf.keepDefinition(journal, live.workflow)
    const stored = toStored(live, life, this.#durability)
    journal.put(stored, life.stored)
    if (stored.steps === undefined) this.#writeHistory(journal, live, life)
    const { place } = life
    if (place?.body !== undefined) {
      journal.putStart(place.key, { body: place.body, instanceId: id }, this.#parts.options.clock.now())
      life.place = { key: place.key }
    }
    const timers = timersOf(live)
    if (!sameTimers(timers, life.timers)) journal.setTimers(id, timers)
    const waits = keysOfWaits(live)
    if (!sameKeys(waits, life.waits)) journal.setWaits(id, waits, life.waits.length === 0)
    if (timers.size > 0 || waits.length > 0) life.isBare = false
    life.timers = timers
    life.waits = waits
  }

  #writeEnd(journal: Journal, live: LiveInstance, life: DurableLife): void {
    const { facts, instance } = live
    const { options } = this.#parts
    const stored = toStored(live, life, this.#durability)
    const { continuation } = instance
    if (continuation !== undefined && facts.parent?.token === undefined) {
      this.#shelf.keepDefinition(journal, live.workflow)
      journal.addIntention(this.#intention(live, continueId(live), { kind: 'continue', continuation }))
    }
    for (const childId of this.#dependentsOf(live, life)) {
      journal.addIntention(this.#intention(live, stopId(childId), { kind: 'stop', instanceId: childId }))
      live.dependents.add(childId)
    }
    const { place } = life
    if (place !== undefined) {
      if (place.body !== undefined) journal.putStart(place.key, { body: place.body, instanceId: facts.id }, options.clock.now())
      journal.endStart(place.key, stored.record)
    }
    if (stored.undelivered || (options.retention ?? 0) > 0) {
      this.#shelf.keepDefinition(journal, live.workflow)
      journal.put(stored, life.stored)
      if (life.timers.size > 0) journal.setTimers(facts.id, new Map())
      if (life.waits.length > 0) journal.setWaits(facts.id, [])
      this.#writeHistory(journal, live, life)
    } else {
      if (life.stored) journal.remove(facts.id, life.isBare)
      // History goes with it.
      life.steps = []
    }
  }

  #dependentsOf(live: LiveInstance, life: DurableLife): readonly string[] {
    const stored = life.stored && life.hasDependents ? this.#shelf.journal?.dependentsOf(live.facts.id) ?? [] : []
    // One that ends in the same commit is in the store until that is made.
    return [...new Set([...live.dependents, ...stored])].filter((id) => {
      const status = this.#parts.lives.get(id)?.instance.status
      return status !== 'completed' && status !== 'aborted'
    })
  }
}

/** Id under which an event of an instance stands in the outbox. */
export function outgoingId({ facts }: LiveInstance, event: CloudEventRecord): string {
  return `${facts.id}:${event.id}`
}

/** Id of the intention to carry out an asynchronous action. */
export function detachedId({ facts }: LiveInstance, token: string): string {
  return `detached:${facts.id}:${token}`
}

/** Id of the intention to go on as another instance. */
export function continueId({ facts }: LiveInstance): string {
  return `continue:${facts.id}`
}
