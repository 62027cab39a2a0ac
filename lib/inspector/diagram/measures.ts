import { shorten, type DiagramNode } from './diagram.ts'
import { textWidth } from './text-width.ts'

/** Sizes in pixels at 100 %, shared by layout and drawing. */
export const MEASURES = {
  title: 14,
  text: 12,
  left: 20,
  right: 14,
  head: 36,
  line: 18,
  chip: 24,
  below: 8,
  initial: 12,
  end: 22,
  pill: 22,
} as const

const LONGEST_TITLE = 44

/** Title of a node as it is drawn. */
export function titleOf(node: DiagramNode): string {
  return shorten(node.label, LONGEST_TITLE)
}

/** Width and height of a node's own texts: of the whole box when nothing is inside. */
export function sizeOf(node: DiagramNode): { readonly width: number; readonly height: number } {
  if (node.kind === 'initial') return { width: MEASURES.initial, height: MEASURES.initial }
  if (node.kind === 'end') return { width: MEASURES.end, height: MEASURES.end }
  const type = node.type === undefined ? 0 : 22 + textWidth(node.type, MEASURES.text, 'bold')
  const widths = [
    textWidth(titleOf(node), MEASURES.title, 'bold') + type,
    ...node.lines.map((line) => textWidth(line, MEASURES.text)),
    ...node.chips.map(({ text }) => pillWidth(text)),
  ]
  return { width: Math.max(...widths) + MEASURES.left + MEASURES.right, height: textHeight(node) }
}

function textHeight({ lines, chips }: DiagramNode): number {
  const texts = lines.length * MEASURES.line + chips.length * MEASURES.chip
  return MEASURES.head + (texts === 0 ? 0 : texts + MEASURES.below)
}

/** Width of a text in a pill. */
export function pillWidth(text: string): number {
  return textWidth(text, MEASURES.text) + 18
}
