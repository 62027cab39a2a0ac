import type { StateType } from '../../definition/index.ts'

/** What a node of a diagram stands for. */
type NodeKind = 'initial' | 'end' | 'state' | 'branch' | 'action' | 'compensation' | 'machine'

/** A remark on a node in place of an edge that would be long or one of too many. */
export interface Chip {
  readonly text: string
  readonly role: EdgeRole
  /** Id of the edge that it stands for. */
  readonly edge: string
}

/** A node with what is drawn inside it. */
export interface DiagramNode {
  /** Made of positions in the definition, so that no name can be mistaken for another or break markup. */
  readonly id: string
  readonly kind: NodeKind
  readonly label: string
  /** Type of the state. */
  readonly type?: StateType
  /** Names that find it in the steps of an instance. */
  readonly state?: string
  readonly branch?: string
  readonly action?: string
  /** JSON pointer into the author's document. */
  readonly pointer?: string
  /** What it does, a line each. */
  readonly lines: readonly string[]
  readonly chips: readonly Chip[]
  readonly children: readonly DiagramNode[]
  /** Edges between its children. */
  readonly edges: readonly DiagramEdge[]
  /** Children stand beside each other, in their order. */
  readonly beside?: boolean
}

/** What a way on means; colours and signs follow it. */
export type EdgeRole = 'transition' | 'condition' | 'default' | 'error' | 'timeout' | 'compensation'

/** A way from a node to another of the same parent. */
export interface DiagramEdge {
  readonly id: string
  readonly source: string
  readonly target: string
  readonly role: EdgeRole
  readonly label?: string
  /** On the path that a run without errors takes: drawn straight. */
  readonly happy: boolean
  /** Told by a chip on the source, and not drawn. */
  readonly chip: boolean
}

/** A definition, or its machine, as nodes and edges: what every format is written from. */
export interface Diagram {
  readonly id: string
  readonly version: string
  readonly title: string
  readonly kind: 'definition' | 'machine'
  readonly root: DiagramNode
}

/** Visits a node and all below it, parents first. */
export function* nodesBelow(node: DiagramNode): Generator<DiagramNode> {
  yield node
  for (const child of node.children) yield* nodesBelow(child)
}

/** Cuts a text to a length and makes one line of it. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  const points = [...line]
  return points.length <= most ? line : `${points.slice(0, most - 1).join('')}…`
}
