import type { Cancel, Clock, JsonObject } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import { translate } from '../translation/index.ts'
import { PROTOCOL_VERSION, toMessage, type InspectionMessage, type XStateInspection } from './protocol.ts'
import type { InstanceIdentity, Notice, Recorder, Recording } from './recorder.ts'
import type { Redact } from './redact.ts'

/** Who takes messages of the protocol. */
interface MessageReader {
  /** Instance that it asks for; absent: all. */
  readonly instance?: string
  send(text: string): void
}

/** Hands inspection messages to readers; costs nothing without one. */
export interface Relay {
  /** The observer that a new instance gets; none while nobody reads, so that the instance keeps its fast loop. */
  observe(facts: InstanceIdentity): ((event: XStateInspection) => void) | undefined
  /** Gives a reader the live roots and the last messages, then all that come. */
  add(reader: MessageReader): Cancel
  readonly readers: number
}

/** Parts of a {@link Relay}. */
export interface RelayOptions {
  readonly recorder: Recorder
  readonly catalogue: Catalogue
  readonly redact: Redact
  readonly clock: Clock
}

interface Sent {
  readonly instance: string
  readonly text: string
}

const MOST_KEPT = 200

/**
 * Creates the {@link Relay}.
 *
 * Instances that start while somebody reads are observed by XState itself. Those that live already are told from their steps:
 * an actor with its definition, then a snapshot for each state.
 */
export function createRelay({ recorder, catalogue, redact, clock }: RelayOptions): Relay {
  const readers = new Set<MessageReader>()
  const observed = new Set<string>()
  const kept: Sent[] = []
  let unsubscribe: Cancel | undefined
  const publish = (instance: string, message: InspectionMessage): void => {
    const sent = { instance, text: JSON.stringify(hide(message, redact)) }
    kept.push(sent)
    if (kept.length > MOST_KEPT) kept.shift()
    for (const reader of readers) deliver(reader, sent)
  }
  const fromSteps = (notice: Notice): void => {
    const { recording } = notice
    if (notice.kind !== 'step' || observed.has(recording.id)) return
    const { step } = notice
    if (step.type === 'stateEntered' || step.type === 'completed' || step.type === 'failed' || step.type === 'aborted') {
      publish(recording.id, { ...common(recording, step.at), type: '@xstate.snapshot', snapshot: snapshotOf(recording, catalogue), event: { type: `swf.${step.type}` } })
    }
  }
  return {
    observe(facts) {
      if (readers.size === 0) return undefined
      observed.add(facts.id)
      return (event) => {
        const message = readers.size === 0 ? undefined : toMessage(event, clock.now())
        if (message !== undefined) publish(facts.id, message)
      }
    },
    add(reader) {
      if (readers.size === 0) unsubscribe = recorder.subscribe(fromSteps)
      for (const recording of recorder.recordings()) {
        const lives = recording.status === 'active' || recording.status === 'waiting'
        if (lives && !observed.has(recording.id)) deliver(reader, { instance: recording.id, text: JSON.stringify(hide(actorOf(recording, catalogue), redact)) })
      }
      for (const sent of kept) deliver(reader, sent)
      readers.add(reader)
      return () => {
        if (!readers.delete(reader) || readers.size > 0) return
        unsubscribe?.()
        kept.length = 0
        observed.clear()
      }
    },
    get readers() { return readers.size },
  }
}

function deliver(reader: MessageReader, sent: Sent): void {
  if (reader.instance === undefined || reader.instance === sent.instance) reader.send(sent.text)
}

// Only what comes from the data is redacted: the names of the protocol (`sessionId`) look like secrets to no rule, states may.
function hide(message: InspectionMessage, redact: Redact): JsonObject {
  const { snapshot, event } = message
  return {
    ...message,
    ...(snapshot === undefined ? {} : { snapshot: { ...(snapshot as JsonObject), ...hidden(snapshot as JsonObject, redact) } }),
    ...(event === undefined ? {} : { event: { ...(redact(event) as JsonObject | null), type: (event as JsonObject)['type'] ?? '' } }),
  }
}

function hidden(snapshot: JsonObject, redact: Redact): JsonObject {
  return Object.fromEntries(['context', 'output', 'error'].filter((name) => snapshot[name] !== undefined).map((name) => [name, redact(snapshot[name])]))
}

function common({ id }: Recording, at: number): Omit<InspectionMessage, 'type'> & { readonly sessionId: string; readonly rootId: string } {
  return { sessionId: id, rootId: id, createdAt: String(at), _version: PROTOCOL_VERSION, id: null }
}

function actorOf(recording: Recording, catalogue: Catalogue): InspectionMessage {
  const loaded = catalogue.find(recording.workflowId, recording.version)
  const definition = loaded === undefined ? { id: recording.workflowId } : translate(loaded.definition).root
  return { ...common(recording, recording.startedAt), type: '@xstate.actor', name: recording.id, definition: JSON.stringify(definition), snapshot: snapshotOf(recording, catalogue) }
}

function snapshotOf({ steps, status, workflowId, version }: Recording, catalogue: Catalogue): JsonObject {
  const entered = steps.findLast(({ type }) => type === 'stateEntered')
  const index = catalogue.find(workflowId, version)?.definition.states.findIndex(({ name }) => name === entered?.state) ?? -1
  const isDone = status === 'completed' || status === 'aborted'
  return {
    status: isDone ? 'done' : status === 'error' ? 'error' : 'active',
    value: isDone ? status : index < 0 ? {} : `s${String(index)}`,
    context: { data: steps.findLast(({ data }) => data !== undefined)?.data ?? null },
    children: {},
    tags: [],
  }
}
