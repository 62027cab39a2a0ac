import type { Action, Definition, ParallelState, State } from '../../definition/index.ts'
import { shorten, type Chip, type Diagram, type DiagramEdge, type DiagramNode } from './diagram.ts'
import { actionLine, nameOfAction, stateLines } from './state-lines.ts'
import { happyPath, happyWay, waysOn, type WayOn } from './ways-on.ts'

/** So many error edges into one state, and they become chips: more lines cross than a reader can follow. */
const MOST_ERROR_EDGES = 3
/** So many plain ends share one end node; beyond it each has its own. */
const MOST_SHARED_ENDS = 3
/** A side way across more states than this is told by a chip. */
const LONGEST_SIDE_WAY = 5
const LONGEST_LABEL = 40

/** What the edges of a definition are decided by. */
interface Plan {
  readonly definition: Definition
  readonly index: ReadonlyMap<string, number>
  readonly happy: ReadonlySet<string>
  /** Distance of each state from the start. */
  readonly depth: ReadonlyMap<string, number>
  readonly errorsInto: ReadonlyMap<string, number>
  readonly sharesEnd: boolean
}

/** Edges and chips of one state, and the end nodes that they need. */
interface Outgoing {
  readonly edges: readonly DiagramEdge[]
  readonly chips: readonly Chip[]
  readonly ends: readonly DiagramNode[]
}

/**
 * Draws a definition as nodes and edges: states, branches, actions and ways on, in the definition's words and order (inspector.md).
 *
 * Equal definitions give deeply equal diagrams. References to states that do not exist are left out.
 */
export function definitionDiagram(definition: Definition): Diagram {
  const plan = createPlan(definition)
  const main = definition.states.filter(({ usedForCompensation }) => !usedForCompensation)
  const compensating = definition.states.filter(({ usedForCompensation }) => usedForCompensation)
  const outgoing = new Map(definition.states.map((state) => [state.name, outgoingOf(state, plan)]))
  const toNode = (state: State): DiagramNode => stateNode(state, plan, outgoing.get(state.name)?.chips ?? [])
  const of = (states: readonly State[]): Outgoing[] => states.flatMap(({ name }) => outgoing.get(name) ?? [])
  const start = plan.index.get(definition.start.stateName)
  const startEdges = start === undefined ? [] : [startEdge(definition, start)]
  const edges = of(main).flatMap((each) => each.edges)
  const ends = of(main).flatMap((each) => each.ends)
  const sharesEnd = edges.some(({ target }) => target === 'end')
  const root: DiagramNode = {
    ...emptyNode('root', 'machine', definition.name ?? definition.id),
    children: [
      emptyNode('initial', 'initial', 'start'),
      ...main.map(toNode),
      ...ends,
      ...(sharesEnd ? [emptyNode('end', 'end', 'end')] : []),
      ...(compensating.length === 0 ? [] : [compensationGroup(compensating.map(toNode), of(compensating))]),
    ],
    edges: [...startEdges, ...edges],
  }
  return { id: definition.id, version: definition.version, title: definition.name ?? definition.id, kind: 'definition', root }
}

function startEdge({ start }: Definition, index: number): DiagramEdge {
  const schedule = start.schedule?.interval ?? start.schedule?.cron?.expression
  const label = schedule === undefined ? {} : { label: `⏱ ${shorten(schedule, LONGEST_LABEL)}` }
  return { id: 'start', source: 'initial', target: stateId(index), role: 'transition', happy: true, chip: false, ...label }
}

function compensationGroup(children: readonly DiagramNode[], outgoing: readonly Outgoing[]): DiagramNode {
  const inside = new Set(children.map(({ id }) => id))
  const edges = outgoing.flatMap((each) => each.edges).filter(({ target }) => inside.has(target))
  return { ...emptyNode('compensation', 'compensation', 'Compensation'), children, edges }
}

function createPlan(definition: Definition): Plan {
  const index = new Map(definition.states.map(({ name }, position) => [name, position]))
  const errorsInto = new Map<string, number>()
  let ends = 0
  for (const state of definition.states) {
    for (const way of waysOn(state)) {
      if (way.role === 'error' && way.next !== undefined) errorsInto.set(way.next, (errorsInto.get(way.next) ?? 0) + 1)
      if (way.ends && isPlain(way) && !state.usedForCompensation) ends += 1
    }
  }
  return { definition, index, happy: new Set(happyPath(definition)), depth: depths(definition), errorsInto, sharesEnd: ends <= MOST_SHARED_ENDS }
}

function isPlain({ role }: WayOn): boolean {
  return role === 'transition' || role === 'default'
}

function depths(definition: Definition): Map<string, number> {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const depth = new Map([[definition.start.stateName, 0]])
  // A Map is walked in the order of insertion, what is added on the way included: breadth first.
  for (const [name, distance] of depth) {
    const state = states.get(name)
    for (const { next } of state === undefined ? [] : waysOn(state)) {
      if (next !== undefined && states.has(next) && !depth.has(next)) depth.set(next, distance + 1)
    }
  }
  return depth
}

function outgoingOf(state: State, plan: Plan): Outgoing {
  const position = plan.index.get(state.name) ?? 0
  const source = stateId(position)
  const edges: DiagramEdge[] = []
  const chips: Chip[] = []
  const ends: DiagramNode[] = []
  const straight = plan.happy.has(state.name) ? happyWay(state) : undefined
  for (const [number, way] of waysOn(state).entries()) {
    const target = targetOf(way, position, plan)
    if (target === undefined) continue
    const id = `${source}-way-${String(number)}`
    const chip = isChip(state, way, plan)
    const happy = straight !== undefined && isSameWay(way, straight)
    if (chip) chips.push({ text: shorten(`${way.label ?? ''} → ${way.next ?? 'end'}`, LONGEST_LABEL), role: way.role, edge: id })
    const label = way.label === undefined ? {} : { label: shorten(way.label, LONGEST_LABEL) }
    edges.push({ id, source, target, role: way.role, happy, chip, ...label })
    if (target.startsWith(`${source}-end`) && !ends.some((end) => end.id === target)) ends.push(emptyNode(target, 'end', 'end'))
  }
  if (state.compensatedBy !== undefined) chips.push({ text: shorten(`↩ ${state.compensatedBy}`, LONGEST_LABEL), role: 'compensation', edge: `${source}-compensation` })
  return { edges, chips, ends }
}

function isSameWay(one: WayOn, other: WayOn): boolean {
  return one.role === other.role && one.next === other.next && one.label === other.label
}

function targetOf(way: WayOn, position: number, plan: Plan): string | undefined {
  if (way.next !== undefined) {
    const next = plan.index.get(way.next)
    return next === undefined ? undefined : stateId(next)
  }
  // A condition or an error that ends does so beside its state: a line down to the common end would run around everything.
  return isPlain(way) && plan.sharesEnd ? 'end' : `${stateId(position)}-end`
}

function isChip(state: State, { role, next }: WayOn, { depth, errorsInto, definition, happy }: Plan): boolean {
  if (next === undefined) return false
  const target = definition.states.find(({ name }) => name === next)
  // An edge does not cross the border of a group.
  if (target !== undefined && target.usedForCompensation !== state.usedForCompensation) return true
  if (role === 'error' && (errorsInto.get(next) ?? 0) > MOST_ERROR_EDGES) return true
  const from = depth.get(state.name)
  const to = depth.get(next)
  if (from === undefined || to === undefined || (role === 'transition' && happy.has(state.name) && to > from)) return false
  return Math.abs(to - from) > LONGEST_SIDE_WAY
}

function stateId(position: number): string {
  return `state-${String(position)}`
}

function stateNode(state: State, { definition, index }: Plan, chips: readonly Chip[]): DiagramNode {
  const position = index.get(state.name) ?? 0
  const id = stateId(position)
  const pointer = `/states/${String(position)}`
  return {
    ...emptyNode(id, 'state', state.name),
    type: state.type,
    state: state.name,
    pointer,
    lines: stateLines(state, definition),
    chips,
    ...(state.type === 'parallel' ? { children: branchNodes(state, { id, pointer, definition }), beside: true } : {}),
  }
}

function branchNodes(state: ParallelState, { id, pointer, definition }: { id: string; pointer: string; definition: Definition }): DiagramNode[] {
  return state.branches.map((branch, number) => {
    const branchId = `${id}-branch-${String(number)}`
    const place = { state: state.name, branch: branch.name }
    const actions = branch.actions.map((action, position) => actionNode(action, position, { id: branchId, pointer: `${pointer}/branches/${String(number)}`, definition, place }))
    const chain = [`${branchId}-initial`, ...actions.map((action) => action.id), `${branchId}-end`]
    return {
      ...emptyNode(branchId, 'branch', branch.name),
      ...place,
      pointer: `${pointer}/branches/${String(number)}`,
      children: [emptyNode(chain[0] ?? '', 'initial', 'start'), ...actions, emptyNode(chain.at(-1) ?? '', 'end', 'end')],
      edges: chain.slice(1).map((target, step): DiagramEdge => ({
        id: `${branchId}-step-${String(step)}`, source: chain[step] ?? '', target, role: 'transition', happy: true, chip: false,
      })),
    }
  })
}

interface BranchPlace {
  readonly id: string
  readonly pointer: string
  readonly definition: Definition
  readonly place: { readonly state: string; readonly branch: string }
}

function actionNode(action: Action, position: number, { id, pointer, definition, place }: BranchPlace): DiagramNode {
  const name = nameOfAction(action, position)
  return {
    ...emptyNode(`${id}-action-${String(position)}`, 'action', name),
    ...place,
    action: name,
    pointer: `${pointer}/actions/${String(position)}`,
    lines: [shorten(actionLine({ ...action, name: '' }, position, definition).replace('▸  · ', '▸ '), LONGEST_LABEL)],
  }
}

function emptyNode(id: string, kind: DiagramNode['kind'], label: string): DiagramNode {
  return { id, kind, label, lines: [], chips: [], children: [], edges: [] }
}
