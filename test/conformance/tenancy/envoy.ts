import type { Call } from '../../../lib/tenancy/call.ts'

/** A node of an Envoy filter, as its YAML has it. */
export type Node = Readonly<Record<string, unknown>>

/** One policy of an RBAC filter with what it said of a call. */
export interface PolicyVerdict {
  readonly matched: boolean
  /** Verdicts of the conditions joined by AND, for each permission and each principal; `any` is left out. */
  readonly permissions: readonly (readonly boolean[])[]
  readonly principals: readonly (readonly boolean[])[]
}

/**
 * Evaluates one policy of an Envoy RBAC filter on a call: an oracle of its own, which shares no code with the product.
 *
 * Throws on anything it does not know, so that no condition is passed over.
 */
export function evaluatePolicy(policy: Node, call: Call): PolicyVerdict {
  const permissions = list(policy['permissions']).map((permission) => conditions(permission, 'andRules', 'rules', call))
  const principals = list(policy['principals']).map((principal) => conditions(principal, 'andIds', 'ids', call))
  const holds = (alternatives: readonly (readonly boolean[])[]): boolean => alternatives.some((all) => all.every(Boolean))
  return { matched: holds(permissions) && holds(principals), permissions, principals }
}

function conditions(node: Node, and: string, items: string, call: Call): boolean[] {
  const all = node[and] === undefined ? [node] : list((node[and] as Node)[items])
  return all.filter((item) => item['any'] !== true).map((item) => holds(item, call))
}

const KINDS: Readonly<Record<string, (value: never, call: Call) => boolean>> = {
  any: () => true,
  andRules: (value: Node, call) => list(value['rules']).every((item) => holds(item, call)),
  orRules: (value: Node, call) => list(value['rules']).some((item) => holds(item, call)),
  notRule: (value: Node, call) => !holds(value, call),
  andIds: (value: Node, call) => list(value['ids']).every((item) => holds(item, call)),
  orIds: (value: Node, call) => list(value['ids']).some((item) => holds(item, call)),
  notId: (value: Node, call) => !holds(value, call),
  header: holdsHeader,
  urlPath: (value: Node, call) => matchesText(value['path'] as Node, pathOf(call)),
  uriTemplate: (value: Node, call) => matchesTemplate(String((value['typedConfig'] as Node)['pathTemplate']), pathOf(call)),
  destinationPort: (value: number, call) => call.destination.port === value,
  destinationIp: (value: Node, call) => isWithin(value, call.destination.ip),
  directRemoteIp: (value: Node, call) => isWithin(value, call.sourceIp),
  remoteIp: (value: Node, call) => isWithin(value, call.remoteIp ?? call.sourceIp),
  requestedServerName: (value: Node, call) => matchesText(value, call.sni),
  authenticated: (value: Node, call) => matchesText(value['principalName'] as Node, call.peer),
  metadata: holdsMetadata,
}

function holds(node: Node, call: Call): boolean {
  const [[kind, value] = ['', undefined], ...rest] = Object.entries(node)
  const evaluate = KINDS[kind]
  if (evaluate === undefined || rest.length > 0) throw new TypeError(`the oracle does not know ${JSON.stringify(node)}`)
  return evaluate(value as never, call)
}

function holdsHeader(value: Node, call: Call): boolean {
  const name = String(value['name']).toLowerCase()
  const pseudo: Readonly<Record<string, string | undefined>> = { ':authority': call.authority, ':method': call.method, ':path': call.path }
  const values = (call.headers ?? []).filter(([key]) => key.toLowerCase() === name).map(([, text]) => text)
  const found = name.startsWith(':') ? pseudo[name] : values.length === 0 ? undefined : values.join(',')
  if (value['presentMatch'] === true) return found !== undefined
  const regex = value['safeRegexMatch']
  return matchesText(regex === undefined ? value['stringMatch'] as Node : { safeRegex: regex }, found)
}

function matchesText(matcher: Node, text: string | undefined): boolean {
  if (text === undefined) return false
  const fold = (value: unknown): string => matcher['ignoreCase'] === true ? String(value).toLowerCase() : String(value)
  if (matcher['exact'] !== undefined) return fold(text) === fold(matcher['exact'])
  if (matcher['prefix'] !== undefined) return fold(text).startsWith(fold(matcher['prefix']))
  if (matcher['suffix'] !== undefined) return fold(text).endsWith(fold(matcher['suffix']))
  const regex = (matcher['safeRegex'] as Node | undefined)?.['regex']
  if (typeof regex !== 'string') throw new TypeError(`the oracle does not know ${JSON.stringify(matcher)}`)
  return new RegExp(`^(?:${regex.replace(/^\(\?i\)/, '')})$`, regex.startsWith('(?i)') ? 'i' : '').test(text)
}

function pathOf(call: Call): string | undefined {
  return call.path?.split('?', 1)[0]
}

/** Walks template and path segment by segment: `*` is one segment, `**` any number of characters. */
function matchesTemplate(template: string, path: string | undefined): boolean {
  if (path === undefined) return false
  const source = template.split(/(\*\*|\*)/).map((part) => part === '**' ? '.*' : part === '*' ? '[^/]+' : part.replace(/[.?+^$|()[\]{}\\]/g, '\\$&'))
  return new RegExp(`^${source.join('')}$`).test(path)
}

function isWithin(range: Node, address: string | undefined): boolean {
  if (address === undefined) return false
  const bits = (text: string): string => text.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0')).join('')
  const length = Number(range['prefixLen'])
  return bits(String(range['addressPrefix'])).slice(0, length) === bits(address).slice(0, length)
}

function holdsMetadata(value: Node, call: Call): boolean {
  const keys = list(value['path']).map((segment) => String(segment['key']))
  const filter = String(value['filter'])
  const isToken = filter === 'envoy.filters.http.jwt_authn'
  let found: unknown = isToken ? call.claims : call.metadata?.[filter]
  for (const key of isToken ? keys.slice(1) : keys) found = typeof found === 'object' && found !== null ? (found as Node)[key] : undefined
  return matchesValue(value['value'] as Node, found)
}

function matchesValue(matcher: Node, value: unknown): boolean {
  if (matcher['stringMatch'] !== undefined) return typeof value === 'string' && matchesText(matcher['stringMatch'] as Node, value)
  if (matcher['orMatch'] !== undefined) return list((matcher['orMatch'] as Node)['valueMatchers']).some((item) => matchesValue(item, value))
  const oneOf = (matcher['listMatch'] as Node | undefined)?.['oneOf']
  if (oneOf === undefined) throw new TypeError(`the oracle does not know ${JSON.stringify(matcher)}`)
  return Array.isArray(value) && value.some((item) => matchesValue(oneOf as Node, item))
}

function list(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value as readonly Node[] : []
}
