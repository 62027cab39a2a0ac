import { createHash } from 'node:crypto'
import type { ElkNode } from 'elkjs/lib/elk-api.js'
import type { Json } from '../../common/index.ts'
import type { LoadedDefinition } from '../../definition/index.ts'
import { createDiagram, type DrawOptions } from './draw.ts'
import type { Diagram } from './diagram.ts'
import { toElkGraph, type Direction } from './elk-graph.ts'
import { readForeignConfig } from './foreign-config.ts'
import type { Layouter } from './layout.ts'
import { machineDiagram } from './machine-diagram.ts'
import { toSvg } from './svg.ts'

/** Draws the definitions in service as SVG, each laid out once. */
export interface Drawer {
  /** @throws {@link RequestError} `NOT_AVAILABLE` when it cannot be laid out */
  draw(loaded: LoadedDefinition, options: Pick<DrawOptions, 'machine' | 'direction' | 'theme'>): Promise<string>
  /** Draws the machine of another program, from its config as JSON. @throws {@link RequestError} `NOT_AVAILABLE` */
  drawForeign(config: Json): Promise<string>
}

/** Layouts kept; the oldest goes first. */
const MOST_KEPT = 200

/** Creates a {@link Drawer} that lays out when first asked and remembers by the text of the definition. */
export function createDrawer(layouter: Layouter): Drawer {
  const layouts = new Map<string, Promise<ElkNode>>()
  const layOut = (key: string, diagram: Diagram, direction: Direction): Promise<ElkNode> => {
    const layout = layouts.get(key) ?? layouter.layout(toElkGraph(diagram, direction))
    layouts.set(key, layout)
    // What failed is tried again when it is next asked for.
    layout.catch(() => layouts.delete(key))
    for (const oldest of layouts.keys()) {
      if (layouts.size <= MOST_KEPT) break
      layouts.delete(oldest)
    }
    return layout
  }
  return {
    async draw({ definition, source }, { machine = false, direction = 'down', theme = 'auto' }) {
      const diagram = createDiagram(definition, machine)
      return toSvg(diagram, await layOut([source.uri, source.hash, machine, direction].join(' '), diagram, direction), theme)
    },
    async drawForeign(config) {
      const diagram = machineDiagram(readForeignConfig(config), '')
      const key = createHash('sha256').update(JSON.stringify(config)).digest('hex')
      return toSvg(diagram, await layOut(key, diagram, 'down'), 'auto')
    },
  }
}
