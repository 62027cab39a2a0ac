import type { Call } from '../../../../lib/tenancy/call.ts'
import type { AuthorizationPolicy, Condition, Operation, Rule, Source } from '../../../../lib/tenancy/types.ts'

/**
 * Decides a call by the words of the specification and nothing else: no compiling, no sharing of code with the product, slow.
 */
export function decideByWords(policies: readonly AuthorizationPolicy[], call: Call, root = 'istio-system'): 'allow' | 'deny' {
  const selected = policies.filter(({ metadata, spec }) => [root, call.destination.namespace].includes(metadata.namespace ?? 'default') &&
    Object.entries(spec?.selector?.matchLabels ?? {}).every(([key, value]) => call.destination.labels[key] === value))
  const of = (action: string): AuthorizationPolicy[] => selected.filter(({ spec }) => (spec?.action ?? 'ALLOW') === action)
  if (of('DENY').some((policy) => matchesPolicy(policy, call))) return 'deny'
  if (of('ALLOW').length === 0) return 'allow'
  return of('ALLOW').some((policy) => matchesPolicy(policy, call)) ? 'allow' : 'deny'
}

function matchesPolicy(policy: AuthorizationPolicy, call: Call): boolean {
  const isDeny = policy.spec?.action === 'DENY'
  return (policy.spec?.rules ?? []).some((rule) => {
    if (call.protocol === 'http') return matchesRule(rule, call, policy)
    if (!isDeny && asksForHttp(rule)) return false
    return matchesRule(withoutHttp(rule), call, policy)
  })
}

const HTTP_SOURCE = ['requestPrincipals', 'notRequestPrincipals']
const HTTP_OPERATION = ['hosts', 'notHosts', 'methods', 'notMethods', 'paths', 'notPaths']
const isHttpKey = (key: string): boolean => key.startsWith('request.')

function asksForHttp(rule: Rule): boolean {
  const has = (fields: object, names: readonly string[]): boolean => names.some((name) => ((fields as Record<string, unknown[] | undefined>)[name] ?? []).length > 0)
  return (rule.from ?? []).some(({ source }) => has(source, HTTP_SOURCE)) || (rule.to ?? []).some(({ operation }) => has(operation, HTTP_OPERATION)) ||
    (rule.when ?? []).some(({ key }) => isHttpKey(key))
}

function withoutHttp(rule: Rule): Rule {
  const strip = <Fields extends object>(fields: Fields, names: readonly string[]): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name))) as Fields
  return {
    from: (rule.from ?? []).map(({ source }) => ({ source: strip(source, HTTP_SOURCE) })),
    to: (rule.to ?? []).map(({ operation }) => ({ operation: strip(operation, HTTP_OPERATION) })),
    when: (rule.when ?? []).filter(({ key }) => !isHttpKey(key)),
  }
}

function matchesRule(rule: Rule, call: Call, policy: AuthorizationPolicy): boolean {
  const from = rule.from ?? []
  const to = rule.to ?? []
  return (from.length === 0 || from.some(({ source }) => matchesSource(source, call, policy))) &&
    (to.length === 0 || to.some(({ operation }) => matchesOperation(operation, call))) &&
    (rule.when ?? []).every((condition) => matchesCondition(condition, call, policy))
}

/** A field holds when it is absent or one of its values fits; its opposite holds when none does. */
function holds(values: readonly string[] | undefined, not: readonly string[] | undefined, fits: (value: string) => boolean): boolean {
  return ((values ?? []).length === 0 || values!.some(fits)) && !(not ?? []).some(fits)
}

function identityOf(call: Call): { domain: string; namespace: string; account: string; whole: string } | undefined {
  const match = /^spiffe:\/\/(([^/]+)\/ns\/([^/]+)\/sa\/([^/]+))$/.exec(call.peer ?? '')
  return match === null ? undefined : { whole: match[1]!, domain: match[2]!, namespace: match[3]!, account: match[4]! }
}

function matchesSource(source: Source, call: Call, policy: AuthorizationPolicy): boolean {
  const identity = identityOf(call)
  const anywhere = (pattern: string, text: string | undefined): boolean => text !== undefined && new RegExp(`^${escape(pattern).replaceAll('\\*', '.*')}$`).test(text)
  return holds(source.principals, source.notPrincipals, (value) => fitsText(value, identity?.whole)) &&
    holds(source.namespaces, source.notNamespaces, (value) => anywhere(value, identity?.namespace)) &&
    holds(source.trustDomains, source.notTrustDomains, (value) => anywhere(value, identity?.domain)) &&
    holds(source.serviceAccounts, source.notServiceAccounts, (value) => identity !== undefined &&
      (value.includes('/') ? value : `${policy.metadata.namespace ?? 'default'}/${value}`) === `${identity.namespace}/${identity.account}`) &&
    holds(source.ipBlocks, source.notIpBlocks, (value) => fitsBlock(value, call.sourceIp)) &&
    holds(source.remoteIpBlocks, source.notRemoteIpBlocks, (value) => fitsBlock(value, call.remoteIp ?? call.sourceIp)) &&
    holds(source.requestPrincipals, source.notRequestPrincipals, (value) => fitsToken(value, call))
}

function matchesOperation(operation: Operation, call: Call): boolean {
  const path = call.path?.replace(/\?.*$/, '')
  return holds(operation.hosts, operation.notHosts, (value) => fitsText(value.toLowerCase(), call.authority?.toLowerCase())) &&
    holds(operation.methods, operation.notMethods, (value) => fitsText(value, call.method)) &&
    holds(operation.paths, operation.notPaths, (value) => fitsText(value, path)) &&
    holds(operation.ports, operation.notPorts, (value) => Number(value) === call.destination.port)
}

function matchesCondition(condition: Condition, call: Call, policy: AuthorizationPolicy): boolean {
  const { key, values, notValues } = condition
  const header = /^request\.headers\[(.*)\]$/.exec(key)?.[1]?.toLowerCase()
  if (header !== undefined) {
    const found = (call.headers ?? []).filter(([name]) => name.toLowerCase() === header).map(([, text]) => text)
    return holds(values, notValues, (value) => fitsText(value, found.length === 0 ? undefined : found.join(',')))
  }
  const asSource: Record<string, [keyof Source, keyof Source]> = {
    'source.ip': ['ipBlocks', 'notIpBlocks'],
    'remote.ip': ['remoteIpBlocks', 'notRemoteIpBlocks'],
    'source.namespace': ['namespaces', 'notNamespaces'],
    'source.principal': ['principals', 'notPrincipals'],
    'request.auth.principal': ['requestPrincipals', 'notRequestPrincipals'],
  }
  const names = asSource[key]
  if (names !== undefined) return matchesSource({ [names[0]]: values ?? [], [names[1]]: notValues ?? [] }, call, policy)
  if (key === 'destination.port') return holds(values, notValues, (value) => Number(value) === call.destination.port)
  if (key === 'connection.sni') return holds(values, notValues, (value) => fitsText(value, call.sni))
  throw new TypeError(`no words for ${key}`)
}

function fitsText(pattern: string, text: string | undefined): boolean {
  if (text === undefined) return false
  if (pattern === '*') return text.length > 0
  if (pattern.startsWith('*')) return text.endsWith(pattern.slice(1))
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

function fitsToken(pattern: string, call: Call): boolean {
  const iss = call.claims?.['iss']
  const sub = call.claims?.['sub']
  if (typeof iss !== 'string' || typeof sub !== 'string') return false
  const [, issuer = '', subject = ''] = /^(.*)\/([^/]*)$/.exec(pattern) ?? []
  return pattern === '*' ? iss !== '' && sub !== '' : fitsText(issuer, iss) && fitsText(subject, sub)
}

function fitsBlock(block: string, address: string | undefined): boolean {
  if (address === undefined) return false
  const [base = '', length = '32'] = block.split('/')
  const bits = (text: string): string => text.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0')).join('')
  return bits(base).slice(0, Number(length)) === bits(address).slice(0, Number(length))
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
