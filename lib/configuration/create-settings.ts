import { readFile as readFileFromDisk } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '../errors/index.ts'
import { checkEntries } from './checks.ts'
import { checkClients } from './client-checks.ts'
import { toList } from './convert.ts'
import { ResolvedSettings, toWarnings } from './resolved-settings.ts'
import type { Settings } from './settings.ts'
import {
  createEnvironmentSource, createKeySource, flattenOptions, loadDirectory, loadDotenv, parseArguments,
  type Finding, type ReadFile, type Source, type ProjectFiles,
} from './sources.ts'

/** Where settings come from. */
export interface SettingsOptions {
  /** Settings of the embedding program; nested objects become dotted keys. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** `key=value` texts of `--set` and `-D`. */
  readonly arguments?: readonly string[]
  /** @default the environment of the process */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Project directory. @default the working directory */
  readonly root?: string
  /** Directory of `.env`. @default the working directory, or `root` when that is given */
  readonly workingDirectory?: string
  /** `--profile`: configuration profiles, comma-separated. */
  readonly profile?: string
  /** The profile when nothing names one. @default 'prod' */
  readonly defaultProfile?: string
  /** Whether warnings are errors (`--strict-config`). @default false */
  readonly strict?: boolean
  /** Reads a file as text, `undefined` when it does not exist. @default the disk */
  readonly readFile?: ReadFile
}

/** Settings with everything that is wrong with them, for `sonatina config`. */
export interface InspectedSettings {
  readonly settings: Settings
  readonly errors: readonly string[]
}

/**
 * Reads the settings of a process from all sources, once (configuration.md §1).
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` naming every wrong setting with its source and line.
 */
export async function createSettings(options: SettingsOptions = {}): Promise<Settings> {
  const { settings, errors } = await inspectSettings(options)
  if (errors.length > 0) throw invalid(errors)
  return settings
}

/** Reads the settings like {@link createSettings}, but hands back what is wrong instead of throwing. */
export async function inspectSettings(options: SettingsOptions = {}): Promise<InspectedSettings> {
  const findings: Finding[] = []
  const root = options.root ?? process.cwd()
  const readFile = options.readFile ?? readTextFile
  const environment = createEnvironmentSource('environment', options.environment ?? process.env)
  const given: Source[] = [
    ...(options.settings ? [createKeySource('options', flattenOptions(options.settings, findings))] : []),
    ...(options.arguments && options.arguments.length > 0 ? [createKeySource('command line', parseArguments(options.arguments, findings))] : []),
    environment,
    await loadDotenv(options.workingDirectory ?? options.root ?? process.cwd(), readFile, findings),
  ]
  const files = { root, readFile, findings }
  const profiles = await chooseProfiles(options, given, files)
  const sources = [...given, ...(await loadProject(files, profiles))]
  const settings = new ResolvedSettings({ sources, profiles })
  findings.push(...checkEntries(settings), ...checkClients(settings))
  settings.warnings = Object.freeze(toWarnings(findings))
  const errors = findings.filter(({ level }) => level === 'error' || (options.strict === true && level === 'warn'))
  return { settings, errors: errors.map(({ message }) => message) }
}

/** Reads the settings files of a project, highest first; faults are added to the findings. */
export async function loadProject(files: ProjectFiles, profiles: readonly string[]): Promise<Source[]> {
  const load = (label: string): Promise<Source[]> => loadDirectory({ directory: join(files.root, label), label }, profiles, files)
  const config = await load('config/')
  const own = await load('')
  const sources = [...config, ...(own.length > 0 ? own : await load('src/main/resources/'))]
  return sources.length > 0 ? sources : [createKeySource('application.properties', [])]
}

/** Finds the configuration profiles: the option, the environment, else the plain settings files; the later one wins. */
export async function chooseProfiles(options: Pick<SettingsOptions, 'profile' | 'defaultProfile'>, given: readonly Source[], files: ProjectFiles): Promise<readonly string[]> {
  if (options.profile !== undefined) return toList(options.profile)
  const variable = (name: string): string | undefined =>
    given.find(({ kind, entries }) => kind === 'environment' && entries.has(name))?.entries.get(name)?.[0]?.value || undefined
  const named = variable('SONATINA_CONFIG_PROFILE') ?? variable('QUARKUS_PROFILE')
  if (named !== undefined) return toList(named)
  // The files of a profile cannot choose the profile, so only the plain ones are asked; their faults are noted on the second reading.
  const sources = [...given, ...(await loadProject({ ...files, findings: [] }, []))]
  const settings = new ResolvedSettings({ sources, profiles: [] })
  const value = settings.has('sonatina.config-profile') ? settings.list('sonatina.config-profile') : undefined
  return value ?? toList(options.defaultProfile ?? 'prod')
}

function invalid(errors: readonly string[]): ConfigurationError {
  const [only] = errors
  const message = errors.length === 1 && only !== undefined
    ? `The settings cannot be used: ${only}`
    : `The settings cannot be used, ${errors.length} errors:\n${errors.map((error) => `- ${error}`).join('\n')}`
  return new ConfigurationError({ code: 'CONFIGURATION_INVALID', message, details: { errors } })
}

/** Reads a file as text; `undefined` when there is none. @throws {@link ConfigurationError} when it is there and cannot be read */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFileFromDisk(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${path} cannot be read (${code ?? 'unknown reason'})`, cause: error })
  }
}
