import type { Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'

/** How much of the data is shown: all, names and kinds only, or none. */
export type Capture = 'full' | 'shape' | 'none'

/** Settings `sonatina.inspect.*`, resolved. */
export interface InspectorSettings {
  /** Instances can be run, aborted and run again. */
  readonly control: boolean
  /** Names under which the inspector may be called from other machines; none: this machine only. */
  readonly hosts: readonly string[]
  readonly token: string | undefined
  /** Patterns of keys whose values are hidden, besides the built-in ones. */
  readonly redact: readonly string[]
  readonly capture: Capture
  /** Most steps kept of an instance. */
  readonly records: number
  /** Most instances kept. */
  readonly instances: number
  /** Relay that inspection messages are sent to. */
  readonly pushUrl: string | undefined
  /** Page of an inspector of others, shown by `/inspect/bridge`. */
  readonly bridgeUrl: string | undefined
  /** Origins of pages besides ours that may read the WebSocket. */
  readonly origins: readonly string[]
}

/**
 * Resolves the settings of the inspector; `undefined` when it is off.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for an unknown capture, or other machines without a token
 */
export function resolveInspectorSettings(settings: Settings): InspectorSettings | undefined {
  const isDev = settings.profile === 'dev'
  if (!settings.boolean('sonatina.inspect.enabled', isDev)) return undefined
  const hosts = settings.list('sonatina.inspect.host', [])
  const token = settings.secret('sonatina.inspect.token')?.reveal()
  if (hosts.length > 0 && (token ?? '') === '') {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: 'sonatina.inspect.host opens the inspector to other machines, which needs a token: set sonatina.inspect.token (SONATINA_INSPECT_TOKEN)',
    })
  }
  return {
    control: settings.boolean('sonatina.inspect.control', isDev),
    hosts,
    token: token === '' ? undefined : token,
    redact: settings.list('sonatina.inspect.redact', []),
    capture: toCapture(settings.text('sonatina.inspect.capture', isDev ? 'full' : 'shape')),
    records: settings.number('sonatina.inspect.records', 500),
    instances: settings.number('sonatina.inspect.instances', 200),
    pushUrl: settings.text('sonatina.inspect.push-url'),
    bridgeUrl: settings.text('sonatina.inspect.bridge-url'),
    origins: settings.list('sonatina.inspect.origins', []),
  }
}

function toCapture(text: string): Capture {
  if (text === 'full' || text === 'shape' || text === 'none') return text
  throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `sonatina.inspect.capture is full, shape or none, not "${text}"` })
}
