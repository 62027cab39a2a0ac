import { valueAt } from '../body-path.ts'
import { decodeEvent, type EventDocument } from '../cloud-events.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import { differences } from '../match.ts'
import type { Variables } from '../variables.ts'
import { startServer, type RunningServer } from './http-server.ts'

/** What a case looks for among the events that the product publishes. */
export interface EventPattern {
  readonly channel?: string
  readonly type?: string
  /** Attribute and `data.` paths with the values they must have. */
  readonly match?: Fields
}

/** The test broker: an HTTP sink that keeps what the product publishes. */
export interface Broker extends RunningServer {
  readonly events: readonly EventDocument[]
  /** Takes the first event that fits and that no step has taken before. */
  take(pattern: EventPattern, variables: Variables): EventDocument | undefined
}

interface Published {
  readonly event: EventDocument
  readonly channel: string
  taken: boolean
}

/** What the broker must know of the case. */
export interface BrokerOptions {
  /** Names and topics of the outgoing channels that the settings of the case declare. */
  readonly outgoing: ReadonlySet<string>
  /** `onEvent` entries: an event that the product publishes, and what to do then. */
  readonly reactions: readonly { readonly pattern: EventPattern; readonly react: (event: EventDocument) => void }[]
}

/** Starts the broker on a free port. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const published: Published[] = []
  const server = await startServer((request, response) => {
    const event = decodeEvent(request)
    response.writeHead(event === undefined ? 400 : 202)
    response.end()
    if (event === undefined) return
    const entry = { event, channel: request.path.replace(/^\//, ''), taken: false }
    published.push(entry)
    for (const { pattern, react } of options.reactions) if (fits(entry, pattern, options)) react(event)
  })
  return {
    ...server,
    get events() { return published.map(({ event }) => event) },
    take(pattern, variables) {
      const found = published.find((entry) => !entry.taken && fits(entry, pattern, options) &&
        Object.entries(pattern.match ?? {}).every(([path, value]) => differences(valueAt(entry.event, path), value, variables).length === 0))
      if (found !== undefined) found.taken = true
      return found?.event
    },
  }
}

function fits({ event, channel }: Published, pattern: EventPattern, { outgoing }: BrokerOptions): boolean {
  if (pattern.type !== undefined && event['type'] !== pattern.type) return false
  const { channel: wanted } = pattern
  if (wanted === undefined || wanted === channel || wanted === event['type'] || outgoing.has(wanted)) return true
  // One sink stands for all channels: an event that came to it is on any channel, so that its type has to tell it.
  return channel === '' && pattern.type !== undefined
}

/** Reads the pattern of an `awaitEvent` step or an `onEvent` mock. */
export function toEventPattern(fields: Fields): EventPattern {
  assertKnown(fields, ['channel', 'type', 'match', 'atMost'], 'an event pattern')
  return {
    ...(typeof fields['channel'] === 'string' ? { channel: fields['channel'] } : {}),
    ...(typeof fields['type'] === 'string' ? { type: fields['type'] } : {}),
    ...(fields['match'] === undefined ? {} : { match: fields['match'] as Fields }),
  }
}
