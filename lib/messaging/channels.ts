import type { Settings } from '../configuration/index.ts'
import type { EventMode } from '../events/index.ts'

/** Where events of a channel go. */
export interface Target {
  readonly url: string
  readonly mode: EventMode
  readonly method: string
}

/** The channels of the settings. */
export interface Channels {
  /** Whether settings declare the channel and it has somewhere to go. */
  has(channel: string): boolean
  /** Gives where events of a channel go; `undefined` when nobody asked for them. */
  find(channel: string): Target | undefined
}

/** Reads `sonatina.messaging.outgoing.*` and `sonatina.messaging.sink` (http-contract.md §5). */
export function createChannels(settings: Settings): Channels {
  const channels = readChannels(settings)
  const sink = settings.text('sonatina.messaging.sink')
  // SonataFlow sends whatever has no channel of its own through one channel of that name.
  const fallback = channels.get('kogito_outgoing_stream') ?? (sink === undefined ? undefined : { url: sink, mode: 'binary' as const, method: 'POST' })
  return { has: (channel) => channels.has(channel), find: (channel) => channels.get(channel) ?? fallback }
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
