import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs/lib/elk-api.js'
import { nodesBelow, type Diagram, type DiagramEdge, type DiagramNode } from './diagram.ts'
import { MEASURES, pillWidth, sizeOf } from './measures.ts'

/** Which way a chart runs. */
export type Direction = 'down' | 'right'

/** Above so many nodes the exact placement takes too long. */
const MOST_FOR_EXACT_PLACEMENT = 25

/**
 * Writes a diagram as a graph for elkjs with the options of inspector.md.
 *
 * Options are repeated on every compound node: with `SEPARATE_CHILDREN` each is laid out by itself.
 */
export function toElkGraph({ root }: Diagram, direction: Direction): ElkNode {
  const small = [...nodesBelow(root)].length <= MOST_FOR_EXACT_PLACEMENT
  const options = layered(direction, small)
  const children = root.children.map((child) => toElkNode(child, options, direction))
  return { id: root.id, layoutOptions: { ...options, 'elk.padding': '[top=16,left=16,bottom=16,right=16]' }, children, edges: edgesOf(root) }
}

function layered(direction: Direction, small: boolean): LayoutOptions {
  return {
    'elk.algorithm': 'layered',
    'elk.direction': direction === 'down' ? 'DOWN' : 'RIGHT',
    'elk.hierarchyHandling': 'SEPARATE_CHILDREN',
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.edgeLabels.inline': 'true',
    'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'TAIL_LAYER',
    'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
    'elk.layered.nodePlacement.strategy': small ? 'NETWORK_SIMPLEX' : 'BRANDES_KOEPF',
    'elk.layered.nodePlacement.favorStraightEdges': 'true',
    'elk.layered.spacing.nodeNodeBetweenLayers': '34',
    'elk.layered.spacing.edgeNodeBetweenLayers': '16',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
    'elk.spacing.nodeNode': '36',
    'elk.spacing.edgeNode': '20',
    'elk.spacing.edgeEdge': '14',
    'elk.spacing.edgeLabel': '4',
    'elk.spacing.componentComponent': '48',
    'elk.randomSeed': '1',
  }
}

function toElkNode(node: DiagramNode, options: LayoutOptions, direction: Direction): ElkNode {
  const size = sizeOf(node)
  if (node.kind === 'end') return { id: node.id, ...size, ...endPort(node, direction) }
  if (node.children.length === 0) return { id: node.id, ...size }
  const padding = `[top=${String(size.height + 4)},left=${String(MEASURES.left)},bottom=16,right=16]`
  const inside = node.beside === true ? besides(direction) : options
  return {
    id: node.id,
    layoutOptions: {
      ...inside,
      'elk.padding': padding,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${String(size.width)}, ${String(size.height)})`,
    },
    children: node.children.map((child) => toElkNode(child, options, direction)),
    edges: edgesOf(node),
  }
}

// Keeps the order of branches, which a layered layout without edges does not.
function besides(direction: Direction): LayoutOptions {
  return { 'elk.algorithm': 'rectpacking', 'elk.aspectRatio': direction === 'down' ? '30' : '0.03', 'elk.spacing.nodeNode': '16' }
}

// All ways into an end meet in one point and share the last stretch: one arrowhead, not a pile.
function endPort({ id }: DiagramNode, direction: Direction): Pick<ElkNode, 'ports' | 'layoutOptions'> {
  const middle = MEASURES.end / 2
  const place = direction === 'down' ? { x: middle, y: 0 } : { x: 0, y: middle }
  return {
    layoutOptions: { 'elk.portConstraints': 'FIXED_POS' },
    ports: [{ id: portOf(id), width: 0, height: 0, ...place, layoutOptions: { 'elk.port.side': direction === 'down' ? 'NORTH' : 'WEST' } }],
  }
}

function portOf(id: string): string {
  return `${id}:in`
}

function edgesOf({ edges, children }: DiagramNode): ElkExtendedEdge[] {
  const kinds = new Map(children.map(({ id, kind }) => [id, kind]))
  return edges.filter(({ chip, target }) => !chip && kinds.has(target)).map((edge) => toElkEdge(edge, kinds.get(edge.target) === 'end'))
}

function toElkEdge({ id, source, target, label, happy }: DiagramEdge, ends: boolean): ElkExtendedEdge {
  return {
    id,
    sources: [source],
    targets: [ends ? portOf(target) : target],
    ...(happy ? { layoutOptions: { 'elk.layered.priority.straightness': '10', 'elk.layered.priority.direction': '10', 'elk.layered.priority.shortness': '10' } } : {}),
    ...(label === undefined ? {} : { labels: [{ text: label, width: pillWidth(label), height: MEASURES.pill }] }),
  }
}
