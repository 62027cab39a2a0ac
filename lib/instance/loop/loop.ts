import { createActor, type AnyActorLogic, type AnyActorRef, type AnyStateMachine, type ExecutableActionObject, type StateValue } from 'xstate'
import type { JsonObject } from '../../common/index.ts'
import { MACHINE_EVENTS } from '../../translation/index.ts'
import type { PathContext } from '../context.ts'
import type { EffectInput } from '../effect.ts'
import { enteringState, iterationId, planIterations, takeStep, type InstanceDesk } from '../machine-steps.ts'
import type { StepEvent } from '../steps/step.ts'
import { defaultsOf, type CompiledAction, type CompiledInvoke, type CompiledNode, type CompiledTransition } from './compiled-node.ts'
import { LightEffect } from './light-effect.ts'
import { LightMachine, type LightLogic, type LoopScope } from './light-machine.ts'

type Children = Record<string, AnyActorRef | undefined>

/** A machine snapshot, as far as the loop reads and writes it. */
interface LoopSnapshot {
  readonly status: string
  readonly output: unknown
  readonly error: unknown
  readonly context: PathContext
  readonly children: Children
  readonly _nodes: readonly unknown[]
}

/** What all snapshots have in common that stand at one leaf. */
type SnapshotTemplate = { -readonly [Member in keyof LoopSnapshot]: LoopSnapshot[Member] }

/** One macrostep at work: the parts of a snapshot that change, built into a snapshot once at its end. */
interface Macrostep {
  readonly machine: AnyStateMachine
  readonly scope: LoopScope
  readonly desk: InstanceDesk
  event: StepEvent
  context: PathContext
  leaf: CompiledNode
  /** Changed in place: a copy at each end of one of ten thousand iterations would cost their square, and nobody keeps old snapshots. */
  readonly children: Children
  done: boolean
  /** Nothing of this step is left for its end: what begins now may be carried out at once. */
  isPlain: boolean
  /** An effect that has begun and has no actor yet. */
  begun: CompiledNode['only']
  /** Its token. */
  token: string
  /** An error of an effect that nothing takes. */
  broken: { readonly error: unknown } | undefined
}

/**
 * Runs the transitions, guards and assigns of a machine's own config as XState does, without a snapshot for every microstep and an
 * actor for every effect.
 *
 * A differential test holds its persisted snapshots equal to those of stock XState over all definitions of the corpus.
 */
export class Loop {
  readonly #machine: AnyStateMachine
  readonly #root: CompiledNode
  /** Snapshot to copy for each leaf: nodes, value and tags are the same every time. */
  readonly #templates = new Map<CompiledNode, SnapshotTemplate>()
  readonly #byNode = new Map<unknown, CompiledNode>()

  constructor(machine: AnyStateMachine, root: CompiledNode) {
    this.#machine = machine
    this.#root = root
    const index = (node: CompiledNode): void => { this.#byNode.set(node.node, node) }
    walk(root, index)
  }

  /** The snapshot with which an actor begins. */
  begin(scope: LoopScope, desk: InstanceDesk, context: PathContext, event: StepEvent): LoopSnapshot {
    const step = this.#macrostep(scope, desk, event, context, this.#root, {})
    for (const node of [this.#root, ...defaultsOf(this.#root)]) enterNode(step, node)
    return this.#settle(step)
  }

  /** The snapshot after an event; the same one when nothing takes it. */
  transition(snapshot: LoopSnapshot, event: StepEvent, scope: LoopScope, desk: InstanceDesk): LoopSnapshot | undefined {
    const leaf = this.#byNode.get(snapshot._nodes.at(-1))
    if (leaf === undefined) return undefined
    const transition = select(leaf, event, snapshot.context)
    // What XState does with an error that nothing takes is its own business.
    if (transition === undefined) return event.type.startsWith('xstate.error.') ? undefined : snapshot
    const step = this.#macrostep(scope, desk, event, snapshot.context, leaf, snapshot.children)
    take(step, transition)
    return this.#settle(step)
  }

  #macrostep(scope: LoopScope, desk: InstanceDesk, event: StepEvent, context: PathContext, leaf: CompiledNode, children: Children): Macrostep {
    // Branches take turns, and so do their actions: only the workflow itself may go on at once.
    const isPlain = scope.self._parent === undefined
    return { machine: this.#machine, scope, desk, event, context, leaf, children, done: false, isPlain, begun: undefined, token: '', broken: undefined }
  }

  /** Goes on until nothing is open and nothing can be carried out at once, then builds the snapshot. */
  #settle(step: Macrostep): LoopSnapshot {
    rest(step)
    while (step.begun !== undefined && !step.done) {
      const { leaf, context } = step
      try {
        if (!attempt(step)) break
        rest(step)
      } catch (error) {
        step.broken = { error }
      }
      // As XState has it, the instance then stands where its last whole step led it.
      if (step.broken !== undefined) return this.#snapshot(leaf, { status: 'error', error: step.broken.error, context, children: step.children })
    }
    if (!step.done) return this.#snapshot(step.leaf, step)
    stopAll(step)
    return this.#snapshot(step.leaf, { status: 'done', output: outputOf(step, this.#machine), context: step.context, children: step.children })
  }

  // A copy that then gets other values for what it has is the cheapest object of so many members.
  #snapshot(leaf: CompiledNode, { status = 'active', output, error, context, children }: Partial<LoopSnapshot> & Pick<LoopSnapshot, 'context' | 'children'>): LoopSnapshot {
    const snapshot = { ...this.#template(leaf) }
    snapshot.status = status
    snapshot.output = output
    snapshot.error = error
    snapshot.context = context
    snapshot.children = children
    return snapshot
  }

  #template(leaf: CompiledNode): SnapshotTemplate {
    let template = this.#templates.get(leaf)
    if (template === undefined) {
      const resolved = this.#machine.resolveState({ value: valueOf(leaf) as StateValue, context: {}, status: 'active' }) as unknown as LoopSnapshot
      template = { ...resolved, output: undefined, error: undefined, _nodes: pathOf(leaf).map(({ node }) => node) }
      this.#templates.set(leaf, template)
    }
    return template
  }
}

function walk(node: CompiledNode, visit: (node: CompiledNode) => void, seen = new Set<CompiledNode>()): void {
  if (seen.has(node)) return
  seen.add(node)
  visit(node)
  for (const transition of [...node.always, ...[...node.on.values()].flat()]) for (const entered of transition.enter) walk(entered, visit, seen)
  for (const child of defaultsOf(node)) walk(child, visit, seen)
}

function valueOf(leaf: CompiledNode): string | Record<string, unknown> {
  const [, ...path] = pathOf(leaf)
  return path.slice(0, -1).reduceRight<string | Record<string, unknown>>((value, { node }) => ({ [node.key]: value }), path.at(-1)?.node.key ?? '')
}

function pathOf(leaf: CompiledNode): CompiledNode[] {
  const path: CompiledNode[] = []
  for (let node: CompiledNode | undefined = leaf; node !== undefined; node = node.parent) path.unshift(node)
  return path
}

function select(leaf: CompiledNode, event: StepEvent, context: PathContext): CompiledTransition | undefined {
  const isChild = event.type.startsWith('xstate.done.actor.')
  for (let node: CompiledNode | undefined = leaf; node !== undefined; node = node.parent) {
    const ofIteration = isChild && node.onIteration !== undefined && event.type.startsWith(node.onIteration.prefix) ? node.onIteration.transitions : undefined
    const open = firstOpen(node.on.get(event.type), context, event) ?? firstOpen(ofIteration, context, event)
    if (open !== undefined) return open
  }
  return undefined
}

function eventless({ leaf, context, event }: Macrostep): CompiledTransition | undefined {
  for (let node: CompiledNode | undefined = leaf; node !== undefined; node = node.parent) {
    const open = firstOpen(node.always, context, event)
    if (open !== undefined) return open
  }
  return undefined
}

function firstOpen(transitions: readonly CompiledTransition[] | undefined, context: PathContext, event: StepEvent): CompiledTransition | undefined {
  if (transitions === undefined) return undefined
  for (const transition of transitions) if (transition.guard === undefined || transition.guard(context, event)) return transition
  return undefined
}

/** Takes transitions without events until none is open. */
function rest(step: Macrostep): void {
  for (let next = step.done ? undefined : eventless(step); next !== undefined; next = step.done ? undefined : eventless(step)) take(step, next)
}

/** Carries out the effect that has begun, and takes what came of it; one that takes time gets its actor. Tells whether it was carried out. */
function attempt(step: Macrostep): boolean {
  const { begun, scope, desk, token } = step
  if (begun === undefined) return false
  const { invoke, site } = begun
  step.begun = undefined
  if (scope instanceof LightMachine) scope.begun()
  const result = desk.attempt(site, token, step.context)
  if (result === undefined) {
    startEffect(step, invoke, desk.admit(site.input, token))
    return false
  }
  step.event = 'error' in result
    ? { type: invoke.failed, error: result.error, actorId: invoke.id }
    : { type: invoke.done, output: result.output, actorId: invoke.id }
  const transition = select(step.leaf, step.event, step.context)
  if (transition !== undefined) take(step, transition)
  else if ('error' in result) step.broken = result
  return true
}

function take(step: Macrostep, { domain, actions, enter }: CompiledTransition): void {
  if (domain !== undefined) {
    for (let node = step.leaf; node !== domain && node.parent !== undefined; node = node.parent) exitNode(step, node)
  }
  for (const action of actions) act(step, action)
  for (const node of enter) enterNode(step, node)
}

function exitNode(step: Macrostep, node: CompiledNode): void {
  for (const action of node.exit) act(step, action)
  if (step.begun === node.only) step.begun = undefined
  for (const { id } of node.invokes) stop(step, id)
}

function enterNode(step: Macrostep, node: CompiledNode): void {
  step.leaf = node
  for (const action of node.entry) act(step, action)
  if (node.only !== undefined && step.isPlain && step.desk.isIdle) {
    step.begun = node.only
    step.token = step.desk.nextToken()
  } else for (const invoke of node.invokes) start(step, invoke)
  if (node.isFinal) step.done = true
}

function act(step: Macrostep, action: CompiledAction): void {
  switch (action.kind) {
    case 'flow':
      step.context = { ...step.context, ...action.step(step.context, action.params, step.event, step.desk) } as PathContext
      return
    case 'evaluate':
      step.context = { ...step.context, ...takeStep(action.name, step.context, action.params, step.desk) }
      return
    case 'enter':
      step.desk.enter(action.state, step.context.data)
      step.context = { ...step.context, ...enteringState(step.context, action.state) } as PathContext
      return
    case 'publish': {
      const { context, desk, scope, event } = step
      const info: unknown = { context, event, self: scope.self }
      scope.actionExecutor({ type: 'publishEvents', info, params: undefined, exec: () => { desk.publish(context) } } as ExecutableActionObject)
      return
    }
    case 'forward': forward(step, action.params); return
    case 'spawn': spawnIterations(step, action.state); return
    case 'stop': for (let index = 0; index < (step.context.loop?.next ?? 0); index += 1) stop(step, iterationId(action.state, index)); return
    case 'release': if (step.event.actorId !== undefined) stop(step, step.event.actorId)
  }
}

function forward({ scope, event }: Macrostep, address: JsonObject): void {
  const parent = scope.self._parent
  if (parent === undefined) return
  // As XState's own sendTo does it: after this step.
  scope.defer(() => { parent.send({ type: MACHINE_EVENTS.resultForwarded, data: { address, output: event.output } }) })
}

function spawnIterations(step: Macrostep, state: number): void {
  const { loop, plan } = planIterations(step.context, state, step.desk.program)
  step.context = { ...step.context, loop }
  for (const { id, src, input } of plan) startPath(step, id, src, input)
}

function start(step: Macrostep, invoke: CompiledInvoke): void {
  step.isPlain = false
  const input = inputOf(step, invoke)
  if (invoke.isPath) startPath(step, invoke.id, invoke.src, input)
  else startEffect(step, invoke, step.desk.admit(input as JsonObject))
}

function inputOf({ context }: Macrostep, { input }: CompiledInvoke): unknown {
  return typeof input === 'function' ? input({ context }) : input
}

function startEffect(step: Macrostep, { id, src }: CompiledInvoke, input: EffectInput): void {
  const effect = new LightEffect(step.scope, step.desk, id, src, input)
  step.children[id] = effect as unknown as AnyActorRef
  step.scope.defer(() => { if (effect._processingStatus === 0) effect.start() })
}

function startPath(step: Macrostep, id: string, src: string, input: unknown): void {
  step.isPlain = false
  const logic = step.machine.implementations.actors[src] as AnyActorLogic & { lightly?(desk: InstanceDesk, context: PathContext): LightLogic | undefined }
  const own = logic.lightly?.(step.desk, (input as { context: PathContext }).context)
  const actor = (own === undefined
    ? createActor(logic, { id, src, parent: step.scope.self, syncSnapshot: false, input } as never)
    : new LightMachine({ parent: step.scope, id, src }, own)) as unknown as AnyActorRef & { _processingStatus: number }
  step.children[id] = actor
  step.scope.defer(() => { if (actor._processingStatus === 0) actor.start() })
}

function stop(step: Macrostep, id: string): void {
  const child = step.children[id]
  if (child === undefined) return
  Reflect.deleteProperty(step.children, id)
  end(step, child)
}

// What has ended keeps its children in the snapshot, stopped, as XState does.
function stopAll(step: Macrostep): void {
  for (const child of Object.values(step.children)) if (child !== undefined) end(step, child)
}

function end(step: Macrostep, child: AnyActorRef): void {
  const { scope } = step
  const { _processingStatus: progress } = child as AnyActorRef & { _processingStatus: number }
  if (progress === 1 && !(child instanceof LightEffect)) {
    step.isPlain = false
    scope.defer(() => { scope.stopChild(child) })
  } else (child as unknown as { _stop(): void })._stop()
}

function outputOf({ context }: Macrostep, machine: AnyStateMachine): unknown {
  const { output } = machine.root as unknown as { output: (args: { context: PathContext }) => unknown }
  return output({ context })
}
