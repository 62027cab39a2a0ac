import type { Clock } from '../../common/index.ts'
import type { Definition } from '../../definition/index.ts'
import { translate } from '../../translation/index.ts'
import { definitionDiagram } from './definition-diagram.ts'
import type { Diagram } from './diagram.ts'
import { toDot } from './dot.ts'
import { toElkGraph, type Direction } from './elk-graph.ts'
import { createLayouter, type Layouter } from './layout.ts'
import { machineDiagram } from './machine-diagram.ts'
import { toMermaid } from './mermaid.ts'
import { toSvg } from './svg.ts'
import type { Theme } from './themes.ts'

/** How a diagram is drawn. */
export interface DrawOptions {
  readonly format: 'svg' | 'mermaid' | 'dot' | 'json'
  /** The XState machine in place of the definition. @default false */
  readonly machine?: boolean
  /** @default 'down' */
  readonly direction?: Direction
  /** @default 'auto' */
  readonly theme?: Theme
}

/** Makes the diagram of a definition, or of its machine. */
export function createDiagram(definition: Definition, machine = false): Diagram {
  return machine ? machineDiagram(translate(definition).root, definition.version) : definitionDiagram(definition)
}

/**
 * Draws a definition as a text of the format asked for.
 *
 * @throws {@link RequestError} `NOT_AVAILABLE` when an SVG is asked for and cannot be laid out
 */
async function drawDefinition(definition: Definition, layouter: Layouter, options: DrawOptions): Promise<string> {
  const diagram = createDiagram(definition, options.machine)
  if (options.format === 'json') return `${JSON.stringify(diagram, undefined, 2)}\n`
  if (options.format === 'mermaid') return toMermaid(diagram)
  if (options.format === 'dot') return toDot(diagram)
  return toSvg(diagram, await layouter.layout(toElkGraph(diagram, options.direction ?? 'down')), options.theme ?? 'auto')
}

/** Draws one definition and ends the thread that laid it out: for programs that draw and stop. */
export async function drawOnce(definition: Definition, clock: Clock, options: DrawOptions): Promise<string> {
  const layouter = createLayouter({ clock })
  try {
    return await drawDefinition(definition, layouter, options)
  } finally {
    await layouter.close()
  }
}
