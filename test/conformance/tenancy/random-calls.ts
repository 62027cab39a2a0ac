import type { JsonObject } from '../../../lib/common/index.ts'
import type { Call } from '../../../lib/tenancy/call.ts'
import { namespaceOf, type AuthorizationPolicy, type Condition, type Operation, type Rule, type Source } from '../../../lib/tenancy/types.ts'

/** A source of numbers from 0 to 1 that repeats for a seed. */
export type Random = () => number

/** Creates a repeatable source of numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Picks an element; the list must not be empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new RangeError('nothing to pick from')
  return item
}

type Draft = { -readonly [Key in keyof Call]: Call[Key] }

/**
 * Makes a call that is aimed at one rule of the policies: each field gets a value that the rule lists, or by chance one of a `not` list,
 * one from another rule, or none. Aimed calls reach the depths of a rule that random text never would.
 */
export function aimedCall(policies: readonly AuthorizationPolicy[], protocol: Call['protocol'], random: Random): Call {
  const policy = pick(random, policies)
  const rules = policy.spec?.rules ?? []
  const labels = Object.assign({}, ...policies.map(({ spec }) => spec?.selector?.matchLabels ?? {})) as Record<string, string>
  const draft: Draft = {
    protocol,
    destination: { namespace: namespaceOf(policy), labels, port: pick(random, [80, 8080, 9000]), ip: address(random) },
    ...(protocol === 'http' ? { method: pick(random, ['GET', 'POST']), authority: 'host.example', path: '/' } : {}),
    sourceIp: address(random),
    ...(random() < 0.5 ? { remoteIp: address(random) } : {}),
    ...(random() < 0.5 ? { peer: 'spiffe://cluster.local/ns/some/sa/one' } : {}),
  }
  if (rules.length > 0) aimAt(draft, pick(random, rules), policy, random)
  return draft
}

function aimAt(draft: Draft, rule: Rule, policy: AuthorizationPolicy, random: Random): void {
  const from = rule.from ?? []
  const to = rule.to ?? []
  if (from.length > 0) aimSource(draft, pick(random, from).source, policy, random)
  if (to.length > 0) aimOperation(draft, pick(random, to).operation, random)
  for (const condition of rule.when ?? []) aimCondition(draft, condition, policy, random)
}

/** Chooses a value that fits one of the patterns; `undefined` leaves the field as it is. */
function choose(values: readonly string[] | undefined, not: readonly string[] | undefined, random: Random): string | undefined {
  const dice = random()
  const list = dice < 0.75 ? values : dice < 0.9 ? not : undefined
  if (list === undefined || list.length === 0) return undefined
  return realise(pick(random, list), random)
}

function realise(pattern: string, random: Random): string {
  const filling = pick(random, ['x', 'a-b', 'Q'])
  const near = random() < 0.1 ? pick(random, ['y', '-']) : ''
  return pattern.replaceAll('{**}', pick(random, ['', 'a', 'a/b'])).replaceAll('{*}', pick(random, ['a', 'b.c', ''])).replaceAll('*', filling) + near
}

function aimSource(draft: Draft, source: Source, policy: AuthorizationPolicy, random: Random): void {
  const account = choose(source.serviceAccounts, source.notServiceAccounts, random)
  const namespace = choose(source.namespaces, source.notNamespaces, random)
  const principal = choose(source.principals, source.notPrincipals, random)
  const domain = choose(source.trustDomains, source.notTrustDomains, random) ?? pick(random, ['cluster.local', 'td1', 'other'])
  if (account !== undefined) draft.peer = accountIdentity(account, domain, policy)
  if (namespace !== undefined) draft.peer = `spiffe://${domain}/ns/${namespace}/sa/one`
  if (principal !== undefined && (namespace === undefined || random() < 0.7)) draft.peer = `spiffe://${principal}`
  if (account === undefined && namespace === undefined && principal === undefined) {
    if (random() < 0.5) draft.peer = `spiffe://${domain}/ns/some/sa/one`
    else delete draft.peer
  }
  aimToken(draft, choose(source.requestPrincipals, source.notRequestPrincipals, random), random)
  draft.sourceIp = blockAddress(choose(source.ipBlocks, source.notIpBlocks, random), random) ?? draft.sourceIp ?? ''
  const remote = blockAddress(choose(source.remoteIpBlocks, source.notRemoteIpBlocks, random), random)
  if (remote !== undefined) draft.remoteIp = remote
}

function accountIdentity(account: string, domain: string, policy: AuthorizationPolicy): string {
  const [first = '', second] = account.split('/')
  return second === undefined ? `spiffe://${domain}/ns/${namespaceOf(policy)}/sa/${first}` : `spiffe://${domain}/ns/${first}/sa/${second}`
}

function aimToken(draft: Draft, principal: string | undefined, random: Random): void {
  if (principal === undefined) return
  const slash = principal.lastIndexOf('/')
  const [iss, sub] = slash < 0 ? pick(random, [[principal, ''], [principal, 'someone'], ['issuer', principal]] as const)
    : [principal.slice(0, slash), principal.slice(slash + 1)] as const
  draft.claims = { ...draft.claims, iss, sub }
}

function aimOperation(draft: Draft, operation: Operation, random: Random): void {
  const port = choose(operation.ports, operation.notPorts, random)
  if (port !== undefined && Number.isInteger(Number(port))) draft.destination = { ...draft.destination, port: Number(port) }
  if (draft.protocol === 'tcp') return
  const host = choose(operation.hosts, operation.notHosts, random)
  if (host !== undefined) draft.authority = random() < 0.2 ? host.toUpperCase() : random() < 0.1 ? `${host}:8080` : host
  draft.method = choose(operation.methods, operation.notMethods, random) ?? draft.method ?? 'GET'
  const path = choose(operation.paths, operation.notPaths, random)
  if (path !== undefined) draft.path = random() < 0.2 ? `${path}?a=/b` : path
}

function aimCondition(draft: Draft, condition: Condition, policy: AuthorizationPolicy, random: Random): void {
  const { key } = condition
  const value = choose(condition.values, condition.notValues, random)
  if (value === undefined) return
  const header = /^request\.headers\[(.*)\]$/.exec(key)?.[1]
  const claims = /^request\.auth\.claims\[(.*)\]$/.exec(key)?.[1]?.split('][')
  const metadata = /^experimental\.(.*)\[(.*)\]$/.exec(key)
  if (header !== undefined) aimHeader(draft, header, value, random)
  else if (claims !== undefined) draft.claims = withClaim(draft.claims ?? {}, claims, value, random)
  else if (metadata !== null) draft.metadata = { ...draft.metadata, [metadata[1] ?? '']: { [metadata[2] ?? '']: value } }
  else if (key === 'destination.ip') draft.destination = { ...draft.destination, ip: blockAddress(value, random) ?? '' }
  else if (key === 'destination.port') draft.destination = { ...draft.destination, port: Number(value) || 80 }
  else if (key === 'connection.sni') draft.sni = value
  else if (key === 'source.ip') draft.sourceIp = blockAddress(value, random) ?? ''
  else if (key === 'remote.ip') draft.remoteIp = blockAddress(value, random) ?? ''
  else if (key === 'source.principal') draft.peer = `spiffe://${value}`
  else if (key === 'source.namespace') draft.peer = `spiffe://cluster.local/ns/${value}/sa/one`
  else if (key === 'source.serviceAccount') draft.peer = accountIdentity(value, 'cluster.local', policy)
  else if (key === 'source.trustDomain') draft.peer = `spiffe://${value}/ns/some/sa/one`
  else if (key === 'request.auth.principal') aimToken(draft, value, random)
  else if (key === 'request.auth.audiences') draft.claims = withClaim(draft.claims ?? {}, ['aud'], value, random)
  else if (key === 'request.auth.presenter') draft.claims = withClaim(draft.claims ?? {}, ['azp'], value, random)
  else throw new TypeError(`the generator of calls does not know the condition "${key}"`)
}

function aimHeader(draft: Draft, header: string, value: string, random: Random): void {
  if (draft.protocol === 'tcp') return
  if (header === ':method') draft.method = value
  else if (header === ':authority') draft.authority = value
  else {
    const name = random() < 0.5 ? header.toLowerCase() : header
    draft.headers = [...draft.headers ?? [], [name, value], ...(random() < 0.1 ? [[name, 'again'] as const] : [])]
  }
}

function withClaim(claims: JsonObject, path: readonly string[], value: string, random: Random): JsonObject {
  const [first = '', ...rest] = path
  if (rest.length === 0) return { ...claims, [first]: random() < 0.3 ? ['other', value] : random() < 0.05 ? 7 : value }
  const inner = claims[first]
  return { ...claims, [first]: withClaim(typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner as JsonObject : {}, rest, value, random) }
}

function address(random: Random): string {
  return pick(random, ['1.2.3.4', '10.0.0.1', '192.168.1.1', '172.17.8.200', '5.6.7.8'])
}

/** An address inside, or just outside, a block. */
function blockAddress(block: string | undefined, random: Random): string | undefined {
  if (block === undefined) return undefined
  const [base = '', length = '32'] = block.replaceAll(/[^\d./]/g, '').split('/')
  const bytes = base.split('.').map(Number)
  if (bytes.length !== 4) return undefined
  if (Number(length) < 32) bytes[3] = Math.floor(random() * 256)
  if (random() < 0.2) bytes[2] = ((bytes[2] ?? 0) + 1) % 256
  return bytes.join('.')
}
