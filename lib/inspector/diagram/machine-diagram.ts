import type { MachineConfig, NodeConfig, TransitionConfig } from '../../translation/index.ts'
import { shorten, type Diagram, type DiagramEdge, type DiagramNode, type EdgeRole } from './diagram.ts'

const LONGEST_LABEL = 40

/** Where a node stands. */
interface Place {
  readonly id: string
  /** Keys from the root. */
  readonly path: readonly string[]
}

/**
 * Draws an XState machine config as it is: nodes, entries, guards and events (the tab Machine of the inspector).
 *
 * Walks transitions, `always`, the ends of invoked actors and the initial state, which `xstate/graph` leaves out in part.
 * An edge that leaves its parent is told by a chip. Keys keep their order.
 */
export function machineDiagram(config: MachineConfig, version: string): Diagram {
  const root = toNode(config, { id: 'root', path: [] }, idsOf(config))
  return { id: config.id, version, title: config.id, kind: 'machine', root: { ...root, kind: 'machine', chips: [] } }
}

/** Paths of nodes by their explicit id, as targets `#id` name them. */
function idsOf(config: MachineConfig): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  const visit = (node: NodeConfig, id: string): void => {
    if (node.id !== undefined) ids.set(node.id, id)
    for (const [key, child] of Object.entries(node.states ?? {})) visit(child, `${id}-${key}`)
  }
  visit(config, 'root')
  return ids
}

function toNode(node: NodeConfig, { id, path }: Place, ids: ReadonlyMap<string, string>): DiagramNode {
  const children = Object.entries(node.states ?? {})
  const nodes = children.map(([key, child]) => toNode(child, { id: `${id}-${key}`, path: [...path, key] }, ids))
  const ways = children.flatMap(([key, child]) => edgesOf(child, { source: `${id}-${key}`, parent: id, ids }))
  const initial = node.initial === undefined ? [] : [{
    id: `${id}-start`, source: `${id}-initial`, target: `${id}-${node.initial}`, role: 'transition', happy: true, chip: false,
  } satisfies DiagramEdge]
  const inside = new Set(nodes.map((child) => child.id))
  const own = ways.filter(({ target }) => inside.has(target))
  const leaving = ways.filter(({ target }) => !inside.has(target))
  const { meta } = node
  return {
    id,
    kind: 'state',
    label: path.at(-1) ?? '',
    ...(meta?.state === undefined ? {} : { state: meta.state }),
    ...(meta?.branch === undefined ? {} : { branch: meta.branch }),
    ...(meta?.action === undefined ? {} : { action: meta.action }),
    lines: linesOf(node),
    chips: [],
    children: [
      ...(initial.length === 0 ? [] : [{ id: `${id}-initial`, kind: 'initial', label: 'start', lines: [], chips: [], children: [], edges: [] } satisfies DiagramNode]),
      ...nodes.map((child) => ({ ...child, chips: leaving.filter(({ source }) => source === child.id).map(toChip) })),
    ],
    edges: [...initial, ...own],
  }
}

function toChip({ id, role, label, target }: DiagramEdge): DiagramNode['chips'][number] {
  const name = target.replace(/^root-/u, '').replaceAll('-', '.')
  return { text: shorten(`${label ?? ''} → ${name}`, LONGEST_LABEL), role, edge: id }
}

function linesOf({ type, meta, entry, exit, invoke }: NodeConfig): readonly string[] {
  const about = [meta?.role, meta?.state, meta?.branch, meta?.action].filter((part) => part !== undefined).join(' ')
  return [
    ...(about === '' ? [] : [about]),
    ...(type === undefined ? [] : [type]),
    ...(entry ?? []).map(({ type }) => `entry / ${type}`),
    ...(exit ?? []).map(({ type }) => `exit / ${type}`),
    ...(invoke ?? []).map(({ src }) => `invoke / ${src}`),
  ].map((line) => shorten(line, LONGEST_LABEL))
}

/** A node among its neighbours, for targets that are relative to it. */
interface Position {
  readonly source: string
  readonly parent: string
  /** Ids of the diagram by ids of the machine. */
  readonly ids: ReadonlyMap<string, string>
}

function edgesOf(node: NodeConfig, position: Position): DiagramEdge[] {
  const { source } = position
  const named: (readonly [string, readonly TransitionConfig[]])[] = [
    ['', node.always ?? []],
    ...Object.entries(node.on ?? {}),
    ...(node.invoke ?? []).flatMap(({ onDone, onError }) => [['done', onDone], ['error', onError ?? []]] as const),
  ]
  return named.flatMap(([event, transitions], group) => transitions.flatMap((transition, number): DiagramEdge[] => {
    const target = resolveTarget(transition.target, position)
    if (target === undefined) return []
    const guard = transition.guard === undefined ? '' : `[${transition.guard.type}]`
    const label = shorten([event, guard].filter((part) => part !== '').join(' '), LONGEST_LABEL)
    const role: EdgeRole = roleOf(transition)
    return [{
      id: `${source}-way-${String(group)}-${String(number)}`, source, target, role, happy: role === 'transition' && guard === '', chip: target === source,
      ...(label === '' ? {} : { label }),
    }]
  }))
}

function roleOf({ meta, guard }: TransitionConfig): EdgeRole {
  if (meta === undefined) return guard === undefined ? 'transition' : 'condition'
  return meta.role === 'retry' ? 'error' : meta.role
}

// XState's rules: `#id` is absolute, `.key` a child, anything else a sibling.
function resolveTarget(target: string | undefined, { source, parent, ids }: Position): string | undefined {
  if (target === undefined) return undefined
  if (target.startsWith('#')) {
    const [id = '', ...rest] = target.slice(1).split('.')
    const found = ids.get(target.slice(1)) ?? ids.get(id)
    return found === undefined ? undefined : ids.has(target.slice(1)) ? found : [found, ...rest].join('-')
  }
  const keys = target.split('.').filter((key) => key !== '').join('-')
  return target.startsWith('.') ? `${source}-${keys}` : `${parent}-${keys}`
}
