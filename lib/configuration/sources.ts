import { join } from 'node:path'
import { isJsonObject } from '../common/index.ts'
import { normaliseKey } from './catalogue/match.ts'
import { parseDotenv } from './dotenv.ts'
import { environmentName, joinSegments } from './key.ts'
import { parseProperties, type FileEntry, type ParsedFile } from './properties.ts'
import { parseYml, type ParsedYml } from './yml.ts'

/** One value as it is written in a source. */
export interface SourceEntry {
  /** As spelt there. */
  readonly key: string
  readonly value: string
  readonly line?: number
  /** Profile of a `%profile.` entry. */
  readonly profile?: string
  /** 0 for the `sonatina.` spelling, more for an alias. */
  readonly rank: number
}

/** One place where settings come from; in a list of sources the earlier one wins. */
export interface Source {
  readonly name: string
  /** Whether names are looked up in their environment form, because the keys cannot be told from variable names. */
  readonly kind: 'keys' | 'environment'
  /** Entries by normal key; for an environment by variable name. */
  readonly entries: ReadonlyMap<string, readonly SourceEntry[]>
  /** Whether it is a settings file of the project (it decides the language profile). */
  readonly project: boolean
}

/** Reads a file as text; `undefined` when it does not exist. */
export type ReadFile = (path: string) => Promise<string | undefined>

/** A fault or remark found while reading. */
export interface Finding {
  readonly level: 'error' | 'warn' | 'info'
  readonly message: string
}

/** Makes a source from keys and values. */
export function createKeySource(name: string, entries: readonly FileEntry[] | readonly (Omit<FileEntry, 'line'>)[], project = false): Source {
  const index = new Map<string, SourceEntry[]>()
  for (const entry of entries) {
    const line = 'line' in entry ? entry.line : undefined
    for (const { profile, key } of splitProfile(entry.key)) {
      const normal = normaliseKey(key)
      const list = index.get(normal.key) ?? []
      list.push({
        key, value: entry.value, rank: normal.rank,
        ...(line === undefined ? {} : { line }),
        ...(profile === undefined ? {} : { profile }),
      })
      index.set(normal.key, list)
    }
  }
  return { name, kind: 'keys', entries: index, project }
}

/** Makes a source from environment variables, or from a `.env` file that looks like them. */
export function createEnvironmentSource(name: string, variables: Readonly<Record<string, string | undefined>>, lines?: ReadonlyMap<string, number>): Source {
  const index = new Map<string, SourceEntry[]>()
  for (const [key, value] of Object.entries(variables)) {
    if (value === undefined) continue
    const line = lines?.get(key)
    index.set(key, [{ key, value, rank: 0, ...(line === undefined ? {} : { line }) }])
  }
  return { name, kind: 'environment', entries: index, project: false }
}

/** Finds the entry of a source that counts for a key: profiles first (the later one), then spelling. */
export function findEntry(source: Source, key: string, names: readonly string[], profiles: readonly string[]): SourceEntry | undefined {
  return source.kind === 'environment' ? findVariable(source, names, profiles) : findKey(source, key, profiles)
}

function findKey(source: Source, key: string, profiles: readonly string[]): SourceEntry | undefined {
  let best: SourceEntry | undefined
  let bestScore = -1
  for (const entry of source.entries.get(key) ?? []) {
    const profile = entry.profile === undefined ? 0 : profiles.lastIndexOf(entry.profile) + 1
    if ((entry.profile !== undefined && profile === 0) || entry.value === '') continue
    const score = profile * 1000 - entry.rank + 500
    if (score >= bestScore) {
      best = entry
      bestScore = score
    }
  }
  return best
}

function findVariable(source: Source, names: readonly string[], profiles: readonly string[]): SourceEntry | undefined {
  for (const profile of [...profiles].reverse()) {
    for (const name of names) {
      const entry = variable(source, `%${profile}.${name}`)
      if (entry) return { ...entry, profile }
    }
  }
  for (const name of names) {
    const entry = variable(source, name)
    if (entry) return entry
  }
  return undefined
}

function variable(source: Source, name: string): SourceEntry | undefined {
  // A quoted segment is looked for with and without its quotes: both are seen in the wild.
  for (const candidate of [environmentName(name), environmentName(name.replaceAll('"', '')), name]) {
    const entry = source.entries.get(candidate)?.[0]
    if (entry && entry.value !== '') return entry
  }
  return undefined
}

function splitProfile(key: string): { profile?: string; key: string }[] {
  const match = /^%(?:\{([^}]+)\}|([^.]+))\.(.+)$/.exec(key)
  if (match?.[3] === undefined) return [{ key }]
  const rest = match[3]
  return (match[1] ?? match[2] ?? '').split(',').map((profile) => ({ profile: profile.trim(), key: rest }))
}

/** Flattens an options object: nested objects become dotted keys, arrays comma lists. */
export function flattenOptions(settings: Readonly<Record<string, unknown>>, findings: Finding[]): Omit<FileEntry, 'line'>[] {
  const entries: Omit<FileEntry, 'line'>[] = []
  const walk = (value: unknown, path: string): void => {
    if (value === undefined || value === null) return
    if (typeof value === 'string') entries.push({ key: path, value })
    else if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') entries.push({ key: path, value: String(value) })
    else if (Array.isArray(value)) entries.push({ key: path, value: value.map((item) => String(item).replaceAll(',', '\\,')).join(',') })
    else if (isJsonObject(value)) for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${joinSegments([key])}`)
    else findings.push({ level: 'error', message: `The option "${path}" is a ${typeof value}; give a text, number, boolean, list or object` })
  }
  for (const [key, value] of Object.entries(settings)) walk(value, key)
  return entries
}

/** Reads `key=value` texts of the command line. */
export function parseArguments(texts: readonly string[], findings: Finding[]): Omit<FileEntry, 'line'>[] {
  return texts.flatMap((text) => {
    const at = text.indexOf('=')
    if (at > 0) return [{ key: text.slice(0, at).trim(), value: text.slice(at + 1) }]
    findings.push({ level: 'error', message: `"${text.split('=', 1)[0] ?? ''}" on the command line is not key=value` })
    return []
  })
}

/** Reads `.env` of a directory; without the file the source is empty, and still named where lookups are told. */
export async function loadDotenv(directory: string, readFile: ReadFile, findings: Finding[]): Promise<Source> {
  const parsed = parseDotenv((await readFile(join(directory, '.env'))) ?? '')
  note(parsed, '.env', findings)
  const variables = Object.fromEntries(parsed.entries.map((entry) => [entry.key, entry.value]))
  return createEnvironmentSource('.env', variables, new Map(parsed.entries.map((entry) => [entry.key, entry.line])))
}

/** Files of a project, and where their faults are noted. */
export interface ProjectFiles {
  readonly root: string
  readonly readFile: ReadFile
  readonly findings: Finding[]
}

interface SettingsDirectory {
  readonly directory: string
  /** Names it in messages. */
  readonly label: string
}

/** Reads the settings files of one directory, those of the profiles first. */
export async function loadDirectory({ directory, label }: SettingsDirectory, profiles: readonly string[], { readFile, findings }: ProjectFiles): Promise<Source[]> {
  const stems = [...[...profiles].reverse().map((profile) => `application-${profile}`), 'application']
  const sources: Source[] = []
  for (const stem of stems) {
    for (const extension of ['properties', 'yml', 'yaml']) {
      const file = `${stem}.${extension}`
      const text = await readFile(join(directory, file))
      if (text === undefined) continue
      const name = `${label}${file}`
      const parsed: ParsedYml = extension === 'properties' ? parseProperties(text) : parseYml(text)
      if (parsed.problem) findings.push({ level: 'error', message: `${name}:${parsed.problem.line} is not YAML: ${parsed.problem.message}` })
      note(parsed, name, findings)
      sources.push(createKeySource(name, parsed.entries, true))
    }
  }
  return sources
}

function note(parsed: ParsedFile, name: string, findings: Finding[]): void {
  for (const message of parsed.warnings) findings.push({ level: 'warn', message: `${name}: ${message}` })
}
