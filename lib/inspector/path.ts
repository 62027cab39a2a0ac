import type { InstanceStatus } from '../hosts/index.ts'
import { nodesBelow, shorten, type Diagram, type DiagramEdge, type DiagramNode } from './diagram/diagram.ts'
import { withoutWrapper } from './diagram/ways-on.ts'
import type { PartStatus, StateVisit } from './timeline.ts'

/** How a node is marked. */
interface NodeMark {
  readonly status: PartStatus
  /** A few words beside the title: visits, place in the order of branches, iterations. */
  readonly note?: string
}

/** What of a diagram an instance has been through. */
export interface Path {
  readonly nodes: Readonly<Record<string, NodeMark>>
  /** Ids of edges that were taken; errors are told apart by the role of the edge. */
  readonly edges: readonly string[]
}

/** Finds the path of an instance in the diagram of its definition. */
export function toPath({ root }: Diagram, timeline: readonly StateVisit[], status: InstanceStatus): Path {
  const nodes: Record<string, NodeMark> = {}
  const all = [...nodesBelow(root)]
  const edges = all.flatMap((node) => node.edges)
  const states = new Map(all.filter(({ kind }) => kind === 'state').map((node) => [node.state, node]))
  const taken = new Set<string>()
  if (timeline.length > 0) {
    nodes['initial'] = { status: 'done' }
    const first = states.get(timeline[0]?.state)
    const start = edges.find(({ source, target }) => source === 'initial' && target === first?.id)
    if (start !== undefined) taken.add(start.id)
  }
  for (const [index, visit] of timeline.entries()) {
    const node = states.get(visit.state)
    if (node === undefined) continue
    Object.assign(nodes, marksOf(node, visit, timeline.filter(({ state }) => state === visit.state).length))
    const next = timeline[index + 1]
    const target = next === undefined ? undefined : states.get(next.state)
    const ways = edges.filter(({ source }) => source === node.id)
    const edge = next === undefined ? endOf(ways, visit, status) : choose(ways.filter((way) => way.target === target?.id), visit)
    if (edge === undefined) continue
    taken.add(edge.id)
    if (next === undefined) nodes[edge.target] = { status: 'done' }
  }
  return { nodes, edges: [...taken, ...chainsIn(all, nodes)] }
}

type Marks = Readonly<Record<string, NodeMark>>

function marksOf(node: DiagramNode, visit: StateVisit, visits: number): Marks {
  const iterations = node.type === 'foreach' ? `${String(visit.actions.filter(({ status }) => status === 'done').length)} done` : undefined
  const attempts = Math.max(1, ...visit.actions.map((action) => action.attempts))
  const notes = [visits > 1 ? `×${String(visits)}` : undefined, iterations, attempts > 1 ? `attempt ${String(attempts)}` : undefined].filter((note) => note !== undefined)
  const order = branchOrder(node, visit)
  const branches = node.children.filter(({ kind }) => kind === 'branch').map((branch) => branchMarks(branch, visit, order.indexOf(branch.branch ?? '') + 1))
  return Object.assign({ [node.id]: { status: visit.status, ...(notes.length === 0 ? {} : { note: notes.join(', ') }) } }, ...branches) as Marks
}

/** Names of the branches that are done, in the order in which they were. */
function branchOrder({ children }: DiagramNode, { actions }: StateVisit): string[] {
  const ended = children.filter(({ kind }) => kind === 'branch').flatMap(({ branch = '', children: inside }) => {
    const own = actions.filter((action) => action.branch === branch)
    const all = inside.filter(({ kind }) => kind === 'action').length
    if (own.length < all || own.some(({ status }) => status !== 'done')) return []
    return [{ branch, last: Math.max(...own.map(({ lastStep = 0 }) => lastStep)) }]
  })
  return ended.sort((left, right) => left.last - right.last).map(({ branch }) => branch)
}

/** @param place in which the branch was done, from 1; 0 when it was not */
function branchMarks(branch: DiagramNode, { actions, status }: StateVisit, place: number): Marks {
  const own = actions.filter((action) => action.branch === branch.branch)
  if (own.length === 0) return {}
  const marks: Record<string, NodeMark> = { [`${branch.id}-initial`]: { status: 'done' } }
  for (const action of branch.children.filter(({ kind }) => kind === 'action')) {
    const entry = own.findLast((each) => each.action === action.action)
    if (entry !== undefined) marks[action.id] = { status: entry.status }
  }
  if (place > 0) return { ...marks, [branch.id]: { status: 'done', note: `${String(place)}.` }, [`${branch.id}-end`]: { status: 'done' } }
  const worst = (['failed', 'active', 'cancelled'] as const).find((each) => own.some((action) => action.status === each))
  return { ...marks, [branch.id]: { status: worst ?? (status === 'active' ? 'active' : 'cancelled') } }
}

/** Steps inside branches whose both ends were reached. */
function chainsIn(all: readonly DiagramNode[], nodes: Readonly<Record<string, NodeMark>>): string[] {
  return all.filter(({ kind }) => kind === 'branch')
    .flatMap(({ edges }) => edges.filter(({ source, target }) => nodes[source] !== undefined && nodes[target] !== undefined).map(({ id }) => id))
}

function endOf(ways: readonly DiagramEdge[], visit: StateVisit, status: InstanceStatus): DiagramEdge | undefined {
  return status === 'completed' ? choose(ways.filter(({ source, target }) => target === 'end' || target === `${source}-end`), visit) : undefined
}

/** Of several ways to one place, the one that fits how the state was left. */
function choose(ways: readonly DiagramEdge[], { status, condition, conditionIndex }: StateVisit): DiagramEdge | undefined {
  if (status === 'handled') return ways.find(({ role }) => role === 'error') ?? ways[0]
  const plain = ways.filter(({ role }) => role !== 'error')
  if (conditionIndex === -1) return plain.find(({ role }) => role === 'default') ?? plain[0] ?? ways[0]
  const named = condition === undefined ? undefined : plain.find(({ label = '' }) => label.startsWith(shorten(withoutWrapper(condition), 40)))
  return named ?? plain[0] ?? ways[0]
}
