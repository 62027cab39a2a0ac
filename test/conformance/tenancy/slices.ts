import type { AuthorizationPolicy } from '../../../lib/tenancy/types.ts'
import type { Node } from './envoy.ts'

/** Length of the longest list of values in some policies. */
export function longestList(policies: readonly AuthorizationPolicy[]): number {
  let longest = 1
  mapLists(policies, (list) => {
    longest = Math.max(longest, list.length)
    return list
  })
  return longest
}

/**
 * Keeps one value of every list of a policy. In a whole list one `*` would hide what the other values do.
 *
 * @param at which value; counted round in shorter lists
 */
export function slicePolicy(policy: AuthorizationPolicy, at: number): AuthorizationPolicy {
  return mapLists(policy, (list) => list.slice(at % list.length, (at % list.length) + 1))
}

/** Replaces every list of texts inside the rules. */
function mapLists<Value>(value: Value, change: (list: readonly string[]) => readonly string[]): Value {
  if (Array.isArray(value)) {
    const isTexts = value.length > 0 && value.every((item) => typeof item === 'string')
    return (isTexts ? change(value as string[]) : value.map((item: unknown) => mapLists(item, change))) as Value
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLists(item as unknown, change)])) as Value
}

/** Keeps one alternative of every OR of a filter's policy: the counterpart of {@link slicePolicy}. */
export function slicePolicyNode(policy: Node, at: number): Node {
  const slice = (nodes: unknown): Node[] => list(nodes).map((node) => sliceNode(node, at))
  return { ...policy, permissions: slice(policy['permissions']), principals: slice(policy['principals']) }
}

function sliceNode(node: Node, at: number): Node {
  const [[kind, value] = ['', undefined]] = Object.entries(node)
  const inner = value as Node
  switch (kind) {
    case 'andRules': return { andRules: { rules: list(inner['rules']).map((item) => sliceNode(item, at)) } }
    case 'andIds': return { andIds: { ids: list(inner['ids']).map((item) => sliceNode(item, at)) } }
    case 'notRule': return { notRule: sliceNode(inner, at) }
    case 'notId': return { notId: sliceNode(inner, at) }
    case 'orRules': return { orRules: { rules: one(inner['rules'], at) } }
    case 'orIds': return { orIds: { ids: one(inner['ids'], at) } }
    case 'metadata': return { metadata: { ...inner, value: sliceValue(inner['value'] as Node, at) } }
    default: return node
  }
}

function sliceValue(matcher: Node, at: number): Node {
  const oneOf = (matcher['listMatch'] as Node | undefined)?.['oneOf']
  if (oneOf !== undefined) return { listMatch: { oneOf: sliceValue(oneOf as Node, at) } }
  const alternatives = (matcher['orMatch'] as Node | undefined)?.['valueMatchers']
  if (alternatives === undefined) return matcher
  // A claim may be a list or a text: both forms are kept, each with one value.
  const isForms = list(alternatives).some((item) => item['listMatch'] !== undefined)
  return { orMatch: { valueMatchers: isForms ? list(alternatives).map((item) => sliceValue(item, at)) : one(alternatives, at) } }
}

function one(items: unknown, at: number): Node[] {
  const all = list(items)
  return all.slice(at % all.length, (at % all.length) + 1)
}

function list(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value as readonly Node[] : []
}
