import type { Clock, Logger } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'
import { encodeHttp, type CloudEventRecord } from '../events/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import { createChannels, type Target } from './channels.ts'
import { createPauses, type Pauses } from './pauses.ts'

/** What sending events needs. */
export interface OutgoingOptions {
  readonly settings: Settings
  readonly client: HttpClient
  readonly clock: Clock
  readonly log: Logger
}

/** Sends produced events to where their channels point. */
export interface Outgoing {
  /** Whether settings declare the channel and it has somewhere to go. */
  hasChannel(channel: string): boolean
  /**
   * Sends an event on its channel: that of its type, unless another is named. Never throws; a failed delivery is tried again with the
   * same id and finally logged.
   */
  send(event: CloudEventRecord, channel?: string): void
  /**
   * Sends an event on the channel of its type; resolves with false when it could not be delivered, for whoever keeps it to send again.
   * An event that can never be sent, for its attributes are wrong, is logged and counts as delivered.
   */
  deliver(event: CloudEventRecord): Promise<boolean>
  /** Resolves when no delivery is under way any more. */
  idle(): Promise<void>
  /** Waits for deliveries that are under way, for so many milliseconds at most; what has failed until then is not tried again. */
  close(graceMilliseconds: number): Promise<void>
}

/** Delays before a failed delivery is tried again, milliseconds. */
const RETRY_DELAYS = [100, 1000, 5000] as const

/** Creates the sender of produced events (http-contract.md §5; `sonatina.messaging.outgoing.*`, `sonatina.messaging.sink`, `K_SINK`). */
export function createOutgoing({ settings, client, clock, log }: OutgoingOptions): Outgoing {
  const channels = createChannels(settings)
  const pauses = createPauses(clock)
  const deliver = createDelivery({ client, log, pauses })
  const underWay = new Set<Promise<boolean>>()
  const follow = (delivery: Promise<boolean>): Promise<boolean> => {
    const followed = delivery.finally(() => { underWay.delete(followed) })
    underWay.add(followed)
    return followed
  }
  return {
    hasChannel: (channel) => channels.has(channel),
    send(event, channel = event.type) {
      const target = channels.find(channel)
      if (target !== undefined) void follow(deliver(event, target))
    },
    deliver(event) {
      const target = channels.find(event.type)
      // What nobody asked for has arrived.
      return target === undefined ? Promise.resolve(true) : follow(deliver(event, target))
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
    async close(graceMilliseconds) {
      let cancel: () => void = () => undefined
      const timeout = new Promise<void>((resolve) => { cancel = clock.at(clock.now() + graceMilliseconds, resolve) })
      await Promise.race([Promise.all(underWay), timeout])
      cancel()
      // What waits for its next attempt has had its time; what is on its way ends with the connections.
      pauses.end()
    },
  }
}

type EncodedEvent = ReturnType<typeof encodeHttp>

interface DeliveryParts extends Pick<OutgoingOptions, 'client' | 'log'> {
  readonly pauses: Pauses
}

/** Makes what brings an event to a target, with some patience; tells whether it need not be sent again. */
function createDelivery({ client, log, pauses }: DeliveryParts): (event: CloudEventRecord, target: Target) => Promise<boolean> {
  const encode = (event: CloudEventRecord, { mode }: Target): EncodedEvent | undefined => {
    try {
      return encodeHttp(event, mode)
    } catch (error) {
      log.error({ event: event.id, type: event.type, problem: describe(error) }, 'event cannot be sent')
      return undefined
    }
  }
  const attempt = async ({ headers, body }: EncodedEvent, { url, method }: Target): Promise<string | undefined> => {
    try {
      const { status } = await client.request({ method, url, headers, ...(body === undefined ? {} : { body }), purpose: 'event' })
      return status < 300 ? undefined : `status ${String(status)}`
    } catch (error) {
      return describe(error)
    }
  }
  return async (event, target) => {
    const encoded = encode(event, target)
    // Kept, it would be in the way for ever: it is no better the next time.
    if (encoded === undefined) return true
    let problem = await attempt(encoded, target)
    for (const delay of RETRY_DELAYS) {
      if (problem === undefined || !await pauses.wait(delay)) break
      problem = await attempt(encoded, target)
    }
    if (problem !== undefined) log.error({ event: event.id, type: event.type, problem }, 'event could not be delivered')
    return problem === undefined
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
