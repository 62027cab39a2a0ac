import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { createSystemClock } from '../../lib/common/index.ts'
import { loadDefinitions } from '../../lib/definition/index.ts'
import { createDiagram } from '../../lib/inspector/diagram/draw.ts'
import { toElkGraph } from '../../lib/inspector/diagram/elk-graph.ts'
import { createLayouter } from '../../lib/inspector/diagram/layout.ts'
import { toDot } from '../../lib/inspector/diagram/dot.ts'
import { toMermaid } from '../../lib/inspector/diagram/mermaid.ts'
import { toSvg } from '../../lib/inspector/diagram/svg.ts'
import { ROOT } from './support.ts'

const CORPUS = resolve(ROOT, process.env['SONATINA_CORPUS'] ?? '../shared/corpus', 'workflows')

describe('inspector: diagrams of the corpus', function () {
  this.timeout(600_000)

  it('draws every definition that loads, in every form', async function () {
    if (!existsSync(CORPUS)) {
      process.stderr.write(`      skipped: no corpus at ${CORPUS}\n`)
      this.skip()
    }
    const { loaded } = await loadDefinitions([CORPUS], { profile: 'sonataflow', root: CORPUS })
    const layouter = createLayouter({ clock: createSystemClock(), limit: 60_000 })
    expect(loaded.length).to.be.greaterThan(50)
    for (const { definition, source } of loaded) {
      const diagram = createDiagram(definition)
      expect(toMermaid(diagram)).to.match(/^stateDiagram-v2\n/u)
      expect(toDot(diagram)).to.match(/^digraph /u)
      createDiagram(definition, true)
      const svg = toSvg(diagram, await layouter.layout(toElkGraph(diagram, 'down')).catch((error: unknown) => { throw Object.assign(error as Error, { message: `${source.uri}: ${(error as Error).message}` }) }), 'auto')
      for (const { name } of definition.states) expect(svg).to.contain('class="title"', name)
    }
    await layouter.close()
  })
})
