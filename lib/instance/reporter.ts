import type { Json, JsonObject } from '../common/index.ts'
import type { Result } from './commands.ts'
import type { HistoryStep } from './history.ts'
import { placeAt } from './node-id.ts'
import type { Place, Program } from './program.ts'
import type { StepParams } from './steps/step.ts'

/** A step as an instance tells it; `sequence` and `at` are the host's to give. */
export type ReportedStep = Omit<HistoryStep, 'sequence' | 'at'>

// Steps have room for what the host fills in, and are copied into last: V8 makes such objects fastest.

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
    const place = this.#program.states[state]?.place
    if (place !== undefined) this.#tell?.({ type: 'stateEntered', sequence: 0, at: 0, data, ...place } as ReportedStep)
  }

  /** Tells which condition a switch state took; its default when there is none of that index. */
  chose(index: number, choice: number): void {
    const { state, place } = this.#program.states[index] ?? {}
    if (this.#tell === undefined || state?.type !== 'switch') return
    const condition = state.dataConditions[choice]
    const name = condition === undefined ? 'default' : condition.name ?? condition.condition
    this.#tell({ type: 'conditionTaken', sequence: 0, at: 0, detail: { condition: name, index: choice }, ...place } as ReportedStep)
  }

  /** Tells a step of an effect, with its place in the definition. */
  effect(type: ReportedStep['type'], input: StepParams, detail?: JsonObject): void {
    if (this.#tell === undefined) return
    const place = placeAt(this.#program, input)
    this.#tell(detail === undefined ? { type, ...place } : { type, ...place, detail })
  }

  /** Tells that an action begins. */
  actionStarted(place: Place): void {
    this.#tell?.({ type: 'actionStarted', sequence: 0, at: 0, ...place } as ReportedStep)
  }

  /** Tells how an action ended. */
  actionEnded(place: Place, outcome: Result): void {
    if (this.#tell === undefined) return
    if ('error' in outcome) this.#tell({ type: 'actionFailed', ...place, detail: { ...outcome.error } })
    else this.#tell({ type: 'actionCompleted', sequence: 0, at: 0, data: (outcome.output as { result?: Json } | undefined)?.result ?? null, ...place } as ReportedStep)
  }
}
