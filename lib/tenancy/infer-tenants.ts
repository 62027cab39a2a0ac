import { isJsonObject, type JsonObject } from '../common/index.ts'
import { SYSTEM_NAMESPACES } from './inputs-schema.ts'
import { SERVING_NAMESPACE, type Tenant } from './inputs.ts'
import { namespaceOf, type AuthorizationPolicy } from './types.ts'

const SYSTEM: ReadonlySet<string> = new Set(SYSTEM_NAMESPACES)

/**
 * Reads tenants off documents: `allow-<name>-to-…` policies of the activator name them with their namespaces; any other namespace that has
 * a policy counts as a tenant of its own.
 */
export function inferTenants(documents: readonly JsonObject[]): Tenant[] {
  const policies = documents.filter(isPolicy)
  const tenants = policies.flatMap((policy): Tenant[] => {
    const name = /^allow-(.+)-to-activator$/.exec(policy.metadata.name)?.[1]
    const namespaces = policy.spec?.rules?.flatMap(({ from }) => from ?? []).flatMap(({ source }) => source.namespaces ?? []) ?? []
    const own = [...new Set(namespaces.filter((namespace) => !SYSTEM.has(namespace)))]
    return name === undefined || namespaceOf(policy) !== SERVING_NAMESPACE || own.length === 0 ? [] : [{ name, namespaces: own }]
  })
  const owned = new Set(tenants.flatMap(({ namespaces }) => namespaces))
  const others = new Set(policies.map(namespaceOf).filter((namespace) => !owned.has(namespace) && !SYSTEM.has(namespace)))
  return [...tenants, ...[...others].map((namespace) => ({ name: namespace, namespaces: [namespace] }))]
}

/** Tells whether a parsed object is a policy with a name; its other fields may still be anything. */
function isPolicy(document: JsonObject): document is JsonObject & AuthorizationPolicy {
  const metadata = document['metadata']
  if (document['kind'] !== 'AuthorizationPolicy' || !isJsonObject(metadata) || typeof metadata['name'] !== 'string') return false
  const rules = isJsonObject(document['spec']) ? document['spec']['rules'] : undefined
  return rules === undefined || (Array.isArray(rules) && rules.every((rule: unknown) => isJsonObject(rule) && isWellFormed(rule)))
}

function isWellFormed(rule: JsonObject): boolean {
  const from = rule['from']
  return from === undefined || (Array.isArray(from) && from.every((entry: unknown) =>
    isJsonObject(entry) && isJsonObject(entry['source']) && ['undefined', 'object'].includes(typeof entry['source']['namespaces'])))
}
