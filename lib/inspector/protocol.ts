import { isJsonObject, type Json, type JsonObject } from '../common/index.ts'
import { toPlain } from './plain.ts'

/** Version of `@statelyai/inspect` whose messages these are, field by field. */
export const PROTOCOL_VERSION = '0.7.2'

/** A message of the protocol of `@statelyai/inspect`. */
export interface InspectionMessage extends JsonObject {
  readonly type: '@xstate.actor' | '@xstate.event' | '@xstate.snapshot'
  readonly sessionId: string
  readonly rootId: string
}

/** What is read of an actor of XState. */
interface InspectedActor {
  readonly id: string
  readonly sessionId: string
  readonly logic?: unknown
  readonly _parent?: InspectedActor | undefined
  getSnapshot(): unknown
}

/** What is read of an inspection event of XState. */
export interface XStateInspection {
  readonly type: string
  readonly rootId: string
  readonly actorRef?: unknown
  readonly sourceRef?: unknown
  readonly event?: unknown
  readonly snapshot?: unknown
}

/**
 * Translates an inspection event of XState into a message of the protocol; `undefined` for those that it does not know.
 *
 * Microsteps become snapshots: states that are left at once (switch, inject) would not show otherwise. Definitions keep the order of
 * their states.
 */
export function toMessage(inspection: XStateInspection, now: number): InspectionMessage | undefined {
  const actor = inspection.actorRef as InspectedActor | undefined
  if (actor === undefined) return undefined
  const common = { sessionId: actor.sessionId, rootId: inspection.rootId, createdAt: String(now), _version: PROTOCOL_VERSION, id: null }
  switch (inspection.type) {
    case '@xstate.actor': {
      const config = configOf(actor)
      const parent = actor._parent?.sessionId
      return {
        ...common,
        type: '@xstate.actor',
        name: config === undefined || actor.id !== actor.sessionId ? actor.id : textOf(config['id']),
        ...(parent === undefined ? {} : { parentId: parent }),
        definition: JSON.stringify(config ?? { id: actor.id }),
        snapshot: snapshotOf(actor.getSnapshot()),
      }
    }
    case '@xstate.event': {
      const source = (inspection.sourceRef as InspectedActor | undefined)?.sessionId
      return { ...common, type: '@xstate.event', event: toPlain(inspection.event), ...(source === undefined ? {} : { sourceId: source }) }
    }
    case '@xstate.microstep':
    case '@xstate.snapshot':
      return { ...common, type: '@xstate.snapshot', snapshot: snapshotOf(inspection.snapshot), event: toPlain(inspection.event) }
    default:
      return undefined
  }
}

function configOf({ logic }: InspectedActor): JsonObject | undefined {
  const config = toPlain((logic as { config?: unknown } | undefined)?.config)
  return isJsonObject(config) ? config : undefined
}

const SNAPSHOT_FIELDS = ['status', 'context', 'value', 'historyValue', 'output', 'error'] as const

function snapshotOf(snapshot: unknown): JsonObject {
  if (typeof snapshot !== 'object' || snapshot === null) return { status: 'active' }
  const fields = snapshot as Readonly<Record<string, unknown>>
  const known = SNAPSHOT_FIELDS.flatMap((name): [string, Json][] => (fields[name] === undefined ? [] : [[name, toPlain(fields[name])]]))
  return { ...Object.fromEntries(known), children: childrenOf(fields['children']), tags: tagsOf(fields['tags']) }
}

// Children are actors: their ids are all that belongs here.
function childrenOf(children: unknown): JsonObject {
  if (typeof children !== 'object' || children === null) return {}
  return Object.fromEntries(Object.entries(children).map(([id, child]) => [id, { id, sessionId: (child as InspectedActor | undefined)?.sessionId ?? id }]))
}

function tagsOf(tags: unknown): Json {
  return tags instanceof Set || Array.isArray(tags) ? [...tags].map(String) : []
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
