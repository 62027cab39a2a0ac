import type { CloudEventRecord } from '../events/index.ts'
import type { Commits, Write } from './commits.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Durability } from './durability.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'
import type { Resumption } from './resumption.ts'
import type { Shelf } from './shelf.ts'
import { keysOf } from './wait-index.ts'

/** What an inbox needs. */
export interface InboxOptions {
  readonly parts: Parts
  readonly durability: Durability
  readonly shelf: Shelf
  readonly commits: Commits
  readonly resumption: Resumption
}

/** Knows which events have been applied to whom, and finds whom an event is for among those that are put away. */
export class Inbox {
  readonly #options: InboxOptions
  /** Received events that are not written yet. */
  readonly #received = new Set<string>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  /** Brings back those that wait for an event. @throws {@link HostError} `STORE_UNAVAILABLE` */
  awaken(event: CloudEventRecord): void {
    const { shelf, resumption } = this.#options
    if (shelf.problem !== undefined) throw shelf.problem
    if (shelf.journal === undefined || shelf.putAway === 0) return
    for (const id of shelf.journal.waiting(keysOf(event, shelf.attributes.of(event.type)))) resumption.find(id)
  }

  /** Whether an event is new to an instance; it is then known, from the commit on that applies it. */
  isNew(event: CloudEventRecord, live: LiveInstance): boolean {
    return this.#receive(event, live.facts.id, (write) => { live.durable?.alongside.push(write) })
  }

  /** Whether an event is new to the starts of a definition; it is then known. */
  isNewStart(event: CloudEventRecord, workflow: DeployedWorkflow): boolean {
    const { durability, commits } = this.#options
    if (!durability.isDurable(workflow)) return true
    return this.#receive(event, `start:${workflow.program.definition.id}`, (write) => { commits.later(write) })
  }

  #receive(event: CloudEventRecord, target: string, note: (write: Write) => void): boolean {
    const { shelf, parts } = this.#options
    const key = wellFormed(`${event.source}|${event.id}`)
    const place = `${key}|${target}`
    if (this.#received.has(place) || shelf.open().hasReceived(key, target)) return false
    this.#received.add(place)
    const at = parts.options.clock.now()
    note((journal) => { journal.addReceived(key, target, at) })
    return true
  }

  /** What was received is written now, or has not happened. */
  forget(): void {
    this.#received.clear()
  }
}

// The database would store half a character in two ways.
function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text
}
