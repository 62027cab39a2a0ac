import { expect } from 'chai'
import fc from 'fast-check'
import { createSystemClock, type Json } from '../../../../lib/common/index.ts'
import { loadDefinition, type Definition } from '../../../../lib/definition/index.ts'
import { createDiagram } from '../../../../lib/inspector/diagram/draw.ts'
import { nodesBelow } from '../../../../lib/inspector/diagram/diagram.ts'
import { toDot } from '../../../../lib/inspector/diagram/dot.ts'
import { toElkGraph } from '../../../../lib/inspector/diagram/elk-graph.ts'
import { readForeignConfig } from '../../../../lib/inspector/diagram/foreign-config.ts'
import { createLayouter, findElk } from '../../../../lib/inspector/diagram/layout.ts'
import { machineDiagram } from '../../../../lib/inspector/diagram/machine-diagram.ts'
import { toMermaid } from '../../../../lib/inspector/diagram/mermaid.ts'
import { wordDuration } from '../../../../lib/inspector/diagram/state-lines.ts'
import { escape, toSvg } from '../../../../lib/inspector/diagram/svg.ts'
import { createVirtualClock } from '../../../support/clock.ts'

type States = readonly Record<string, Json>[]

async function define(states: States, more: Record<string, Json> = {}): Promise<Definition> {
  const document = { id: 'case', specVersion: '0.8', start: String(states[0]?.['name']), states, ...more } as Json
  return (await loadDefinition({ uri: 'case.sw.json', document }, { profile: 'sonataflow', root: '.' })).definition
}

const inject = (name: string, way: Record<string, Json>): Record<string, Json> => ({ name, type: 'inject', data: { name }, ...way })
const edgesOf = (definition: Definition): { readonly source: string; readonly target: string; readonly role: string; readonly chip: boolean; readonly label?: string }[] =>
  [...nodesBelow(createDiagram(definition).root)].flatMap(({ edges }) => [...edges])

describe('inspector: diagram of a definition', () => {
  it('has a node for each state in order, an initial node and one end', async () => {
    const { root } = createDiagram(await define([inject('A', { transition: 'B' }), inject('B', { end: true })]))
    expect(root.children.map(({ kind, label }) => `${kind} ${label}`)).to.deep.equal(['initial start', 'state A', 'state B', 'end end'])
    expect(root.edges.map(({ source, target }) => `${source} > ${target}`)).to.deep.equal(['initial > state-0', 'state-0 > state-1', 'state-1 > end'])
  })

  it('gives a condition that ends an end node beside its switch, and the default the happy way', async () => {
    const definition = await define([
      { name: 'S', type: 'switch', dataConditions: [{ name: 'no', condition: '${ .no }', end: true }, { condition: '${ .other }', transition: 'B' }], defaultCondition: { transition: 'A' } },
      inject('A', { end: true }), inject('B', { end: true }),
    ])
    const { root } = createDiagram(definition)
    const ways = root.edges.filter(({ source }) => source === 'state-0')
    expect(ways.map(({ role, target, label, happy }) => ({ role, target, label, happy }))).to.deep.equal([
      { role: 'condition', target: 'state-0-end', label: 'no', happy: false },
      { role: 'condition', target: 'state-2', label: '.other', happy: false },
      { role: 'default', target: 'state-1', label: 'default', happy: true },
    ])
  })

  it('makes chips of four and more error edges into one state, lines of three', async () => {
    const failing = (count: number): States => [
      ...Array.from({ length: count }, (_, index) => ({
        ...inject(`S${String(index)}`, { transition: index + 1 < count ? `S${String(index + 1)}` : 'Failed' }), onErrors: [{ errorRef: 'e', transition: 'Failed' }],
      })),
      inject('Failed', { end: true }),
    ]
    const errors = [{ name: 'e', code: 'x' }]
    const chips = (definition: Definition): number => edgesOf(definition).filter(({ role, chip }) => role === 'error' && chip).length
    expect(chips(await define(failing(3), { errors }))).to.equal(0)
    expect(chips(await define(failing(4), { errors }))).to.equal(4)
  })

  it('draws branches as lanes with a node for each action', async () => {
    const definition = await define([{
      name: 'P', type: 'parallel', end: true, branches: ['x', 'y'].map((name) => ({ name, actions: [{ name: 'one', functionRef: 'f' }, { name: 'two', functionRef: 'f' }] })),
    }], { functions: [{ name: 'f', type: 'expression', operation: '.a' }] })
    const lanes = createDiagram(definition).root.children.find(({ kind }) => kind === 'state')?.children ?? []
    expect(lanes.map(({ label, children }) => [label, ...children.map((child) => child.label)])).to.deep.equal([['x', 'start', 'one', 'two', 'end'], ['y', 'start', 'one', 'two', 'end']])
  })

  it('puts states of compensation into a group and tells them by chips', async () => {
    const definition = await define([
      { ...inject('A', { end: { compensate: true } }), compensatedBy: 'Undo' },
      { name: 'Undo', type: 'inject', data: {}, usedForCompensation: true },
    ])
    const { root } = createDiagram(definition)
    expect(root.children.find(({ kind }) => kind === 'compensation')?.children.map(({ label }) => label)).to.deep.equal(['Undo'])
    expect(root.children.find(({ label }) => label === 'A')?.chips.map(({ text }) => text)).to.deep.equal(['↩ Undo'])
  })

  it('is equal for equal definitions', async () => {
    const states = [inject('A', { end: true })]
    expect(createDiagram(await define(states))).to.deep.equal(createDiagram(await define(states)))
  })

  it('words durations by their two largest units', () => {
    expect([0, 250, 5000, 90_000, 5_400_000, 90_061_000].map(wordDuration)).to.deep.equal(['0 ms', '250 ms', '5 s', '1 min 30 s', '1 h 30 min', '1 d 1 h'])
  })
})

const HOSTILE = '</script><img src=x onerror=alert(1)>"\'&]]>\u0000\ud800'

describe('inspector: texts of diagrams', () => {
  it('leave no markup of a name in SVG', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (name) => {
      const text = escape(name)
      expect(text).to.not.match(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)|[\u0000-\u0008\u000b\u000c\u000e-\u001f]/u)
      expect(text, 'no lone surrogate').to.not.match(/\p{Surrogate}/u)
    }))
  })

  it('leave no character with a meaning in Mermaid labels, and quote all of DOT', async () => {
    const definition = await define([inject(HOSTILE.replace('\u0000', ''), { end: true })])
    const mermaid = toMermaid(createDiagram(definition))
    expect(mermaid).to.not.match(/<(?!br\/>)|onerror=/u)
    const dot = toDot(createDiagram(definition))
    for (const line of dot.split('\n')) expect((line.replaceAll('\\"', '').match(/"/gu) ?? []).length % 2).to.equal(0)
  })
})

describe('inspector: machines of other programs', () => {
  it('read short and long forms', () => {
    const config = readForeignConfig({
      id: 'light', initial: 'green',
      states: { green: { on: { TIMER: 'yellow' } }, yellow: { always: [{ target: 'red', guard: 'late' }] }, red: { invoke: { src: 'load', onDone: '#done' }, states: { a: {} } }, done: { id: 'done', type: 'final' } },
    })
    const { root } = machineDiagram(config, '1')
    expect(root.edges.map(({ source, target, label }) => [source, target, label])).to.deep.equal([
      ['root-initial', 'root-green', undefined], ['root-green', 'root-yellow', 'TIMER'], ['root-yellow', 'root-red', '[late]'], ['root-red', 'root-done', 'done'],
    ])
  })

  it('take any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      machineDiagram(readForeignConfig(value as Json), '')
      machineDiagram(readForeignConfig({ states: value as Json, on: value as Json, invoke: value as Json, initial: value as Json }), '')
    }))
  })
})

describe('inspector: layout', function () {
  this.timeout(60_000)

  it('says which package is missing', async () => {
    const layouter = createLayouter({ clock: createSystemClock(), elk: undefined })
    const error: unknown = await layouter.layout({ id: 'root' }).catch((thrown: unknown) => thrown)
    expect((error as Error).message).to.contain('npm install elkjs')
  })

  it('gives up after its limit and works again afterwards', async function () {
    if (findElk() === undefined) this.skip()
    const clock = createVirtualClock()
    const layouter = createLayouter({ clock, limit: 10 })
    const first = layouter.layout({ id: 'root', children: [{ id: 'a', width: 1, height: 1 }] }).catch((thrown: unknown) => thrown)
    await Promise.resolve()
    await new Promise((resolve) => { setImmediate(resolve) })
    clock.advance(11)
    expect((await first as Error).message).to.contain('longer than 10 ms')
    const next = await layouter.layout({ id: 'root', children: [{ id: 'a', width: 1, height: 1 }] })
    expect(next.children?.[0]?.x).to.be.a('number')
    await layouter.close()
  })

  it('survives a graph that elkjs cannot take', async function () {
    if (findElk() === undefined) this.skip()
    const layouter = createLayouter({ clock: createSystemClock() })
    const error: unknown = await layouter.layout({ id: 'root', children: [{ id: 'a' }], edges: [{ id: 'e', sources: ['a'], targets: ['nowhere'] }] }).catch((thrown: unknown) => thrown)
    expect((error as { code?: string }).code).to.equal('NOT_AVAILABLE')
    await layouter.close()
  })

  it('draws hostile names as text, byte-equal each time, in both themes and directions', async function () {
    if (findElk() === undefined) this.skip()
    const definition = await define([inject(HOSTILE.replace('\u0000', ''), { end: true })])
    const layouter = createLayouter({ clock: createSystemClock() })
    const diagram = createDiagram(definition)
    const draw = async (): Promise<string> => toSvg(diagram, await layouter.layout(toElkGraph(diagram, 'right')), 'dark')
    const [one, other] = [await draw(), await draw()]
    await layouter.close()
    expect(one).to.equal(other)
    expect(one).to.not.contain('<img')
    expect(one).to.not.contain('</script')
  })
})
