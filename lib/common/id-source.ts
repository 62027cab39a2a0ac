import { randomUUID } from 'node:crypto'

/** The only source of identities and randomness: injected everywhere, so that tests and replays repeat. */
export interface IdSource {
  /** A fresh identity, unique for ever (a UUID in production). */
  next(): string
  /** A number from 0 (included) to 1 (excluded). */
  random(): number
}

/** Creates the source that production uses: random UUIDs, `Math.random`. */
export function createRandomIdSource(): IdSource {
  return { next: () => randomUUID(), random: () => Math.random() }
}
