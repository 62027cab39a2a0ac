import type { StateType } from '../../definition/index.ts'
import type { EdgeRole } from './diagram.ts'

/** Whose colours a chart has; `auto` follows the reader's system. */
export type Theme = 'light' | 'dark' | 'auto'

/** Colours by role; texts on `card` and `ground` have a contrast of 4.5:1 and more. */
interface Palette {
  readonly ground: string
  readonly card: string
  readonly lane: string
  readonly ink: string
  readonly muted: string
  readonly border: string
  readonly line: string
  readonly condition: string
  readonly error: string
  readonly types: Readonly<Record<StateType, string>>
}

/** The two palettes. */
export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    ground: '#f6f8fb', card: '#ffffff', lane: '#fbfcfe', ink: '#16213a', muted: '#55617a', border: '#c3ccdc', line: '#7d8aa3', condition: '#8f2fa8', error: '#c22525',
    types: {
      operation: '#3553cf', switch: '#8f2fa8', inject: '#0b6b7c', parallel: '#5a38c0', event: '#9a4a06', sleep: '#4b5563', foreach: '#6b5900', callback: '#a61e4d',
    },
  },
  dark: {
    ground: '#131926', card: '#1c2435', lane: '#182030', ink: '#e9eef8', muted: '#a9b4c8', border: '#3d4963', line: '#8391ad', condition: '#e2a1f2', error: '#ff8f8f',
    types: {
      operation: '#9ab0ff', switch: '#e2a1f2', inject: '#6fd6e5', parallel: '#bba6ff', event: '#ffb066', sleep: '#b6bfcc', foreach: '#dccb66', callback: '#faa2c1',
    },
  },
}

/** Colour of a way on, by what it means. */
export function edgeColour(role: EdgeRole, palette: Palette): string {
  if (role === 'error' || role === 'timeout') return palette.error
  return role === 'condition' || role === 'default' ? palette.condition : palette.line
}

/**
 * Writes the style sheet of a chart: variables of the theme, and the rules that use them.
 *
 * Shapes carry literal colours as well, for viewers that know no variables.
 */
export function styleSheet(theme: Theme): string {
  const variables = theme === 'dark' ? rule(PALETTES.dark) : rule(PALETTES.light)
  const dark = theme === 'auto' ? `@media (prefers-color-scheme:dark){${rule(PALETTES.dark)}}` : ''
  return `${variables}${dark}${RULES}`
}

function rule({ types, ...colours }: Palette): string {
  const named = [...Object.entries(colours), ...Object.entries(types).map(([type, colour]) => [`t-${type}`, colour] as const)]
  return `.swf{${named.map(([name, colour]) => `--${name}:${colour}`).join(';')}}`
}

const TYPE_RULES = (Object.keys(PALETTES.light.types) as StateType[])
  .map((type) => `.swf .t-${type}>.stripe,.swf .t-${type}>.type{fill:var(--t-${type})}`).join('')

const RULES = [
  '.swf text{font-family:Arial,"Liberation Sans",sans-serif;font-size:12px;fill:var(--muted)}',
  '.swf .title{font-size:14px;font-weight:bold;fill:var(--ink)}.swf .type{font-weight:bold}',
  '.swf .ground{fill:var(--ground)}.swf .card{fill:var(--card);stroke:var(--border)}',
  '.swf .k-branch>.card,.swf .k-compensation>.card{fill:var(--lane);stroke-dasharray:5 4}',
  '.swf .dot{fill:var(--ink)}.swf .ring{fill:var(--card);stroke:var(--ink)}',
  '.swf .way{fill:none;stroke:var(--line)}.swf .head{fill:var(--line)}',
  '.swf .r-condition .way,.swf .r-default .way{stroke:var(--condition)}.swf .r-condition .head,.swf .r-default .head{fill:var(--condition)}',
  '.swf .r-error .way,.swf .r-timeout .way{stroke:var(--error);stroke-dasharray:6 4}.swf .r-error .head,.swf .r-timeout .head{fill:var(--error)}',
  '.swf .pill rect,.swf .chip rect{fill:var(--card);stroke:var(--border)}',
  '.swf .r-condition text,.swf .r-default text{fill:var(--condition)}.swf .r-error text,.swf .r-timeout text{fill:var(--error)}',
  TYPE_RULES,
].join('')
