import { isJsonObject, type Json, type JsonObject } from '../common/index.ts'
import type { State } from '../definition/index.ts'
import type { LoopProgress, PathContext } from './context.ts'
import type { Result } from './commands.ts'
import type { EffectDesk } from './effect.ts'
import { nodeIdOf } from './node-id.ts'
import type { ActionSite } from './perform.ts'
import type { Program } from './program.ts'
import { EVALUATING_STEPS } from './steps/evaluating.ts'
import type { Patch, StepParams, StepScope } from './steps/step.ts'
import { toWorkflowError } from './workflow-error.ts'

/** The side of an instance that its machines see. */
export interface InstanceDesk extends EffectDesk, StepScope {
  /** An effect that begins now would be the next to be carried out: nothing else waits for its turn. */
  readonly isIdle: boolean
  /** Gives the token of an effect that begins now. */
  nextToken(): string
  /**
   * Carries out an effect that begins now, without an actor for it.
   *
   * Gives `undefined` when it takes time: it is then to be admitted and posted, and what has been prepared is not prepared again.
   */
  attempt(site: ActionSite, token: string, context: PathContext): Result | undefined
  /** Somebody looks on: every microstep has to be seen. */
  readonly isObserved: boolean
  /** A state is entered. @throws {@link InstanceError} `INSTANCE_LOOP` when there is no end to it */
  enter(state: number, data: Json): void
  /** Takes produced events up: they are sent once the machine is at rest. */
  publish(context: PathContext): void
}

/** Parts of a context that belong to the state at work and mean nothing to the next one. */
const OF_ONE_STATE = ['choice', 'retries', 'join', 'loop', 'expected', 'answer', 'outbox'] as const

/** What changes when a state is entered: what the one before left behind is forgotten, it would be stored with every wait. */
export function enteringState(context: PathContext, state: number): Patch {
  const patch: { -readonly [Key in keyof Patch]: Patch[Key] } = { state }
  for (const part of OF_ONE_STATE) if (context[part] !== undefined) patch[part] = undefined
  return patch
}

/** Id of the actor of an iteration. */
export function iterationId(state: number, index: number): string {
  return `s${String(state)}.i.${String(index)}`
}

/** The next batch of a foreach state: what to spawn, and how far the loop is then (S077). */
export function planIterations(context: PathContext, state: number, program: Program): {
  readonly loop: LoopProgress
  readonly plan: readonly { readonly id: string; readonly src: string; readonly input: JsonObject }[]
} {
  const loop = context.loop as LoopProgress
  const end = Math.min(loop.next + loop.batch, loop.items.length)
  const plan = loop.items.slice(loop.next, end).map((item, offset) => ({
    id: iterationId(state, loop.next + offset),
    src: `s${String(state)}.iteration`,
    input: { context: iterationContext(context.data, item, program.states[state]?.state) },
  }))
  return { loop: { ...loop, next: end }, plan }
}

// An iteration sees its value as `.param`, as the specification writes it, and as `$param`, as SonataFlow does (S079).
function iterationContext(data: Json, item: Json, state: State | undefined): PathContext & JsonObject {
  const name = state?.type === 'foreach' ? state.iterationParam : 'item'
  return { data: isJsonObject(data) ? { ...data, [name]: item } : data, own: true, variables: { [name]: item } }
}

/** Runs one evaluating step; an error becomes the failure that the next transition looks at. */
export function takeStep(name: string, context: PathContext, params: StepParams, scope: StepScope): Partial<PathContext> {
  if (context.failure !== undefined) return {}
  try {
    return EVALUATING_STEPS[name]?.(context, params, scope) as Partial<PathContext>
  } catch (error) {
    return { failure: { ...toWorkflowError(error), failedNodeId: nodeIdOf(scope.program, params) } }
  }
}
