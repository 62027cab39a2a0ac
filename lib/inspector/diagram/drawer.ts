import type { ElkNode } from 'elkjs/lib/elk-api.js'
import type { LoadedDefinition } from '../../definition/index.ts'
import { createDiagram, type DrawOptions } from './draw.ts'
import { toElkGraph } from './elk-graph.ts'
import type { Layouter } from './layout.ts'
import { toSvg } from './svg.ts'

/** Draws the definitions in service as SVG, each laid out once. */
export interface Drawer {
  /** @throws {@link RequestError} `NOT_AVAILABLE` when it cannot be laid out */
  draw(loaded: LoadedDefinition, options: Pick<DrawOptions, 'machine' | 'direction' | 'theme'>): Promise<string>
}

/** Layouts kept; the oldest goes first. */
const MOST_KEPT = 200

/** Creates a {@link Drawer} that lays out when first asked and remembers by the text of the definition. */
export function createDrawer(layouter: Layouter): Drawer {
  const layouts = new Map<string, Promise<ElkNode>>()
  return {
    async draw({ definition, source }, { machine = false, direction = 'down', theme = 'auto' }) {
      const diagram = createDiagram(definition, machine)
      const key = [source.uri, source.hash, machine, direction].join(' ')
      const layout = layouts.get(key) ?? layouter.layout(toElkGraph(diagram, direction))
      layouts.set(key, layout)
      // What failed is tried again when it is next asked for.
      layout.catch(() => layouts.delete(key))
      for (const oldest of layouts.keys()) {
        if (layouts.size <= MOST_KEPT) break
        layouts.delete(oldest)
      }
      return toSvg(diagram, await layout, theme)
    },
  }
}
