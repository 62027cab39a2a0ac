import type { JsonObject } from '../../common/index.ts'
import type { PathContext } from '../context.ts'
import { EVALUATING_STEPS } from './evaluating.ts'
import type { Patch, StepScope } from './step.ts'

/** A step of an `evaluate` effect. */
export interface NamedStep extends JsonObject {
  readonly type: string
  readonly params: JsonObject
}

/**
 * Takes steps whose expressions are evaluated asynchronously (JSONata), one after another, and gives all that they change.
 *
 * Rejects with what an expression throws.
 */
export async function evaluateSteps(steps: readonly NamedStep[], context: PathContext, scope: StepScope): Promise<Patch> {
  let changed: Patch = {}
  for (const { type, params } of steps) {
    const step = EVALUATING_STEPS[type]
    if (step !== undefined) changed = { ...changed, ...await step({ ...context, ...changed } as PathContext, params, scope) }
  }
  return changed
}
