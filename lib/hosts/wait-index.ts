import { TurnoverMap } from '../common/index.ts'
import { correlationOf, isCorrelated, isEventOf, type CloudEventRecord, type CorrelationValues } from '../events/index.ts'
import type { EventDefinition } from '../definition/index.ts'
import type { LiveInstance } from './live-instance.ts'

/** A wait that an event fits. */
export interface WaitMatch {
  readonly live: LiveInstance
  readonly token: string
  readonly entry: number
  readonly correlation: CorrelationValues
}

/** Where a wait stands. */
interface Place {
  readonly key: string
  readonly number: number
}

interface IndexedWait {
  readonly live: LiveInstance
  readonly token: string
  readonly entry: number
  readonly definition: EventDefinition
}

/**
 * Finds the instances that wait for an event without looking at the others.
 *
 * Waits stand under type and, where their instance's correlation is known, one attribute value: an event finds its instance among
 * a hundred thousand by two look-ups.
 */
export class WaitIndex {
  /** By key, then by number: a wait has one as long as it stands here. */
  readonly #buckets = new TurnoverMap<string, TurnoverMap<number, IndexedWait>>()
  /** Attributes under which waits for a type may stand. */
  readonly #attributes = new CorrelationAttributes()
  readonly #ofInstance = new TurnoverMap<string, readonly Place[]>()
  #lastNumber = 0

  /** Brings the entries of an instance in line with what it waits for now. */
  update(live: LiveInstance): void {
    this.remove(live)
    const { instance } = live
    const places: Place[] = []
    for (const wait of instance.waits) {
      for (const { definition, entry: nth } of wait.events) {
        const key = keyOf(definition, instance.context.correlation ?? {})
        const number = ++this.#lastNumber
        places.push({ key, number })
        this.#bucket(key, definition).set(number, { live, token: wait.token, entry: nth, definition })
      }
    }
    if (places.length > 0) this.#ofInstance.set(live.facts.id, places)
  }

  #bucket(key: string, definition: EventDefinition): TurnoverMap<number, IndexedWait> {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    this.#attributes.add(definition)
    const bucket = new TurnoverMap<number, IndexedWait>()
    this.#buckets.set(key, bucket)
    return bucket
  }

  remove({ facts: { id } }: LiveInstance): void {
    const places = this.#ofInstance.get(id)
    if (places === undefined) return
    this.#ofInstance.delete(id)
    for (const { key, number } of places) {
      const bucket = this.#buckets.get(key)
      bucket?.delete(number)
      if (bucket?.size === 0) this.#buckets.delete(key)
    }
  }

  /** The waits that an event fits: at most one for each effect, in the order of the definition. */
  find(event: CloudEventRecord): readonly WaitMatch[] {
    const found = new Map<string, WaitMatch>()
    if (this.#buckets.size === 0) return []
    for (const key of keysOf(event, this.#attributes.of(event.type))) {
      for (const { live, token, entry, definition } of this.#buckets.get(key)?.values() ?? []) {
        const by = live.instance.program.profile === 'sonataflow' ? 'type' : 'type-and-source'
        const correlation = isEventOf(definition, event, by) ? correlationOf(definition, event) : undefined
        const place = `${live.facts.id}/${token}`
        if (correlation === undefined || found.has(place)) continue
        if (isCorrelated(live.instance.context.correlation ?? {}, correlation)) found.set(place, { live, token, entry, correlation })
      }
    }
    return [...found.values()]
  }
}

/** The keys that the waits of an instance stand under. */
export function keysOfWaits({ instance }: LiveInstance): readonly string[] {
  const { waits } = instance
  if (waits.length === 0) return NO_KEYS
  const known = instance.context.correlation ?? {}
  return [...new Set(waits.flatMap(({ events }) => events.map(({ definition }) => keyOf(definition, known))))]
}

const NO_KEYS: readonly string[] = []

/** The key that a wait stands under: its type and, where it is known, one correlation attribute. */
export function keyOf(definition: EventDefinition, known: CorrelationValues): string {
  for (const { contextAttributeName, contextAttributeValue } of definition.correlation) {
    const name = contextAttributeName.toLowerCase()
    const value = contextAttributeValue ?? (Object.hasOwn(known, name) ? known[name] : undefined)
    if (value !== undefined) return JSON.stringify([definition.type, name, value])
  }
  return JSON.stringify([definition.type])
}

/** The attributes by which definitions correlate, by event type: an event has many more. */
export class CorrelationAttributes {
  readonly #byType = new Map<string, Set<string>>()

  /** Takes what an event is correlated by. */
  add({ type, correlation }: EventDefinition): void {
    if (correlation.length === 0) return
    const names = this.#byType.get(type) ?? new Set<string>()
    this.#byType.set(type, names)
    for (const { contextAttributeName } of correlation) names.add(contextAttributeName.toLowerCase())
  }

  /** Names in lower case. */
  of(type: string): ReadonlySet<string> {
    return this.#byType.get(type) ?? NONE
  }
}

const NONE: ReadonlySet<string> = new Set()

/** The keys under which waits may stand that an event fits: those of some attributes, or of all that it has. */
export function keysOf(event: CloudEventRecord, attributes?: ReadonlySet<string>): string[] {
  const keys = [JSON.stringify([event.type])]
  for (const name of attributes ?? Object.keys(event)) {
    const value = event[name]
    if (value !== undefined && name !== 'data' && name !== 'data_base64' && typeof value !== 'object') keys.push(JSON.stringify([event.type, name, String(value)]))
  }
  return keys
}
