import type { Definition, State } from '../definition/index.ts'
import type { Address, MachineConfig, Named, NodeConfig, NodeMeta, TransitionConfig } from './machine-config.ts'

/** What is known while one definition is translated. */
export interface TranslationScope {
  readonly definition: Definition
  /** Index of each state by name. */
  readonly stateIndex: ReadonlyMap<string, number>
  /** Machines of spawned paths, filled while states are translated. */
  readonly children: Record<string, MachineConfig>
  /** What follows compensations, filled likewise. */
  readonly followUps: FollowUp[]
}

/** What a state still does after the compensation that it started, as a node beside it: going back into it would enter it twice. */
interface FollowUp {
  /** Index of the state. */
  readonly state: number
  readonly node: NodeConfig & { readonly id: string }
}

/** A path of execution whose nodes are being made: a state of the root machine, or a spawned path. */
export interface PathScope extends TranslationScope {
  /** Generated id of the enclosing node; names in definitions are free text and no address. */
  readonly id: string
  readonly address: Address
  readonly state: State
  readonly nodes: Record<string, NodeConfig>
  /** Assign that takes up the result of an action: into the own data, or forwarded to the workflow data. */
  readonly takeResult: string
  /** Transitions for an error that arises in node `key`; `skip` is where operators may go on. */
  readonly onFailure: FailureTransitions
  /** The same for an error while the state is left, which its handlers cannot take: they would leave it the same way again. */
  readonly onLeavingFailure: FailureTransitions
}

/** Makes the transitions for an error in node `key`. */
type FailureTransitions = (path: PathScope, key: string, skip: string) => readonly TransitionConfig[]

/** Absolute target of a node of the path. */
export function targetOf(path: PathScope, key: string): string {
  return `#${path.id}.${key}`
}

/** Absolute target of a workflow state. */
export function stateTarget(scope: TranslationScope, name: string): string {
  return `#s${String(scope.stateIndex.get(name))}`
}

/** Describes a node of the path. */
export function metaOf(path: PathScope, role: NodeMeta['role'], extra: { branch?: string; action?: string } = {}): NodeMeta {
  return { role, state: path.state.name, ...extra }
}

/** Assigns that evaluate expressions; the others are taken when these are done. */
const EVALUATED: ReadonlySet<string> = new Set([
  'applyInput', 'applyOutput', 'inject', 'choose', 'prepareEvents', 'prepareContinuation', 'prepareJoin', 'prepareLoop', 'collectIterations',
])

/**
 * Adds a pure step: entry assigns that may set `failure`, then transitions.
 *
 * JSONata evaluates asynchronously and a guard cannot wait, so there the same assigns run as an effect and the transitions
 * are taken afterwards; machines of synchronous languages stay free of it.
 */
export function addStep(path: PathScope, key: string, assigns: readonly Named[], next: readonly TransitionConfig[], skip: string): string {
  const failing = path.onFailure(path, key, skip)
  if (path.definition.expressionLang !== 'jsonata') {
    const always = [...failing.map(whenFailed), ...next]
    path.nodes[key] = { entry: assigns, always, meta: metaOf(path, 'step') }
    return targetOf(path, key)
  }
  const evaluated = `${key}_evaluated`
  path.nodes[key] = {
    meta: metaOf(path, 'step'),
    invoke: [{
      id: `${path.id}.${key}`,
      src: 'evaluate',
      input: { effect: 'evaluate', ...path.address, steps: assigns.filter(({ type }) => EVALUATED.has(type)).map(({ type, params }) => ({ type, params: params ?? {} })) },
      onDone: [{ target: targetOf(path, evaluated), actions: [{ type: 'takeEvaluated' }] }],
      onError: failing,
    }],
  }
  path.nodes[evaluated] = {
    always: next,
    entry: assigns.filter(({ type }) => !EVALUATED.has(type)),
    meta: metaOf(path, 'step'),
  }
  return targetOf(path, key)
}

function whenFailed(transition: TransitionConfig): TransitionConfig {
  return transition.guard === undefined ? { ...transition, guard: { type: 'hasFailure' } } : transition
}
