import { HostError } from '../errors/index.ts'
import type { InstanceFacts } from '../instance/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Durability } from './durability.ts'
import type { Journal } from './journal.ts'
import { CorrelationAttributes } from './wait-index.ts'

/** The store of a host, opened when it is first needed, and what of it has to be known in memory. */
export class Shelf {
  readonly #durability: Durability
  readonly #storedDefinitions = new Set<string>()
  /** Headers of instances that are put away, as far as the store must not hold them: as JSON, which takes less room. */
  readonly #headers = new Map<string, string>()
  #journal: Journal | undefined
  readonly #workflows = new Map<string, DeployedWorkflow>()
  /** What the events of stored instances are correlated by. */
  readonly attributes = new CorrelationAttributes()
  /** Why the store cannot be written now. */
  problem: HostError | undefined
  /** How many instances live in the store only. */
  putAway = 0
  /** `closing`: what is under way is left to the next process; `closed`: nothing is written any more. */
  phase: 'open' | 'closing' | 'closed' = 'open'

  constructor(durability: Durability) {
    this.#durability = durability
  }

  /** The store, once it has been opened. */
  get journal(): Journal | undefined {
    return this.#journal
  }

  /** Opens the store, unless that has been done. @throws {@link HostError} `HOST_CLOSED`, `STORE_UNAVAILABLE`, `STORE_LOCKED` */
  open(): Journal {
    if (this.phase === 'closed') throw new HostError({ code: 'HOST_CLOSED', message: 'The host is closed' })
    if (this.#journal === undefined) {
      this.#journal = this.#durability.open()
      this.putAway = this.#journal.countAlive()
    }
    return this.#journal
  }

  close(): void {
    this.#journal?.close()
    this.#journal = undefined
  }

  /** A definition of stored instances, by the hash of its text. */
  workflow(hash: string): DeployedWorkflow | undefined {
    return this.#workflows.get(hash)
  }

  /** Takes a definition that stored instances have, or will have. */
  know(workflow: DeployedWorkflow): void {
    const { hash } = workflow.loaded.source
    if (this.#workflows.get(hash) === workflow) return
    this.#workflows.set(hash, workflow)
    for (const event of workflow.program.events.values()) this.attributes.add(event)
  }

  /** Writes the text of a definition, unless the store has it. */
  keepDefinition(journal: Journal, workflow: DeployedWorkflow): void {
    const { source, definition } = workflow.loaded
    this.know(workflow)
    if (this.#storedDefinitions.has(source.hash)) return
    journal.putDefinition({ hash: source.hash, workflowId: definition.id, version: definition.version, uri: source.uri, text: source.text })
    this.#storedDefinitions.add(source.hash)
  }

  /** A commit failed: which definitions the store has is not known any more. */
  forgetDefinitions(): void {
    this.#storedDefinitions.clear()
  }

  /** Remembers what must not be stored of an instance that is put away. */
  keepHeaders({ id, headers }: InstanceFacts): void {
    if (Object.keys(this.#durability.storedHeaders(headers)).length < Object.keys(headers).length) this.#headers.set(id, JSON.stringify(headers))
  }

  /** Gives an instance its headers back. */
  withHeaders(facts: InstanceFacts): InstanceFacts {
    const headers = this.#headers.get(facts.id)
    return headers === undefined ? facts : { ...facts, headers: JSON.parse(headers) as InstanceFacts['headers'] }
  }

  forgetHeaders(id: string): void {
    this.#headers.delete(id)
  }
}
