import { canonicalName, joinSegments } from './key.ts'
import type { Settings, SettingsWarning } from './settings.ts'

/** Names that the loaded definitions use; any spelling. */
export interface UsedNames {
  /** Keys or names of OpenAPI documents. */
  readonly documents: Iterable<string>
  /** Names of security schemes. */
  readonly schemes: Iterable<string>
}

const DOCUMENT_PREFIXES = ['sonatina.rest-client', 'sonatina.openapi-generator']
const SCHEME_PREFIXES = ['sonatina.oidc-client', 'sonatina.security.auth']
// Words that stand where a name would.
const WORDS = new Set(['codegen', 'config-key', 'token-exchange'])

/**
 * Finds settings of documents and schemes that no definition uses, most likely misspelt ones (configuration.md §8).
 *
 * A name followed by `.<value>` belongs to a document whose function has a `configKey`.
 */
export function findUnusedNames(settings: Settings, used: UsedNames): SettingsWarning[] {
  const documents = new Set([...used.documents].map(canonicalName))
  const schemes = new Set([...used.schemes].map(canonicalName))
  return [
    ...DOCUMENT_PREFIXES.flatMap((prefix) => unused(settings, prefix, { known: documents, what: 'document' })),
    ...SCHEME_PREFIXES.flatMap((prefix) => unused(settings, prefix, { known: schemes, what: 'security scheme' })),
  ]
}

function unused(settings: Settings, prefix: string, { known, what }: { readonly known: ReadonlySet<string>; readonly what: string }): SettingsWarning[] {
  return settings.segments(prefix)
    .filter((name) => !WORDS.has(name) && !known.has(name) && ![...known].some((each) => name.startsWith(`${each}_`)))
    .map((name) => ({
      level: 'warn',
      message: `No definition uses the ${what} "${name}" of ${prefix}.${joinSegments([name])}.*; ${known.size === 0 ? 'none is used' : `those used are ${[...known].join(', ')}`}`,
    }))
}
