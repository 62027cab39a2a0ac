import { createHash } from 'node:crypto'

/** Names of the services of a host, all below one namespace: several installations can share a cluster. */
export interface ServiceNames {
  /** One object for each instance. */
  readonly instance: string
  /** One object for each event type: who waits for it. */
  readonly waits: string
  /** One object for each definition that several events begin. */
  readonly gathering: string
  /** Routes events that come in. */
  readonly router: string
  /** One object for each instance: sends what it produced, in order. */
  readonly outbox: string
  /** One object for each definition text, by its hash. */
  readonly definition: string
  /** One object for each instance: its steps. */
  readonly history: string
  /** Asynchronous calls that nobody waits for. */
  readonly detached: string
  /** One object for each schedule. */
  readonly schedule: string
}

/** The services of a namespace. */
export function serviceNames(namespace: string): ServiceNames {
  const below = (name: string): string => `${namespace}.${name}`
  return {
    instance: below('instance'),
    waits: below('waits'),
    gathering: below('gathering'),
    router: below('router'),
    outbox: below('outbox'),
    definition: below('definition'),
    history: below('history'),
    detached: below('detached'),
    schedule: below('schedule'),
  }
}

/**
 * Makes the id of an instance from what it is started by, in the form of a UUID (RFC 9562, version 8).
 *
 * The same cause gives the same id on every worker and in every attempt: it cannot start two instances.
 */
export function idFrom(...cause: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(cause)).digest('hex')
  const variant = ((parseInt(digest.charAt(16), 16) & 3) | 8).toString(16)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

/** A short digest, to compare by. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
