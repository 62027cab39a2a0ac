import type { FieldKind } from './fields.ts'
import { SHARED_FIELDS } from './fields.ts'
import { compileBlocks } from './ip.ts'
import { compileTexts } from './patterns.ts'

/** What the values of a condition must be. */
export type ConditionValues = 'text' | 'address' | 'port' | 'serviceAccount'

/** A condition key, taken apart. */
export interface ConditionKind extends FieldKind {
  readonly values: ConditionValues
}

const FIXED: Readonly<Record<string, ConditionKind>> = {
  'source.ip': { ...SHARED_FIELDS.ipBlocks, values: 'address' },
  'remote.ip': { ...SHARED_FIELDS.remoteIpBlocks, values: 'address' },
  'source.namespace': { ...SHARED_FIELDS.namespaces, values: 'text' },
  'source.principal': { ...SHARED_FIELDS.principals, values: 'text' },
  'source.serviceAccount': { ...SHARED_FIELDS.serviceAccounts, values: 'serviceAccount' },
  'source.trustDomain': { ...SHARED_FIELDS.trustDomains, values: 'text' },
  'request.auth.principal': { ...SHARED_FIELDS.requestPrincipals, values: 'text' },
  'request.auth.audiences': claimKind(['aud']),
  'request.auth.presenter': claimKind(['azp']),
  'destination.port': { ...SHARED_FIELDS.ports, values: 'port' },
  'destination.ip': {
    values: 'address',
    ambient: true,
    compile(values) {
      const test = compileBlocks(values)
      return (facts) => test(facts.destinationAddress)
    },
  },
  'connection.sni': {
    values: 'text',
    compile(values) {
      const test = compileTexts(values)
      return (facts) => test(facts.call.sni)
    },
  },
}

/** The keys without brackets, and the beginnings of those with; for hints at misspelt ones. */
export const CONDITION_KEYS: readonly string[] = [
  ...Object.keys(FIXED), 'request.headers[]', 'request.auth.claims[]', 'experimental.envoy.filters.',
]

/**
 * Finds out what a condition key means (tenancy.md, section 4, rule 7).
 *
 * @returns the kind, or `undefined` for a key that does not exist or lacks its brackets
 */
export function conditionKind(key: string): ConditionKind | undefined {
  if (Object.hasOwn(FIXED, key)) return FIXED[key]
  const header = /^request\.headers\[([^[\]]+)\]$/.exec(key)?.[1]
  if (header !== undefined) return headerKind(header.toLowerCase())
  const claims = /^request\.auth\.claims((?:\[[^[\]]+\])+)$/.exec(key)?.[1]
  if (claims !== undefined) return claimKind(claims.slice(1, -1).split(']['))
  const metadata = /^experimental\.(envoy\.filters\.[^[\]]+)\[([^[\]]+)\]$/.exec(key)
  if (metadata?.[1] !== undefined && metadata[2] !== undefined) return metadataKind(metadata[1], metadata[2])
  return undefined
}

function headerKind(name: string): ConditionKind {
  return {
    values: 'text',
    httpOnly: true,
    compile(values) {
      const test = compileTexts(values, { presence: true })
      return (facts) => test(facts.header(name))
    },
  }
}

function claimKind(path: readonly string[]): ConditionKind {
  return {
    values: 'text',
    httpOnly: true,
    compile(values) {
      const test = compileTexts(values)
      return (facts) => someText(facts.claim(path), test)
    },
  }
}

function metadataKind(filter: string, key: string): ConditionKind {
  return {
    values: 'text',
    compile(values) {
      // `[v]` asks for an element of a list, `v` for the value itself.
      const isList = (value: string): boolean => value.startsWith('[') && value.endsWith(']')
      const element = compileTexts(values.filter(isList).map((value) => value.slice(1, -1)))
      const whole = compileTexts(values.filter((value) => !isList(value)))
      return (facts) => {
        const value = facts.metadata(filter, key)
        return Array.isArray(value) ? someText(value, element) : typeof value === 'string' && whole(value)
      }
    },
  }
}

function someText(value: unknown, test: (text: string) => boolean): boolean {
  return Array.isArray(value) ? value.some((item) => typeof item === 'string' && test(item)) : typeof value === 'string' && test(value)
}
