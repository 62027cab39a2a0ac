import { createSettings, inspectSettings, type InspectedSettings, type Settings, type SettingsOptions } from '../../../lib/configuration/index.ts'

/** Files by path below `/project`. */
export type Files = Readonly<Record<string, string>>

/** Makes options whose files are in memory and whose environment is empty unless given. */
function inMemory(files: Files, options: SettingsOptions = {}): SettingsOptions {
  return {
    environment: {},
    root: '/project',
    readFile: (path) => Promise.resolve(files[path.replace('/project/', '')]),
    ...options,
  }
}

/** Reads settings from files in memory. */
export function read(files: Files, options: SettingsOptions = {}): Promise<Settings> {
  return createSettings(inMemory(files, options))
}

/** Reads settings from files in memory and hands back what is wrong. */
export function inspect(files: Files, options: SettingsOptions = {}): Promise<InspectedSettings> {
  return inspectSettings(inMemory(files, options))
}
