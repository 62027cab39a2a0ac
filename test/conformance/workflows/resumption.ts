import type { Runtime } from '../../../lib/runtime-options.ts'
import type { Fields } from './case-file.ts'

/** Settings of a run in which every wait is a stop: all instances in the store, with what it leaves out by default. */
export const RESUME_SETTINGS: Fields = { 'sonatina.store': 'sqlite', 'sonatina.persistence.headers.enabled': 'true' }

const FORGETS_TOKENS = 'Tokens are never written, so that a fresh process exchanges them again; the case counts the exchanges.'

/** Cases that a stop changes, each with the reason why that is right. */
export const CHANGED_BY_STOPS: Readonly<Record<string, string>> = {
  'sonataflow/jdbc-token-it__token-exchange': FORGETS_TOKENS,
  'sonataflow/token_exchange': FORGETS_TOKENS,
}

/**
 * Stops the product whenever an instance rests in a wait, and lets a fresh one go on from the store.
 *
 * A wait is taken once: as long as nothing has happened since the last stop there is nothing new to resume.
 */
export class Resumption {
  #seen = 0
  #steps = 0
  /** Waits at which the product was stopped. */
  stops = 0

  /** Something happened in an instance. */
  step(): void {
    this.#steps += 1
  }

  /** Whether the product, which is quiet, has to be stopped here. */
  async isDue({ host }: Runtime): Promise<boolean> {
    if (this.#seen === this.#steps) return false
    this.#seen = this.#steps
    // What failed waits too: for an operator.
    const { instances } = await host.list({ status: ['active', 'waiting', 'error'], limit: 1 })
    return instances.length > 0
  }
}
