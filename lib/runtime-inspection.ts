import type { Settings } from './configuration/index.ts'
import type { SecretReader } from './instance/index.ts'
import type { Inspector, InspectorOptions, Recorder } from './inspector/index.ts'

/** Memory of the inspector, and the inspector itself once it is open. */
export interface Inspection {
  readonly recorder: Recorder
  /** Opens the inspector beside a server. */
  readonly create: (parts: Omit<InspectorOptions, 'settings' | 'recorder'>) => Inspector
  open?: Inspector
}

/**
 * Makes the memory of the inspector; `undefined` when it is off, and then its module is never loaded.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for settings that would open it to strangers
 */
export async function openInspection(settings: Settings): Promise<Inspection | undefined> {
  if (!settings.boolean('sonatina.inspect.enabled', settings.profile === 'dev')) return undefined
  const { createInspector, createRecorder, resolveInspectorSettings } = await import('./inspector/index.ts')
  const resolved = resolveInspectorSettings(settings)
  if (resolved === undefined) return undefined
  const recorder = createRecorder(resolved)
  return { recorder, create: (parts) => createInspector({ ...parts, settings: resolved, recorder }) }
}

/** What expressions read as `$SECRET` is remembered by the inspector, so that it is never shown. */
export function secretsOf(settings: Settings, inspection: Inspection | undefined): SecretReader {
  return {
    read(key) {
      const value = settings.expressionSecret(key)
      inspection?.recorder.secret(value)
      return value
    },
  }
}
