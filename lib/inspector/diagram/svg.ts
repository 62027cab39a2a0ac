import type { ElkExtendedEdge, ElkNode, ElkPoint } from 'elkjs/lib/elk-api.js'
import { nodesBelow, type Diagram, type DiagramEdge, type DiagramNode, type EdgeRole } from './diagram.ts'
import { MEASURES, pillWidth, titleOf } from './measures.ts'
import { edgeColour, PALETTES, styleSheet, type Theme } from './themes.ts'
import { textWidth } from './text-width.ts'

const CORNER = 8
const HEAD = 8

/** A node with what is known of it in the definition. */
type NodesById = ReadonlyMap<string, DiagramNode>

/** Everything that drawing one chart needs. */
interface Drawing {
  readonly nodes: NodesById
  readonly edges: ReadonlyMap<string, DiagramEdge>
  readonly palette: (typeof PALETTES)['light']
}

/**
 * Writes a laid-out diagram as SVG.
 *
 * Well-formed, byte-equal for equal input; names are escaped. Nodes and edges carry `data-id`, so that a page can mark them.
 */
export function toSvg(diagram: Diagram, layout: ElkNode, theme: Theme): string {
  const nodes = new Map([...nodesBelow(diagram.root)].map((node) => [node.id, node]))
  const edges = new Map([...nodes.values()].flatMap((node) => node.edges.map((edge) => [edge.id, edge])))
  const palette = theme === 'dark' ? PALETTES.dark : PALETTES.light
  const drawing = { nodes, edges, palette }
  const [width, height] = [round(layout.width ?? 0), round(layout.height ?? 0)]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="swf" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Arial, Liberation Sans, sans-serif" font-size="12">`,
    `<title>${escape(`${diagram.title} (${diagram.id} ${diagram.version})`)}</title>`,
    `<style>${styleSheet(theme)}</style>`,
    `<rect class="ground" width="${width}" height="${height}" fill="${palette.ground}"/>`,
    ...inside(layout, drawing),
    '</svg>',
  ].join('\n') + '\n'
}

function inside({ edges = [], children = [] }: ElkNode, drawing: Drawing): string[] {
  return [...edges.flatMap((edge) => drawEdge(edge, drawing)), ...children.flatMap((child) => drawNode(child, drawing)), ...edges.flatMap((edge) => drawLabels(edge, drawing))]
}

function drawNode(box: ElkNode, drawing: Drawing): string[] {
  const node = drawing.nodes.get(box.id)
  if (node === undefined) return []
  const type = node.type === undefined ? '' : ` t-${node.type}`
  const place = `transform="translate(${round(box.x ?? 0)} ${round(box.y ?? 0)})"`
  return [`<g class="node k-${node.kind}${type}" data-id="${escape(node.id)}" ${place}>`, ...shape(node, box, drawing), ...inside(box, drawing), '</g>']
}

function shape(node: DiagramNode, { width = 0, height = 0 }: ElkNode, { palette }: Drawing): string[] {
  const middle = round(width / 2)
  if (node.kind === 'initial') return [`<circle class="dot" cx="${middle}" cy="${middle}" r="6" fill="${palette.ink}"/>`]
  if (node.kind === 'end') {
    return [
      `<circle class="ring" cx="${middle}" cy="${middle}" r="10" fill="${palette.card}" stroke="${palette.ink}" stroke-width="2"/>`,
      `<circle class="dot" cx="${middle}" cy="${middle}" r="6" fill="${palette.ink}"/>`,
    ]
  }
  const dashed = node.kind === 'branch' || node.kind === 'compensation' ? ' stroke-dasharray="5 4"' : ''
  const colour = node.type === undefined ? palette.muted : palette.types[node.type]
  return [
    `<rect class="card" width="${round(width)}" height="${round(height)}" rx="9" fill="${palette.card}" stroke="${palette.border}" stroke-width="1.25"${dashed}/>`,
    `<text class="title" x="${MEASURES.left}" y="23" font-size="14" font-weight="bold" fill="${palette.ink}">${escape(titleOf(node))}</text>`,
    ...(node.type === undefined ? [] : [
      `<rect class="stripe" x="8" y="8" width="4" height="${round(height - 16)}" rx="2" fill="${colour}"/>`,
      `<text class="type" x="${round(width - MEASURES.right)}" y="23" text-anchor="end" font-weight="bold" fill="${colour}">${node.type}</text>`,
    ]),
    ...node.lines.map((line, index) => `<text x="${MEASURES.left}" y="${MEASURES.head + index * MEASURES.line + 9}" fill="${palette.muted}">${escape(line)}</text>`),
    ...node.chips.map((chip, index) => {
      const top = MEASURES.head + node.lines.length * MEASURES.line + index * MEASURES.chip
      return pill({ text: chip.text, role: chip.role, id: chip.edge, x: MEASURES.left, y: top, width: pillWidth(chip.text), kind: 'chip' }, palette)
    }),
  ]
}

interface Pill {
  readonly text: string
  readonly role: EdgeRole
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly kind: 'pill' | 'chip'
}

function pill({ text, role, id, x, y, width, kind }: Pill, palette: Drawing['palette']): string {
  const colour = role === 'transition' || role === 'compensation' ? palette.muted : edgeColour(role, palette)
  const height = MEASURES.pill - 2
  return `<g class="${kind} r-${role}" data-id="${escape(id)}" transform="translate(${round(x)} ${round(y)})">` +
    `<rect width="${round(width)}" height="${height}" rx="10" fill="${palette.card}" stroke="${palette.border}"/>` +
    `<text x="${round((width - textWidth(text, MEASURES.text)) / 2)}" y="14" fill="${colour}">${escape(text)}</text></g>`
}

function drawEdge({ id, sections = [] }: ElkExtendedEdge, { edges, palette }: Drawing): string[] {
  const edge = edges.get(id)
  if (edge === undefined) return []
  const colour = edgeColour(edge.role, palette)
  const dashed = edge.role === 'error' || edge.role === 'timeout' ? ' stroke-dasharray="6 4"' : ''
  return sections.map(({ startPoint, bendPoints = [], endPoint }) => {
    const points = [startPoint, ...bendPoints, endPoint]
    const before = points.at(-2) ?? startPoint
    return `<g class="edge r-${edge.role}" data-id="${escape(id)}">` +
      `<path class="way" d="${route([...points.slice(0, -1), towards(endPoint, before, HEAD - 2)])}" fill="none" stroke="${colour}" stroke-width="1.5"${dashed}/>` +
      `<path class="head" d="${arrowhead(endPoint, before)}" fill="${colour}"/></g>`
  })
}

function drawLabels({ id, labels = [] }: ElkExtendedEdge, { edges, palette }: Drawing): string[] {
  const role = edges.get(id)?.role ?? 'transition'
  return labels.map(({ text = '', x = 0, y = 0, width = 0 }) => pill({ text, role, id, x, y: y + 1, width, kind: 'pill' }, palette))
}

/** A line through points with rounded corners. */
function route(points: readonly ElkPoint[]): string {
  return points.map((point, index) => {
    const before = points[index - 1]
    const after = points[index + 1]
    if (before === undefined) return `M${at(point)}`
    if (after === undefined) return `L${at(point)}`
    const radius = Math.min(CORNER, distance(before, point) / 2, distance(point, after) / 2)
    return `L${at(towards(point, before, radius))}Q${at(point)} ${at(towards(point, after, radius))}`
  }).join('')
}

function arrowhead(tip: ElkPoint, before: ElkPoint): string {
  const base = towards(tip, before, HEAD)
  const length = distance(tip, before)
  const [x, y] = length === 0 ? [0, 1] : [(tip.x - before.x) / length, (tip.y - before.y) / length]
  const half = HEAD / 2
  return `M${at(tip)}L${at({ x: base.x - y * half, y: base.y + x * half })}L${at({ x: base.x + y * half, y: base.y - x * half })}Z`
}

function towards(from: ElkPoint, to: ElkPoint, length: number): ElkPoint {
  const whole = distance(from, to)
  if (whole === 0) return from
  return { x: from.x + (to.x - from.x) * length / whole, y: from.y + (to.y - from.y) * length / whole }
}

function distance(one: ElkPoint, other: ElkPoint): number {
  return Math.hypot(one.x - other.x, one.y - other.y)
}

function at({ x, y }: ElkPoint): string {
  return `${round(x)} ${round(y)}`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' }

/** Writes a text for XML: markup as entities, characters that XML does not know as U+FFFD. */
export function escape(text: string): string {
  return text.replace(/[\p{Surrogate}\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, '\ufffd').replace(/[&<>"']/gu, (character) => ENTITIES[character] ?? character)
}
