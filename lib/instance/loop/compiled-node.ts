import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { JsonObject } from '../../common/index.ts'
import type { PathContext } from '../context.ts'
import { siteOf, type ActionSite } from '../perform.ts'
import type { Program } from '../program.ts'
import { GUARDS, type Guard } from '../guards.ts'
import { FLOW_STEPS } from '../steps/flow.ts'
import { EVALUATING_STEPS } from '../steps/evaluating.ts'
import type { FlowStep, StepEvent, StepParams } from '../steps/step.ts'

/** A state node as the loop reads it: everything looked up once. */
export interface CompiledNode {
  readonly node: AnyStateNode
  readonly parent: CompiledNode | undefined
  readonly depth: number
  readonly entry: readonly CompiledAction[]
  readonly exit: readonly CompiledAction[]
  readonly invokes: readonly CompiledInvoke[]
  /** The effect that is all a leaf is there for, where it can be carried out at once: an action, or its condition. */
  readonly only: { readonly invoke: CompiledInvoke; readonly site: ActionSite } | undefined
  always: readonly CompiledTransition[]
  /** Transitions by event type. */
  readonly on: ReadonlyMap<string, readonly CompiledTransition[]>
  /** Transitions for the end of an iteration of a foreach state, whose event types begin alike. */
  onIteration: { readonly prefix: string; readonly transitions: readonly CompiledTransition[] } | undefined
  readonly isFinal: boolean
  /** First child of a compound node. */
  initial: CompiledNode | undefined
}

/** A transition with its guard and actions resolved, and the nodes it leaves and enters found. */
export interface CompiledTransition {
  readonly source: CompiledNode
  readonly guard: ((context: PathContext, event: StepEvent) => boolean) | undefined
  readonly actions: readonly CompiledAction[]
  /** Nodes to enter, from the outermost to a leaf; none without a target. */
  enter: readonly CompiledNode[]
  /** Nodes below it are left; undefined without a target. */
  domain: CompiledNode | undefined
}

/** An action by kind: changes of the context are plain functions, the rest concerns other actors. */
export type CompiledAction =
  | { readonly kind: 'flow'; readonly step: FlowStep; readonly params: StepParams }
  | { readonly kind: 'evaluate'; readonly name: string; readonly params: StepParams }
  | { readonly kind: 'enter'; readonly state: number }
  | { readonly kind: 'publish' }
  | { readonly kind: 'forward'; readonly params: StepParams }
  | { readonly kind: 'spawn' | 'stop'; readonly state: number }
  | { readonly kind: 'release' }

/** A service that a node invokes while it is active. */
export interface CompiledInvoke {
  readonly id: string
  /** Types of the events that tell its end. */
  readonly done: string
  readonly failed: string
  readonly src: string
  readonly input: JsonObject | ((args: { context: PathContext }) => unknown)
  /** Invokes a machine: an actor of its own. */
  readonly isPath: boolean
}

/** Effects that may need nothing from outside. */
const AT_ONCE: ReadonlySet<string> = new Set(['action', 'condition'])

const ITERATIONS = /^xstate\.done\.actor\.s\d+\.i\.\*$/
const PLUMBING: Readonly<Record<string, (params: StepParams) => CompiledAction>> = {
  enterState: ({ state = 0 }) => ({ kind: 'enter', state }),
  publishEvents: () => ({ kind: 'publish' }),
  forwardResult: (params) => ({ kind: 'forward', params }),
  spawnIterations: ({ state = 0 }) => ({ kind: 'spawn', state }),
  stopIterations: ({ state = 0 }) => ({ kind: 'stop', state }),
  releaseIteration: () => ({ kind: 'release' }),
}

/**
 * Compiles the nodes of a bound machine for the loop.
 *
 * Gives `undefined` when the config has something that the loop does not know; the machine then runs as XState runs it.
 */
export function compileNodes(machine: AnyStateMachine, program: Program, effects: readonly string[]): CompiledNode | undefined {
  const compiled = new Map<AnyStateNode, CompiledNode>()
  const pending: { readonly transition: CompiledTransition; readonly targets: readonly AnyStateNode[] | undefined }[] = []
  let known = true as boolean

  function compile(node: AnyStateNode, parent: CompiledNode | undefined): CompiledNode {
    if (node.type === 'parallel' || node.type === 'history') known = false
    const on = new Map<string, readonly CompiledTransition[]>()
    const invokes = node.invoke.map((definition) => compileInvoke(definition as unknown as { id: string; src: string; input: CompiledInvoke['input'] }))
    const result: CompiledNode = {
      node,
      parent,
      depth: parent === undefined ? 0 : parent.depth + 1,
      entry: node.entry.map(compileAction),
      exit: node.exit.map(compileAction),
      invokes,
      only: node.type === 'atomic' && invokes.length === 1 ? onlyOf(invokes[0], program) : undefined,
      always: [],
      on,
      onIteration: undefined,
      isFinal: node.type === 'final',
      initial: undefined,
    }
    compiled.set(node, result)
    result.always = (node.always ?? []).map((transition) => compileTransition(transition, result))
    for (const [descriptor, transitions] of node.transitions) {
      const list = transitions.map((transition) => compileTransition(transition, result))
      if (ITERATIONS.test(descriptor)) result.onIteration = { prefix: descriptor.slice(0, -1), transitions: list }
      else if (descriptor.includes('*')) known = false
      else on.set(descriptor, list)
    }
    for (const child of Object.values(node.states)) compile(child as AnyStateNode, result)
    return result
  }

  function compileTransition(definition: { target?: readonly AnyStateNode[] | undefined; guard?: unknown; actions: readonly unknown[]; reenter: boolean }, source: CompiledNode): CompiledTransition {
    if (definition.reenter || (definition.target?.length ?? 0) > 1) known = false
    const transition: CompiledTransition = {
      source,
      guard: compileGuard(definition.guard),
      actions: definition.actions.map(compileAction),
      enter: [],
      domain: undefined,
    }
    pending.push({ transition, targets: definition.target })
    return transition
  }

  function compileGuard(guard: unknown): CompiledTransition['guard'] {
    if (guard === undefined) return undefined
    const { type, params = {} } = guard as { type: string; params?: StepParams }
    const decide: Guard | undefined = GUARDS[type]
    if (decide === undefined) {
      known = false
      return undefined
    }
    return (context, event) => decide(context, params, event, program)
  }

  function compileAction(action: unknown): CompiledAction {
    const { type, params = {} } = action as { type: string; params?: StepParams }
    const step = FLOW_STEPS[type]
    if (step !== undefined) return { kind: 'flow', step, params }
    if (EVALUATING_STEPS[type] !== undefined) return { kind: 'evaluate', name: type, params }
    const plumbing = PLUMBING[type]
    if (plumbing === undefined) known = false
    return plumbing?.(params) ?? { kind: 'publish' }
  }

  function compileInvoke({ id, src, input }: { id: string; src: string; input: CompiledInvoke['input'] }): CompiledInvoke {
    return { id, done: `xstate.done.actor.${id}`, failed: `xstate.error.actor.${id}`, src, input, isPath: !effects.includes(src) }
  }

  const root = compile(machine.root, undefined)
  for (const [node, result] of compiled) {
    const first = node.type === 'compound' ? node.initial.target[0] : undefined
    result.initial = first === undefined ? undefined : compiled.get(first)
  }
  for (const { transition, targets } of pending) {
    const target = targets?.[0] === undefined ? undefined : compiled.get(targets[0])
    if (target !== undefined) aim(transition, target)
  }
  return known ? root : undefined
}

function onlyOf(invoke: CompiledInvoke | undefined, program: Program): CompiledNode['only'] {
  if (invoke === undefined || !AT_ONCE.has(invoke.src) || typeof invoke.input === 'function') return undefined
  return { invoke, site: siteOf(program, invoke.input) }
}

/** Finds the nodes that a transition leaves and enters (SCXML: least common compound ancestor). */
function aim(transition: CompiledTransition, target: CompiledNode): void {
  const { source } = transition
  const domain = target === source || isBelow(target, source) ? source : commonAncestor(source, target)
  transition.domain = domain
  transition.enter = [...downTo(target, domain), ...defaultsOf(target)]
}

function isBelow(node: CompiledNode, ancestor: CompiledNode): boolean {
  for (let parent = node.parent; parent !== undefined; parent = parent.parent) if (parent === ancestor) return true
  return false
}

function commonAncestor(source: CompiledNode, target: CompiledNode): CompiledNode {
  let ancestor = target.parent ?? target
  while (ancestor.parent !== undefined && !isBelow(source, ancestor)) ancestor = ancestor.parent
  return ancestor
}

function downTo(target: CompiledNode, above: CompiledNode): CompiledNode[] {
  const path: CompiledNode[] = []
  for (let node: CompiledNode | undefined = target; node !== undefined && node !== above; node = node.parent) path.unshift(node)
  return path
}

/** The nodes entered by default below a node. */
export function defaultsOf(node: CompiledNode): CompiledNode[] {
  const path: CompiledNode[] = []
  for (let child = node.initial; child !== undefined; child = child.initial) path.push(child)
  return path
}
