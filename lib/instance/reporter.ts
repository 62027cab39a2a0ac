import type { Json, JsonObject } from '../common/index.ts'
import type { Result } from './commands.ts'
import type { EffectInput } from './effect.ts'
import type { HistoryStep } from './history.ts'
import { placeAt } from './node-id.ts'
import type { Program } from './program.ts'
import type { StepParams } from './steps/step.ts'

/** A step as an instance tells it; `sequence` and `at` are the host's to give. */
export type ReportedStep = Omit<HistoryStep, 'sequence' | 'at'>

/** Tells the steps of an instance to whoever keeps a history or looks on; costs nothing where nobody does. */
export class Reporter {
  readonly #program: Program
  readonly #tell: ((step: ReportedStep) => void) | undefined

  constructor(program: Program, tell: ((step: ReportedStep) => void) | undefined) {
    this.#program = program
    this.#tell = tell
  }

  /** Tells a step that concerns the instance as a whole. */
  step(step: ReportedStep): void {
    this.#tell?.(step)
  }

  /** Tells that a state is entered, given by its index, with the data that it finds. */
  entered(state: number, data: Json): void {
    this.#tell?.({ type: 'stateEntered', ...placeAt(this.#program, { state }), data })
  }

  /** Tells which condition a switch state took; its default when there is none of that index. */
  chose(index: number, choice: number): void {
    const state = this.#program.states[index]?.state
    if (this.#tell === undefined || state?.type !== 'switch') return
    const condition = state.dataConditions[choice]
    const name = condition === undefined ? 'default' : condition.name ?? condition.condition
    this.#tell({ type: 'conditionTaken', ...placeAt(this.#program, { state: index }), detail: { condition: name, index: choice } })
  }

  /** Tells a step of an effect, with its place in the definition. */
  effect(type: ReportedStep['type'], input: EffectInput | StepParams, more: Pick<ReportedStep, 'data' | 'detail'> = {}): void {
    this.#tell?.({ type, ...placeAt(this.#program, input), ...more })
  }

  /** Tells how an action ended. */
  action(input: EffectInput, outcome: Result): void {
    if (this.#tell === undefined) return
    if ('error' in outcome) this.effect('actionFailed', input, { detail: { ...outcome.error } as unknown as JsonObject })
    else this.effect('actionCompleted', input, { data: (outcome.output as { result?: Json } | undefined)?.result ?? null })
  }
}
