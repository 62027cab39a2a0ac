import { nearestNames } from '../common/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { CATALOGUE, isSecretKey, type DefaultContext } from './catalogue/index.ts'
import { normaliseKey, spellings, type NormalKey } from './catalogue/match.ts'
import { checkValue, toBoolean, toDuration, toList, toNumber, toSize } from './convert.ts'
import { environmentName, splitKey } from './key.ts'
import { resolveReferences, type Unresolved } from './placeholder.ts'
import { Secret } from './secret.ts'
import { createSecretRule, type SecretRule } from './secret-rule.ts'
import { findEntry, type Finding, type Source, type SourceEntry } from './sources.ts'
import type { Origin, SettingReport, Settings, SettingsWarning } from './settings.ts'

/** What settings are made from. */
export interface ResolvedSettingsOptions {
  /** Highest first. */
  readonly sources: readonly Source[]
  readonly profiles: readonly string[]
  readonly languageProfile?: 'spec' | 'sonataflow'
}

interface Found {
  readonly source: Source
  readonly entry: SourceEntry
}

/** Settings over a list of sources; remarks are added while they are checked, then the object is left alone. */
export class ResolvedSettings implements Settings {
  readonly profile: string
  readonly profiles: readonly string[]
  readonly languageProfile: 'spec' | 'sonataflow'
  readonly sources: readonly Source[]
  warnings: readonly SettingsWarning[] = []
  readonly #values = new Map<string, string | undefined | Unresolved>()
  readonly #detected: 'spec' | 'sonataflow'
  #secretRule: SecretRule | undefined

  constructor(options: ResolvedSettingsOptions) {
    this.sources = options.sources
    this.profiles = options.profiles
    this.profile = options.profiles.at(-1) ?? 'prod'
    this.#detected = detectLanguageProfile(options.sources)
    const chosen = this.value('sonatina.profile')
    this.languageProfile = chosen === 'sonataflow' || chosen === 'spec' ? chosen : this.#detected
  }

  text(key: string): string | undefined
  text(key: string, fallback: string): string
  text(key: string, fallback?: string): string | undefined {
    if (isSecret(normaliseKey(key))) {
      throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `"${key}" is a secret; read it with settings.secret()` })
    }
    return this.#checked(key) ?? fallback
  }

  secret(key: string): Secret | undefined {
    const value = this.#checked(key)
    return value === undefined ? undefined : new Secret(value)
  }

  boolean(key: string): boolean | undefined
  boolean(key: string, fallback: boolean): boolean
  boolean(key: string, fallback?: boolean): boolean | undefined {
    return this.#convert(key, toBoolean, 'true or false') ?? fallback
  }

  number(key: string): number | undefined
  number(key: string, fallback: number): number
  number(key: string, fallback?: number): number | undefined {
    return this.#convert(key, toNumber, 'a number') ?? fallback
  }

  duration(key: string): number | undefined
  duration(key: string, fallback: number): number
  duration(key: string, fallback?: number): number | undefined {
    const unit = normaliseKey(key).definition?.unit
    return this.#convert(key, (text) => toDuration(text, unit), 'a duration such as 500ms, 10s or PT10S') ?? fallback
  }

  size(key: string): number | undefined
  size(key: string, fallback: number): number
  size(key: string, fallback?: number): number | undefined {
    return this.#convert(key, toSize, 'a size such as 10M') ?? fallback
  }

  list(key: string): readonly string[] | undefined
  list(key: string, fallback: readonly string[]): readonly string[]
  list(key: string, fallback?: readonly string[]): readonly string[] | undefined {
    return this.#convert(key, toList, 'a list') ?? fallback
  }

  has(key: string): boolean {
    return this.#find(normaliseKey(key)) !== undefined
  }

  segments(prefix: string): readonly string[] {
    const wanted = splitKey(prefix)
    const names = new Set<string>()
    for (const key of this.keys()) {
      const segments = splitKey(key)
      if (segments.length > wanted.length && wanted.every((segment, index) => segments[index] === segment)) {
        if (this.#find(normaliseKey(key)) !== undefined) names.add(segments[wanted.length] ?? '')
      }
    }
    return [...names]
  }

  origin(key: string): Origin | undefined {
    const found = this.#find(normaliseKey(key))
    if (found) return toOrigin(found)
    return this.value(key) === undefined ? undefined : { source: 'default', spelling: key }
  }

  describe(): readonly SettingReport[] {
    const keys = new Set(this.keys())
    for (const { settings } of CATALOGUE) for (const { key } of settings) if (!key.includes('<')) keys.add(key)
    return [...keys].sort().flatMap((key) => {
      const normal = normaliseKey(key)
      const value = this.value(key)
      const origin = this.origin(key)
      if (value === undefined || !origin) return []
      const overridden = this.#findAll(normal).slice(1).map((found) => ({ ...toOrigin(found), value: show(normal, found.entry.value) }))
      return [{ key: normal.key, value: show(normal, typeof value === 'string' ? value : `(${value.problem})`), ...origin, overridden }]
    })
  }

  explain(key: string): readonly string[] {
    const normal = normaliseKey(key)
    const names = spellings(normal)
    const lines = this.sources.map((source) => {
      const spelt = source.kind === 'environment' ? [...new Set(names.map(environmentName))].join(', ') : names.join(', ')
      const entry = findEntry(source, normal.key, names, this.profiles)
      const where = entry?.line === undefined ? source.name : `${source.name}:${entry.line}`
      return entry ? `${where}: ${entry.key} = ${show(normal, entry.value)}` : `${source.name}: not set (${spelt})`
    })
    const fallback = this.#default(normal)
    lines.push(`default: ${fallback ?? normal.definition?.defaultText ?? 'none'}`)
    if (!normal.definition) lines.push('This key is not one of Sonatina’s.')
    return lines
  }

  describeMissing(keys: readonly string[]): string {
    const width = Math.max(...keys.map((key) => key.length))
    const lines = keys.map((key, index) => {
      const lead = index === 0 ? 'Missing: ' : '         '
      return `${lead}${key.padEnd(width)}     or ${environmentName(key)}`
    })
    const similar = this.#similar(keys)
    const tail = similar === undefined ? '' : ` Similar key found: ${similar}`
    return `${lines.join('\n')}\nLooked in: ${this.sources.map(({ name }) => name).join(', ')} (profile ${this.profiles.join(',')}).${tail}`
  }

  expressionSecret(key: string): string | undefined {
    this.#secretRule ??= createSecretRule(this)
    const value = this.#secretRule(normaliseKey(key).key) ? this.value(key) : undefined
    return typeof value === 'string' ? value : undefined
  }

  /** Gives the normal keys of all sources whose keys are known. */
  keys(): readonly string[] {
    return [...new Set(this.sources.flatMap((source) => (source.kind === 'keys' ? [...source.entries.keys()] : [])))]
  }

  /** Gives the resolved value or default, unchecked. */
  value(key: string, chain: readonly string[] = []): string | undefined | Unresolved {
    const normal = normaliseKey(key)
    if (chain.includes(normal.key)) return { problem: `the references go round: ${[...chain, normal.key].join(' → ')}` }
    if (this.#values.has(normal.key)) return this.#values.get(normal.key)
    const raw = this.#find(normal)?.entry.value ?? this.#default(normal)
    const value = raw === undefined ? undefined : resolveReferences(raw, (name) => this.#reference(name, [...chain, normal.key]))
    const result = value === '' ? undefined : value
    this.#values.set(normal.key, result)
    return result
  }

  /** Says what is wrong with the effective value of a key; `undefined` when nothing is. */
  problem(key: string): string | undefined {
    const normal = normaliseKey(key)
    const value = this.value(key)
    if (value === undefined) return undefined
    const found = this.#find(normal)
    const where = found ? ` (${place(found)})` : ''
    const name = found?.entry.key ?? normal.key
    if (typeof value !== 'string') return `${name}${where}: ${value.problem}`
    const wrong = normal.definition && checkValue(normal.definition, value)
    return wrong === undefined ? undefined : `${name}=${show(normal, value)}${where} ${wrong}`
  }

  #reference(name: string, chain: readonly string[]): string | undefined | Unresolved {
    const value = this.value(name, chain)
    if (value !== undefined) return value
    const variable = this.sources.find((source) => source.kind === 'environment' && source.entries.has(name))
    return variable?.entries.get(name)?.[0]?.value || undefined
  }

  #checked(key: string): string | undefined {
    const problem = this.problem(key)
    if (problem !== undefined) throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: problem, details: { key } })
    const value = this.value(key)
    return typeof value === 'string' ? value : undefined
  }

  #convert<T>(key: string, convert: (text: string) => T | undefined, form: string): T | undefined {
    const text = this.#checked(key)
    if (text === undefined) return undefined
    const value = convert(text)
    if (value !== undefined) return value
    const origin = this.origin(key)
    const where = origin?.line === undefined ? (origin?.source ?? '') : `${origin.source}:${origin.line}`
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `${key}=${show(normaliseKey(key), text)} (${where}) is not ${form}`,
      details: { key },
    })
  }

  #find(normal: NormalKey): Found | undefined {
    const names = spellings(normal)
    for (const source of this.sources) {
      const entry = findEntry(source, normal.key, names, this.profiles)
      if (entry) return { source, entry }
    }
    return undefined
  }

  #findAll(normal: NormalKey): Found[] {
    const names = spellings(normal)
    return this.sources.flatMap((source) => {
      const entry = findEntry(source, normal.key, names, this.profiles)
      return entry ? [{ source, entry }] : []
    })
  }

  #default(normal: NormalKey): string | undefined {
    const fallback = normal.definition?.default
    if (typeof fallback !== 'function') return fallback
    const context: DefaultContext = {
      profile: this.profile,
      languageProfile: normal.key === 'sonatina.profile' ? this.#detected : this.languageProfile,
      read: (key) => { const value = this.value(key); return typeof value === 'string' ? value : undefined },
      variable: (name) => this.sources.find((source) => source.kind === 'environment' && source.entries.has(name))?.entries.get(name)?.[0]?.value,
    }
    return fallback(context)
  }

  #similar(keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const [found] = nearestNames(key, this.keys(), { within: 2 })
      const entry = found === undefined ? undefined : this.#find(normaliseKey(found))
      if (entry) return `${entry.entry.key} (${place(entry)})`
    }
    return undefined
  }
}

/** Gives the findings of settings as warnings, errors left out. */
export function toWarnings(findings: readonly Finding[]): SettingsWarning[] {
  return findings.flatMap(({ level, message }) => (level === 'error' ? [] : [{ level, message }]))
}

function detectLanguageProfile(sources: readonly Source[]): 'spec' | 'sonataflow' {
  const foreign = sources.some((source) => source.project &&
    [...source.entries.values()].flat().some(({ key }) => /^(?:quarkus|kogito)\./.test(key)))
  return foreign ? 'sonataflow' : 'spec'
}

function isSecret(normal: NormalKey): boolean {
  return normal.definition?.secret ?? isSecretKey(normal.key)
}

function show(normal: NormalKey, value: string): string {
  return isSecret(normal) ? '***' : value
}

function place({ source, entry }: Found): string {
  return entry.line === undefined ? source.name : `${source.name}:${entry.line}`
}

function toOrigin({ source, entry }: Found): Origin {
  return { source: source.name, spelling: entry.key, ...(entry.line === undefined ? {} : { line: entry.line }) }
}
