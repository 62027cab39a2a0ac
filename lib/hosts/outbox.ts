import type { Cancel, Clock } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'

/** What an outbox needs. */
export interface OutboxOptions {
  readonly clock: Clock
  /** Sends an event out; false when it has to be sent again. */
  readonly forward: (event: CloudEventRecord) => Promise<boolean>
  /** Hands an event in again, where produced events come back; resolves when it has been routed. */
  readonly loopback: (event: CloudEventRecord) => Promise<void>
  /** The event has arrived: it need not be kept any longer. */
  readonly sent: (id: string) => void
}

/** Milliseconds until an event that could not be delivered is sent again. */
const RESEND_AFTER = 30_000

/** Sends events that are written, at least once and always with the same id. */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #underWay = new Set<string>()
  readonly #waiting = new Map<string, Cancel>()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Sends an event, unless that is under way. */
  send(id: string, event: CloudEventRecord): void {
    if (this.#underWay.has(id)) return
    this.#underWay.add(id)
    this.#forward(id, event, this.#options.loopback(event))
  }

  #forward(id: string, event: CloudEventRecord, routed: Promise<void>): void {
    void Promise.all([this.#options.forward(event), routed]).then(([arrived]) => {
      if (!this.#underWay.has(id)) return
      if (arrived) {
        this.#underWay.delete(id)
        this.#options.sent(id)
        return
      }
      const { clock } = this.#options
      this.#waiting.set(id, clock.at(clock.now() + RESEND_AFTER, () => {
        this.#waiting.delete(id)
        this.#forward(id, event, routed)
      }))
    }, () => {
      // It could not be handed in, because the store fails: it is sent again when that is mended.
      this.#underWay.delete(id)
    })
  }

  /** Forgets what is under way: what is stored is sent again. */
  clear(): void {
    for (const cancel of this.#waiting.values()) cancel()
    this.#waiting.clear()
    this.#underWay.clear()
  }
}
