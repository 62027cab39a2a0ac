import type { Diagram, DiagramEdge, DiagramNode, EdgeRole } from './diagram.ts'

const COLOURS: Readonly<Record<EdgeRole, string>> = {
  transition: '#5b6b86', condition: '#9c36b5', default: '#9c36b5', error: '#c92a2a', timeout: '#c92a2a', compensation: '#5b6b86',
}

/** Writes a diagram in the DOT language of Graphviz; labels are quoted, never HTML. */
export function toDot({ root, id }: Diagram): string {
  const lines = [
    `digraph ${quote(id)} {`,
    '  compound=true; newrank=true; fontname="Helvetica";',
    '  node [shape=box, style=rounded, fontname="Helvetica", fontsize=12];',
    '  edge [fontname="Helvetica", fontsize=11];',
    ...body(root, 1),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

function body(node: DiagramNode, depth: number): string[] {
  const indent = '  '.repeat(depth)
  const byId = new Map(node.children.map((child) => [child.id, child]))
  return [
    ...node.children.flatMap((child) => (child.children.length === 0 ? [`${indent}${leaf(child)}`] : cluster(child, depth))),
    ...node.edges.map((edge) => `${indent}${arrow(edge, byId)}`),
  ]
}

function leaf(node: DiagramNode): string {
  if (node.kind === 'initial') return `${quote(node.id)} [shape=circle, style=filled, fillcolor=black, label="", width=0.15];`
  if (node.kind === 'end') return `${quote(node.id)} [shape=doublecircle, style=filled, fillcolor=black, label="", width=0.12];`
  return `${quote(node.id)} [label=${quote([node.label, ...node.lines].join('\n'))}];`
}

function cluster(node: DiagramNode, depth: number): string[] {
  const indent = '  '.repeat(depth)
  const style = node.kind === 'state' ? 'rounded' : '"rounded,dashed"'
  return [`${indent}subgraph ${quote(`cluster_${node.id}`)} {`, `${indent}  label=${quote([node.label, ...node.lines].join('\n'))}; style=${style};`, ...body(node, depth + 1), `${indent}}`]
}

// Edges of Graphviz join nodes; one of a cluster is drawn from its first node and cut at its border.
function arrow({ source, target, role, label }: DiagramEdge, byId: ReadonlyMap<string, DiagramNode>): string {
  const [from, to] = [byId.get(source), byId.get(target)]
  const options = [
    `color=${quote(COLOURS[role])}`,
    ...(label === undefined ? [] : [`label=${quote(label)}`, `fontcolor=${quote(COLOURS[role])}`]),
    ...(role === 'error' ? ['style=dashed'] : []),
    ...(from === undefined || from.children.length === 0 ? [] : [`ltail=${quote(`cluster_${source}`)}`]),
    ...(to === undefined || to.children.length === 0 ? [] : [`lhead=${quote(`cluster_${target}`)}`]),
  ]
  return `${quote(lastLeaf(from) ?? source)} -> ${quote(firstLeaf(to) ?? target)} [${options.join(', ')}];`
}

function firstLeaf(node: DiagramNode | undefined): string | undefined {
  const child = node?.children[0]
  return child === undefined ? node?.id : firstLeaf(child)
}

function lastLeaf(node: DiagramNode | undefined): string | undefined {
  const child = node?.children.at(-1)
  return child === undefined ? node?.id : lastLeaf(child)
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
