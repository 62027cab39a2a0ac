import { ConfigurationError } from '../errors/index.ts'
import { isSecretKey } from './catalogue/index.ts'
import { normaliseKey, spellings } from './catalogue/match.ts'
import { environmentName } from './key.ts'
import { missingReferences } from './placeholder.ts'
import { escapeProperty } from './properties.ts'
import { ResolvedSettings } from './resolved-settings.ts'
import type { Settings } from './settings.ts'
import { createKeySource, findEntry, parseArguments, type Finding, type ReadFile, type Source } from './sources.ts'
import { chooseProfiles, loadProject, readTextFile } from './create-settings.ts'

/** Where the settings of a project are read from: its own files, without the machine's environment. */
export interface ProjectSettingsOptions {
  /** Project directory. */
  readonly root: string
  /** Configuration profiles, comma-separated. @default what the files say, else 'prod' */
  readonly profile?: string
  /** `key=value` texts that win over the files. */
  readonly arguments?: readonly string[]
  /** Reads a file as text, `undefined` when it does not exist. @default the disk */
  readonly readFile?: ReadFile
}

/** The settings of a project as it has to take them along to another machine. */
export interface ProjectSettings {
  /** For lookups; a value that needs a variable of the environment ends as error naming it. */
  readonly settings: Settings
  /**
   * One settings file with what counts in these profiles; the values of secrets are replaced by references to variables, comments are
   * left out. Empty when nothing is set.
   */
  readonly text: string
  /** Variables that must be there, sorted: those of secrets, and those that values refer to without default. */
  readonly variables: readonly string[]
  /** Keys whose secret value stands in a file of the project, sorted: it should not. */
  readonly writtenSecrets: readonly string[]
}

/**
 * Reads the settings of a project and parts them from their secrets: what can stand in a file that others read, and the names of
 * variables that have to come from elsewhere.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when a file cannot be read, or is no properties or YAML file
 */
export async function readProjectSettings(options: ProjectSettingsOptions): Promise<ProjectSettings> {
  const { root, readFile = readTextFile } = options
  const findings: Finding[] = []
  const given: Source[] = options.arguments === undefined ? [] : [createKeySource('command line', parseArguments(options.arguments, findings))]
  const files = { root, readFile, findings }
  const profiles = await chooseProfiles(options.profile === undefined ? {} : { profile: options.profile }, given, files)
  const sources = [...given, ...await loadProject(files, profiles)]
  const errors = findings.filter(({ level }) => level === 'error').map(({ message }) => message)
  if (errors.length > 0) throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The settings of the project cannot be read: ${errors.join('; ')}`, details: { errors } })
  const settings = new ResolvedSettings({ sources, profiles })
  return { settings, ...partSecrets(settings) }
}

function partSecrets(settings: ResolvedSettings): Omit<ProjectSettings, 'settings'> {
  const lines: string[] = []
  const variables = new Set<string>()
  const writtenSecrets: string[] = []
  for (const key of [...settings.keys()].sort()) {
    const entry = findAmong(settings, key)
    if (entry === undefined) continue
    const missing = missingReferences(entry.value, (name) => settings.has(name))
    if (!isSecretEntry(key, entry.value) || isReferenceOnly(entry.value)) {
      lines.push(escapeProperty(entry.key, entry.value))
      for (const name of missing) variables.add(name)
      continue
    }
    const name = environmentName(key)
    lines.push(escapeProperty(entry.key, `\${${name}}`))
    variables.add(name)
    writtenSecrets.push(entry.key)
  }
  return { text: lines.map((line) => `${line}\n`).join(''), variables: [...variables].sort(), writtenSecrets }
}

function findAmong({ sources, profiles }: ResolvedSettings, key: string): { readonly key: string; readonly value: string } | undefined {
  const normal = normaliseKey(key)
  for (const source of sources) {
    const entry = findEntry(source, normal.key, spellings(normal), profiles)
    if (entry !== undefined) return entry
  }
  return undefined
}

// Headers of remote services carry credentials under names that do not say so, and so do addresses with user info.
const CREDENTIAL_HEADER = /\.headers\."?(?:authorization|proxy-authorization|cookie|[\w-]*(?:api-?key|token|secret))"?$/i
const USER_INFO = /:\/\/[^/\s@:]*:[^/\s@]+@/

function isSecretEntry(key: string, value: string): boolean {
  const { definition } = normaliseKey(key)
  return definition?.secret === true || isSecretKey(key) || CREDENTIAL_HEADER.test(key) || USER_INFO.test(value)
}

/** Tells whether a value is nothing but references without a default: then it holds no secret itself. */
function isReferenceOnly(value: string): boolean {
  return /^(?:\$\{[^{}:]+\})+$/.test(value)
}
