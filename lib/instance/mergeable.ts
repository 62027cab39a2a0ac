import type { Json } from '../common/index.ts'
import type { Result } from './commands.ts'
import type { ActionOutput, EventOutput } from './context.ts'
import { actionAt, type Program } from './program.ts'
import { addressOf, type StepParams } from './steps/step.ts'
import { toWorkflowError } from './workflow-error.ts'

/**
 * Gives the outcome of an effect, or an error where what it gave has no place in the data: a `toStateData` that is no path there (S151, S154).
 *
 * Steps of a machine must not fail, and an error of the effect is one that the handlers of the state can take.
 */
export function mergeable(program: Program, input: StepParams, outcome: Result, data: Json): Result {
  if ('error' in outcome || input.state === undefined) return outcome
  try {
    if (input['effect'] === 'action' || input['answer'] === true) {
      const { result } = (outcome.output ?? {}) as ActionOutput
      if (result !== undefined && result !== null) actionAt(program, addressOf(input)).target?.merge(data, result)
    } else if (input['effect'] === 'event') {
      const { entry, payload } = outcome.output as EventOutput
      const { filter, target } = program.states[input.state]?.eventFilters[entry] ?? {}
      if (filter?.useData === true && payload !== null) target?.merge(data, payload)
    }
    return outcome
  } catch (error) {
    return { error: toWorkflowError(error) }
  }
}
