import { assign, enqueueActions, sendParent, StateMachine, stopChild, type AnyStateMachine, type EventObject } from 'xstate'
import type { JsonObject } from '../common/index.ts'
import { MACHINE_EVENTS, type InvokeConfig, type MachineConfig, type NodeConfig, type WorkflowMachines } from '../translation/index.ts'
import type { PathContext, PathOutput, WorkflowOutput } from './context.ts'
import { deskOf, effectLogic, registerDesk, type AnyActorSystem } from './effect.ts'
import { GUARDS } from './guards.ts'
import { EVALUATING_STEPS } from './steps/evaluating.ts'
import { FLOW_STEPS } from './steps/flow.ts'
import type { StepEvent, StepParams } from './steps/step.ts'
import { compileNodes } from './loop/compiled-node.ts'
import type { LightLogic, LoopScope } from './loop/light-machine.ts'
import { Loop } from './loop/loop.ts'
import { persistedOf } from './loop/persisted.ts'
import { enteringState, iterationId, planIterations, takeStep, type InstanceDesk } from './machine-steps.ts'
import type { Program } from './program.ts'

/** Input of a root machine. */
export interface RootInput {
  readonly desk: InstanceDesk
  readonly context: PathContext
  /** Where the machine stands already: its actor is made when it first waits. */
  readonly reached?: MachineSnapshot
}

/** Which loop runs the transitions: XState's own, or ours wherever it can. */
export type LoopChoice = 'stock' | 'fast'

/** How machines are bound. */
export interface BindOptions {
  readonly maxSteps: number
  readonly loop: LoopChoice
}

/** The machines of a definition with their implementations; made once at load. */
export interface BoundMachines {
  readonly root: WorkflowMachine
  /** The same machine beginning at another state; made when first asked for. */
  startingAt(state: number): WorkflowMachine
}

// The many type parameters of StateMachine say nothing here: configs are data.
const Machine = StateMachine as unknown as new (config: unknown, implementations: unknown) => AnyStateMachine

type MachineSnapshot = ReturnType<AnyStateMachine['getInitialSnapshot']>
type PersistedMachine = ReturnType<AnyStateMachine['getPersistedSnapshot']>
type Scope = Parameters<AnyStateMachine['transition']>[2]

/**
 * An XState machine that knows its instance before its first effect starts, and runs in the loop of its own when nobody looks on.
 */
export class WorkflowMachine extends Machine {
  readonly #loop: Loop | undefined
  readonly #arePathsLight: boolean

  constructor(config: unknown, implementations: unknown, program: Program, loop: LoopChoice) {
    super(config, implementations)
    const root = loop === 'stock' ? undefined : compileNodes(this, program, EFFECTS)
    this.#loop = root === undefined ? undefined : new Loop(this, root)
    this.#arePathsLight = Object.values((implementations as Implementations).actors).every((path) => !(path instanceof WorkflowMachine) || path.#loop !== undefined)
  }

  override getInitialSnapshot(scope: Scope, input?: unknown): MachineSnapshot {
    if (isRootInput(input)) registerDesk(scope.system, input.desk)
    const desk = deskOf(scope.system) as InstanceDesk
    if (this.#loop === undefined || desk.isObserved) return super.getInitialSnapshot(scope, input)
    const { context, reached } = input as RootInput
    return reached ?? this.#begin(this.#loop, scope, desk, context)
  }

  #begin(loop: Loop, scope: LoopScope, desk: InstanceDesk, context: PathContext): MachineSnapshot {
    try {
      return loop.begin(scope, desk, context, { type: 'xstate.init' }) as unknown as MachineSnapshot
    } catch (error) {
      return { ...this.resolveState({ value: {}, context: {} }), status: 'error', error } as MachineSnapshot
    }
  }

  /** What runs it without an actor, from its beginning with a context; `undefined` where XState's own loop is to run it or a path of it. */
  lightly(desk: InstanceDesk, context: PathContext): LightLogic | undefined {
    const loop = this.#loop
    if (loop === undefined || desk.isObserved || !this.#arePathsLight) return undefined
    return {
      begin: (scope) => this.#begin(loop, scope, desk, context),
      transition: (snapshot, event, scope) => loop.transition(snapshot, event, scope, desk) ?? { ...snapshot as object, status: 'error', error: event.error },
      persist: persistedOf,
    }
  }

  // XState copies all of the context to look for actors in it; ours holds data.
  override getPersistedSnapshot(snapshot: MachineSnapshot, options?: unknown): PersistedMachine {
    const persisted: object = super.getPersistedSnapshot({ ...snapshot, context: {} } as MachineSnapshot, options)
    return { ...persisted, context: snapshot.context as unknown } as unknown as PersistedMachine
  }

  override transition(snapshot: MachineSnapshot, event: EventObject, scope: Scope): MachineSnapshot {
    const desk = deskOf(scope.system) as InstanceDesk
    if (this.#loop === undefined || event.type === 'xstate.stop' || desk.isObserved) return super.transition(snapshot, event, scope)
    const next = this.#loop.transition(snapshot as never, event, scope, desk)
    return next === undefined ? super.transition(snapshot, event, scope) : next as unknown as MachineSnapshot
  }
}

function isRootInput(input: unknown): input is RootInput {
  return typeof input === 'object' && input !== null && 'desk' in input
}

/**
 * Gives the machine configs of a definition their guards, assigns and actors.
 *
 * `maxSteps` bounds the states entered in a row, so that a definition that loops without waiting ends in an error.
 */
export function bindMachines(program: Program, machines: WorkflowMachines, { maxSteps, loop }: BindOptions): BoundMachines {
  const make = (config: MachineConfig, given: Implementations, ends: Ends): WorkflowMachine => createMachine(config, given, ends, { program, maxSteps, loop })
  const implementations = createImplementations(program)
  const actors: Record<string, unknown> = { ...implementations.actors }
  for (const [src, config] of Object.entries(machines.children)) {
    actors[src] = make(config, implementations, { context: childContext, output: childOutput })
  }
  const complete = { ...implementations, actors }
  const bind = (root: MachineConfig): WorkflowMachine => make(root, complete, { context: rootContext, output: rootOutput })
  const starts = new Map<number, WorkflowMachine>()
  return {
    root: bind(machines.root),
    startingAt(state) {
      const made = starts.get(state) ?? bind({ ...machines.root, initial: `s${String(state)}` })
      starts.set(state, made)
      return made
    },
  }
}

interface Implementations {
  readonly actions: Readonly<Record<string, unknown>>
  readonly guards: Record<string, unknown>
  readonly actors: Record<string, unknown>
}

interface Ends {
  readonly context: unknown
  readonly output: unknown
}

function createMachine(config: MachineConfig, implementations: Implementations, ends: Ends, { program, maxSteps, loop }: BindOptions & { program: Program }): WorkflowMachine {
  // Entering states is counted and ends in an error of its own; this bound is only for what enters none.
  const complete = { ...withInputs(config), ...ends, options: { maxIterations: maxSteps * 10 } }
  return new WorkflowMachine(complete, implementations, program, loop)
}

// The config is plain JSON; what an effect is told from the context is filled in here.
function withInputs(node: NodeConfig): NodeConfig {
  const invoke = node.invoke?.map((config) => ({ ...config, input: inputOf(config) }) as unknown as InvokeConfig)
  const states = node.states === undefined ? undefined : Object.fromEntries(Object.entries(node.states).map(([key, state]) => [key, withInputs(state)]))
  return { ...node, ...(invoke === undefined ? {} : { invoke }), ...(states === undefined ? {} : { states }) }
}

function inputOf({ input }: InvokeConfig): unknown {
  if (input['path'] !== undefined) {
    return ({ context }: { context: PathContext }) => ({ context: input['own'] === true ? { data: context.data, own: true } : { data: null } })
  }
  const retryOf = input['retryOf']
  if (typeof retryOf === 'string') {
    return ({ context }: { context: PathContext }) => ({ ...input, milliseconds: context.retries?.[retryOf]?.delay ?? 0 })
  }
  return input
}

const rootContext = ({ input }: { input: RootInput }): PathContext => input.context
const childContext = ({ input }: { input: { context: PathContext } }): PathContext => input.context

const rootOutput = ({ context }: { context: PathContext }): WorkflowOutput => ({
  data: context.data,
  ending: context.ending ?? 'completed',
  ...(context.continuation === undefined ? {} : { continuation: context.continuation }),
})

const childOutput = ({ context }: { context: PathContext }): PathOutput => {
  if (context.failure !== undefined) return { failure: context.failure }
  return { ...(context.own === true ? { data: context.data } : {}), ...(context.result === undefined ? {} : { result: context.result }) }
}

interface Arguments {
  readonly context: PathContext
  readonly event: StepEvent & EventObject
  readonly system: AnyActorSystem
}

function scopeOf({ system }: Arguments): InstanceDesk {
  return deskOf(system) as InstanceDesk
}

function createImplementations(program: Program): Implementations {
  // XState tells guards nothing of the instance; actions find its program by themselves.
  const guards = Object.fromEntries(Object.entries(GUARDS).map(([name, guard]) =>
    [name, ({ context, event }: Arguments, params: StepParams | undefined) => guard(context, params ?? {}, event, program)]))
  return { actions: ACTIONS, guards, actors: EFFECT_ACTORS }
}

const EFFECTS = ['action', 'condition', 'evaluate', 'event', 'timer'] as const

const EFFECT_ACTORS = Object.fromEntries(EFFECTS.map((effect) => [effect, effectLogic]))

/** Actions that concern more than the context of their own machine. */
const PLUMBING: Readonly<Record<string, unknown>> = {
  enterState: assign((args: Arguments, params: { state: number }) => {
    scopeOf(args).enter(params.state, args.context.data)
    return enteringState(args.context, params.state) as Partial<PathContext>
  }),
  publishEvents: (args: Arguments) => { scopeOf(args).publish(args.context) },
  forwardResult: sendParent((({ event }: Arguments, address: StepParams) =>
    ({ type: MACHINE_EVENTS.resultForwarded, data: { address, output: event.output } })) as never),
  spawnIterations: enqueueActions(((args: Arguments & { enqueue: Enqueue }, { state }: { state: number }) => {
    const { context, enqueue } = args
    const { loop, plan } = planIterations(context, state, scopeOf(args).program)
    enqueue.assign({ loop })
    for (const { id, src, input } of plan) enqueue.spawnChild(src, { id, input })
  }) as never),
  releaseIteration: stopChild((({ event }: Arguments) => event.actorId) as never),
  stopIterations: enqueueActions((({ context, enqueue }: Arguments & { enqueue: Enqueue }, { state }: { state: number }) => {
    for (let index = 0; index < (context.loop?.next ?? 0); index += 1) enqueue.stopChild(iterationId(state, index))
  }) as never),
}

/** The actions of all machines. */
const ACTIONS: Readonly<Record<string, unknown>> = {
  ...PLUMBING,
  ...Object.fromEntries(Object.entries(FLOW_STEPS).map(([name, step]) =>
    [name, assign((args: Arguments, params: StepParams | undefined) => step(args.context, params ?? {}, args.event, scopeOf(args)) as Partial<PathContext>)])),
  ...Object.fromEntries(Object.keys(EVALUATING_STEPS).map((name) =>
    [name, assign((args: Arguments, params: StepParams | undefined) => takeStep(name, args.context, params ?? {}, scopeOf(args)))])),
}

interface Enqueue {
  assign(patch: Partial<PathContext>): void
  spawnChild(src: string, options: { id: string; input: JsonObject }): void
  stopChild(id: string): void
}
