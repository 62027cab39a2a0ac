import type { Clock, Logger } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'
import { encodeHttp, type CloudEventRecord, type EventMode } from '../events/index.ts'
import type { HttpClient } from '../http-client/index.ts'

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

interface Target {
  readonly url: string
  readonly mode: EventMode
  readonly method: string
}

type EncodedEvent = ReturnType<typeof encodeHttp>

/** Delays before a failed delivery is tried again, milliseconds. */
const RETRY_DELAYS = [100, 1000, 5000] as const

/** Creates the sender of produced events (http-contract.md §5; `sonatina.messaging.outgoing.*`, `sonatina.messaging.sink`, `K_SINK`). */
export function createOutgoing({ settings, client, clock, log }: OutgoingOptions): Outgoing {
  const channels = readChannels(settings)
  const sink = settings.text('sonatina.messaging.sink')
  const underWay = new Set<Promise<boolean>>()
  const pauses = createPauses(clock)
  // SonataFlow sends whatever has no channel of its own through one channel of that name.
  const fallback = channels.get('kogito_outgoing_stream') ?? (sink === undefined ? undefined : { url: sink, mode: 'binary' as const, method: 'POST' })
  const targetOf = (channel: string): Target | undefined => channels.get(channel) ?? fallback

  async function deliver(event: CloudEventRecord, target: Target): Promise<boolean> {
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

  function encode(event: CloudEventRecord, { mode }: Target): EncodedEvent | undefined {
    try {
      return encodeHttp(event, mode)
    } catch (error) {
      log.error({ event: event.id, type: event.type, problem: describe(error) }, 'event cannot be sent')
      return undefined
    }
  }

  function follow(delivery: Promise<boolean>): Promise<boolean> {
    const followed = delivery.finally(() => { underWay.delete(followed) })
    underWay.add(followed)
    return followed
  }

  async function attempt({ headers, body }: EncodedEvent, { url, method }: Target): Promise<string | undefined> {
    try {
      const { status } = await client.request({ method, url, headers, ...(body === undefined ? {} : { body }), purpose: 'event' })
      return status < 300 ? undefined : `status ${String(status)}`
    } catch (error) {
      return describe(error)
    }
  }

  return {
    hasChannel: (channel) => channels.has(channel),
    send(event, channel = event.type) {
      const target = targetOf(channel)
      if (target === undefined) return
      void follow(deliver(event, target))
    },
    deliver(event) {
      const target = targetOf(event.type)
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

/** Pauses between attempts, which can be ended all at once. */
interface Pauses {
  /** Waits for so many milliseconds; false when the pauses were ended before. */
  wait(milliseconds: number): Promise<boolean>
  /** Ends all pauses, also those that are yet to come. */
  end(): void
}

function createPauses(clock: Clock): Pauses {
  const waiting = new Set<() => void>()
  let isEnded = false
  return {
    wait(milliseconds) {
      if (isEnded) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (passed: boolean): void => {
          waiting.delete(giveUp)
          resolve(passed)
        }
        const cancel = clock.at(clock.now() + milliseconds, () => { end(true) })
        const giveUp = (): void => {
          cancel()
          end(false)
        }
        waiting.add(giveUp)
      })
    },
    end() {
      isEnded = true
      for (const giveUp of waiting) giveUp()
    },
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Channels with an address of their own, by name, type and topic. */
function readChannels(settings: Settings): ReadonlyMap<string, Target> {
  const channels = new Map<string, Target>()
  const sink = settings.text('sonatina.messaging.sink')
  for (const name of settings.segments('sonatina.messaging.outgoing')) {
    const prefix = `sonatina.messaging.outgoing.${/[."\s]/.test(name) ? JSON.stringify(name) : name}`
    const url = settings.text(`${prefix}.url`) ?? sink
    if (url === undefined) continue
    const mode = settings.text(`${prefix}.cloud-events-mode`) ?? settings.text(`kogito.addon.messaging.outgoing.cloudEventMode.${name}`) ?? settings.text(`${prefix}.mode`, 'binary')
    const target: Target = { url, mode: mode === 'structured' ? 'structured' : 'binary', method: settings.text(`${prefix}.method`, 'POST') }
    for (const key of [name, settings.text(`${prefix}.type`), settings.text(`${prefix}.topic`)]) if (key !== undefined) channels.set(key, target)
  }
  return channels
}
