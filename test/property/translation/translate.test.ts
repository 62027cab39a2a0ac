import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject } from '../../../lib/common/index.ts'
import { loadDefinition, type Definition } from '../../../lib/definition/index.ts'
import { translate, type MachineConfig, type NodeConfig, type TransitionConfig, type WorkflowMachines } from '../../../lib/translation/index.ts'
import { arbitraryWorkflow } from '../definition/arbitrary-workflow.ts'

async function definitionOf(document: JsonObject, profile: 'spec' | 'sonataflow', expressionLang: string): Promise<Definition> {
  return (await loadDefinition({ uri: 'generated.sw.json', document: { ...document, expressionLang } }, { profile, root: '.' })).definition
}

/** All nodes of a machine, by the ids under which targets name them. */
function nodesOf(machine: MachineConfig): Map<string, NodeConfig> {
  const nodes = new Map<string, NodeConfig>()
  const visit = (node: NodeConfig, id: string): void => {
    const own = node.id ?? id
    nodes.set(own, node)
    for (const [key, child] of Object.entries(node.states ?? {})) visit(child, `${own}.${key}`)
  }
  visit(machine, machine.id)
  return nodes
}

function transitionsOf(node: NodeConfig): readonly TransitionConfig[] {
  return [
    ...(node.always ?? []),
    ...Object.values(node.on ?? {}).flat(),
    ...(node.invoke ?? []).flatMap(({ onDone, onError }) => [...onDone, ...(onError ?? [])]),
  ]
}

function assertSound({ root, children }: WorkflowMachines): void {
  for (const machine of [root, ...Object.values(children)]) {
    const nodes = nodesOf(machine)
    for (const [id, node] of nodes) {
      if (id !== machine.id || machine !== root) expect(node.meta, `meta of ${id}`).to.have.property('role')
      if (node.states !== undefined) expect(node.states, `initial of ${id}`).to.have.property(String(node.initial))
      for (const { target } of transitionsOf(node)) {
        if (target !== undefined) expect(nodes.has(target.slice(1)), `${id} goes to ${target}`).to.equal(true)
      }
      for (const { src, id: invoked } of node.invoke ?? []) {
        const isEffect = ['action', 'condition', 'evaluate', 'event', 'timer'].includes(src)
        expect(isEffect || src in children, `${invoked} invokes ${src}`).to.equal(true)
      }
    }
  }
}

describe('property: translate', () => {
  for (const language of ['jq', 'jsonata']) {
    for (const profile of ['spec', 'sonataflow'] as const) {
      it(`is total, pure and sound over valid definitions in ${language}, profile ${profile}`, async () => {
        await fc.assert(fc.asyncProperty(arbitraryWorkflow, async (document) => {
          const definition = await definitionOf(document, profile, language)
          const before = JSON.stringify(definition)
          const machines = translate(definition)
          expect(JSON.stringify(definition), 'the definition is left alone').to.equal(before)
          expect(translate(JSON.parse(before) as Definition), 'equal definitions give equal configs').to.deep.equal(machines)
          expect(JSON.parse(JSON.stringify(machines)), 'configs are plain JSON').to.deep.equal(machines)
          assertSound(machines)
        }), { numRuns: Number(process.env['FAST_CHECK_RUNS'] ?? 40) })
      })
    }
  }
})
