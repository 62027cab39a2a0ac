import { basename, resolve } from 'node:path'
import { readPermissions } from '../auth/index.ts'
import { readProjectSettings, settingKey, type ProjectSettings, type Settings } from '../configuration/index.ts'
import { loadDefinitions, type EventDefinition, type LoadedDefinition } from '../definition/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { waitsItself } from '../hosts/index.ts'
import { collectFiles, isDirectory } from './io.ts'
import type { ConsumedEvent, Project, Storage } from './project.ts'
import { servingFacts } from './serving.ts'

/** Which project is read, and how. */
export interface ReadProjectOptions {
  /** Project directory. */
  readonly root: string
  /** Configuration profile. @default what the project says, else 'prod' */
  readonly profile?: string
  /** `key=value` settings that win over those of the project. */
  readonly arguments?: readonly string[]
}

/**
 * Reads a project directory as it would be served: settings without secrets, definitions, their documents and host modules.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when a setting that the documents need is wrong or needs a variable
 * @throws {@link DefinitionError} the first one of a definition that does not load
 */
export async function readProject(options: ReadProjectOptions): Promise<Project> {
  const root = resolve(options.root)
  const project = await readProjectSettings(options)
  const { settings } = project
  const places = await definitionPlaces(settings, root)
  const { loaded, failures } = await loadDefinitions(places, { profile: settings.languageProfile, root })
  if (failures[0] !== undefined) throw failures[0].error
  if (loaded.length === 0) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `There is no definition in ${places.map((place) => place.slice(root.length + 1) || 'the project directory').join(', ')}: nothing to serve` })
  }
  const { files, warnings } = await collectFiles({ root, places, loaded, settings })
  const storage = storageOf(settings)
  return {
    name: basename(root),
    profile: settings.profiles.join(','),
    files: withSettings(files, project),
    variables: project.variables,
    serving: servingFacts(settings),
    ...(storage === undefined ? {} : { storage }),
    hasEngine: settings.has('sonatina.restate.ingress-url'),
    waiting: loaded.filter(({ definition }) => waitsItself(definition) || definition.functions.some(({ type }) => type === 'asyncapi')).map(({ definition }) => definition.id),
    consumed: consumedOf(loaded, settings),
    producesEvents: eventsOf(loaded).some(({ kind }) => kind === 'produced'),
    warnings: [...warnings, ...settingWarnings(project)],
  }
}

async function definitionPlaces(settings: Settings, root: string): Promise<readonly string[]> {
  const configured = settings.list('sonatina.definitions', [])
  if (configured.length > 0) return configured.map((path) => resolve(root, path))
  const workflows = resolve(root, 'workflows')
  return [await isDirectory(workflows) ? workflows : root]
}

/** The settings stand in one file, whatever files they came from. */
function withSettings(files: Project['files'], { text, settings }: ProjectSettings): Project['files'] {
  // Where the spelling of a key decided the language profile, a file may have lost that key.
  const profile = settings.has('sonatina.profile') ? '' : `sonatina.profile=${settings.languageProfile}\n`
  return [...files, { path: 'application.properties', text: `${text}${profile}` }].sort((left, right) => (left.path < right.path ? -1 : 1))
}

function storageOf(settings: Settings): Storage | undefined {
  const store = settings.text('sonatina.store')
  return store === 'memory' || store === 'sqlite' || store === 'restate' ? store : undefined
}

function eventsOf(loaded: readonly LoadedDefinition[]): readonly EventDefinition[] {
  return loaded.flatMap(({ definition }) => definition.events)
}

/** In the language profile `sonataflow` events are told apart by their type alone, so a filter by source would lose some. */
function consumedOf(loaded: readonly LoadedDefinition[], settings: Settings): readonly ConsumedEvent[] {
  const found = new Map<string, ConsumedEvent>()
  for (const { definition } of loaded) {
    for (const { kind, type, source } of definition.events) {
      if (kind !== 'consumed') continue
      const bySource = settings.languageProfile === 'spec' && source !== undefined && source !== ''
      const event = { type, ...(bySource ? { source } : {}), path: eventPath(settings, type) }
      found.set(JSON.stringify([type, event.source ?? '']), event)
    }
  }
  return [...found.values()].sort((left, right) => compare(left.type, right.type) || compare(left.source ?? '', right.source ?? ''))
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function eventPath(settings: Settings, type: string): string {
  const root = servingFacts(settings).rootPath
  const prefix = 'sonatina.messaging.incoming'
  const channel = settings.segments(prefix).find((name) => settings.text(settingKey(prefix, name, 'type'), name) === type)
  const path = channel === undefined ? '/' : settings.text(settingKey(prefix, channel, 'path'), '/')
  return `${root}/${path.replace(/^\/+/, '')}`
}

const FILE_SETTINGS = /\.(?:trust-store|key-store|key-file|certificate\.files|certificate\.key-files|trust-store-file|directory)$/

function settingWarnings({ settings, writtenSecrets }: ProjectSettings): readonly string[] {
  const files = settings.describe().filter(({ key, source }) => FILE_SETTINGS.test(key) && source !== 'default')
  return [
    ...writtenSecrets.map((key) => `${key} stands in a file of the project; it is a secret, so the documents take it from the Secret`),
    ...files.map(({ key, value }) => `${key} names ${value}, which is no part of the documents; mount it`),
    ...guardedHealth(settings),
  ]
}

function guardedHealth(settings: Settings): readonly string[] {
  const path = `${servingFacts(settings).rootPath}/q/health/ready`
  if (readPermissions(settings).rulesOf('GET', path).every((rule) => rule === 'permit')) return []
  return [`a permission of sonatina.http.auth covers ${path}, which probes read without credentials; add one for ${path.replace(/ready$/, '*')} with the policy permit`]
}
