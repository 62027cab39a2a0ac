import { nearestNames } from '../common/index.ts'
import { CATALOGUE } from './catalogue/index.ts'
import { normaliseKey } from './catalogue/match.ts'
import type { ResolvedSettings } from './resolved-settings.ts'
import type { Finding, Source, SourceEntry } from './sources.ts'

const IRRELEVANT = /^quarkus\.(?:native|container-image|devservices|package|kogito\.devservices|swagger-ui|kogito\.logger|[\w-]+\.devservices)\./
const SECURITY = /^(?:sonatina|quarkus)\.(?:http\.auth|http\.ssl|http\.insecure-requests|security|oidc)(?:\.|$)/

/** Looks at every entry of the sources: unknown keys, wrong values, two spellings that disagree (configuration.md §8). */
export function checkEntries(settings: ResolvedSettings): Finding[] {
  const found = settings.sources.flatMap((source) => (source.kind === 'keys' ? [...source.entries].flatMap(([key, entries]) => {
    const active = entries.filter(({ profile }) => profile === undefined || settings.profiles.includes(profile))
    return normaliseKey(key).definition === undefined ? active.slice(0, 1).flatMap((entry) => checkUnknown(source, entry)) : checkSpellings(source, active)
  }) : []))
  const findings = found.filter((finding) => finding !== 'foreign')
  const foreign = found.length - findings.length
  for (const key of new Set([...settings.keys(), ...STATIC_KEYS])) {
    const problem = normaliseKey(key).definition && settings.problem(key)
    if (problem !== undefined) findings.push({ level: 'error', message: problem })
  }
  if (foreign > 0) findings.push({ level: 'info', message: `${foreign} quarkus.* settings have no meaning here and are ignored` })
  return findings
}

const STATIC_KEYS = CATALOGUE.flatMap(({ settings }) => settings.map(({ key }) => key)).filter((key) => !key.includes('<'))

function checkSpellings(source: Source, entries: readonly SourceEntry[]): Finding[] {
  const findings: Finding[] = []
  const seen = new Map<string, SourceEntry>()
  for (const entry of entries) {
    const slot = `${entry.profile ?? ''} ${entry.rank}`
    const earlier = seen.get(slot)
    if (earlier && earlier.key !== entry.key && earlier.value !== entry.value) {
      findings.push({
        level: 'error',
        message: `${earlier.key} (${place(source, earlier)}) and ${entry.key} (${place(source, entry)}) are the same setting with different values; keep one`,
      })
    }
    seen.set(slot, entry)
  }
  return findings
}

/** Judges a key that the catalogue does not have; `foreign` for one of Quarkus that has no meaning here, to be counted. */
function checkUnknown(source: Source, entry: SourceEntry): readonly (Finding | 'foreign')[] {
  if (IRRELEVANT.test(entry.key)) return []
  const where = `${entry.key} (${place(source, entry)})`
  if (SECURITY.test(entry.key)) {
    // Something that is switched off closes nothing when it is ignored.
    if (/\.enabled$/.test(entry.key) && /^(?:false|no|off|0)$/i.test(entry.value)) return []
    return [{ level: 'error', message: `${where} is a security setting that is not supported; ignoring it could open what it closes. Remove it, or see docs/security.md for what is supported` }]
  }
  const family = FAMILIES.find((prefix) => entry.key.startsWith(prefix))
  if (family === undefined) return entry.key.startsWith('quarkus.') ? ['foreign'] : []
  const similar = nearestKey(entry.key)
  return [{ level: 'warn', message: `${where} is not a known setting and is ignored${similar === undefined ? '' : `; did you mean ${similar}?`}` }]
}

const PATTERNS = CATALOGUE.flatMap(({ settings }) => settings.flatMap(({ key, aliases }) => [key, ...aliases]))
const FAMILIES = ['sonatina.', ...new Set(PATTERNS
  .filter((pattern) => /^(?:quarkus\.(?:rest-client|oidc-client|openapi-generator)|sonataflow\.security)\./.test(pattern))
  .map((pattern) => pattern.slice(0, pattern.indexOf('<') < 0 ? undefined : pattern.indexOf('<'))))]

// Compares attribute by attribute: names in angle brackets take the words that stand in their place.
function nearestKey(key: string): string | undefined {
  const words = key.split('.')
  const candidates = PATTERNS.flatMap((pattern) => {
    const parts = pattern.split('.')
    const open = parts.findIndex((part) => part.startsWith('<'))
    if (open < 0) return [pattern]
    const rest = parts.length - open - 1
    if (words.length < parts.length) return []
    const name = words.slice(open, words.length - rest).join('.')
    return [[...parts.slice(0, open), name, ...parts.slice(open + 1)].join('.')]
  })
  return nearestNames(key, candidates, { within: 2 })[0]
}

function place(source: Source, entry: SourceEntry): string {
  return entry.line === undefined ? source.name : `${source.name}:${entry.line}`
}
