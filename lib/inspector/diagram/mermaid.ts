import type { Diagram, DiagramEdge, DiagramNode } from './diagram.ts'

/**
 * Writes a diagram as Mermaid `stateDiagram-v2` text.
 *
 * Names become labels in which every character with a meaning in Mermaid or HTML is written as an entity.
 */
export function toMermaid(diagram: Diagram): string {
  const lines = ['stateDiagram-v2', ...body(diagram.root, 1)]
  return `${lines.join('\n')}\n`
}

function body(node: DiagramNode, depth: number): string[] {
  const indent = '  '.repeat(depth)
  const kinds = new Map(node.children.map(({ id, kind }) => [id, kind]))
  const nodes = node.children.flatMap((child) => {
    if (child.kind === 'initial' || child.kind === 'end') return []
    const name = `${indent}state "${escape([child.label, ...child.lines].join('\n'))}" as ${toId(child.id)}`
    if (child.children.length === 0) return [name]
    return [name, `${indent}state ${toId(child.id)} {`, ...inside(child, depth + 1), `${indent}}`]
  })
  const edges = node.edges.map((edge) => `${indent}${toEnd(edge.source, kinds)} --> ${toEnd(edge.target, kinds)}${toLabel(edge)}`)
  return [...nodes, ...edges]
}

// Mermaid draws regions of a state beside each other when they are parted by two dashes.
function inside(node: DiagramNode, depth: number): string[] {
  if (node.beside !== true) return body(node, depth)
  return node.children.flatMap((child, index) => [
    ...(index === 0 ? [] : [`${'  '.repeat(depth)}--`]),
    ...body({ ...node, children: [child], edges: [] }, depth),
  ])
}

function toId(id: string): string {
  return id.replace(/[^A-Za-z0-9]/gu, '_')
}

function toEnd(id: string, kinds: ReadonlyMap<string, DiagramNode['kind']>): string {
  const kind = kinds.get(id)
  return kind === 'initial' || kind === 'end' ? '[*]' : toId(id)
}

function toLabel({ label, role }: DiagramEdge): string {
  const text = role === 'error' ? `error ${label ?? ''}` : label
  return text === undefined || text.trim() === '' ? '' : ` : ${escape(text)}`
}

function escape(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,_()\n-]/gu, (character) => `#${String(character.codePointAt(0))};`).replaceAll('\n', '<br/>')
}
