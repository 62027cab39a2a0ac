import type { Json, Logger } from '../common/index.ts'
import { InstanceError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { Bindings } from '../expressions/index.ts'
import type { PathContext, RetryProgress } from './context.ts'
import type { InstanceEnvironment } from './environment.ts'
import type { InstanceFacts } from './facts.ts'
import { InstanceBindings } from './instance-bindings.ts'
import type { Program } from './program.ts'
import type { Reporter } from './reporter.ts'
import { stampEvent } from './stamp.ts'
import type { StepParams, StepScope } from './steps/step.ts'

/** What an instance is made from. */
export interface InstanceParts {
  readonly facts: InstanceFacts
  readonly program: Program
  readonly environment: InstanceEnvironment
  readonly reporter: Reporter
}

/** What the steps of one instance see of it: variables, ids, the history; it counts steps, so that a loop without a wait ends. */
export class InstanceScope implements StepScope {
  readonly facts: InstanceFacts
  readonly program: Program
  protected readonly environment: InstanceEnvironment
  protected readonly reporter: Reporter
  /** Tokens and event ids given out so far. */
  protected sequence = 0
  readonly #bindings: InstanceBindings
  #steps = 0
  #log: Logger | undefined

  constructor({ facts, program, environment, reporter }: InstanceParts) {
    this.facts = facts
    this.program = program
    this.environment = environment
    this.reporter = reporter
    this.#bindings = new InstanceBindings(program, facts, environment.secrets)
  }

  /** Made for the first line: most instances write none. */
  get log(): Logger {
    return this.#log ??= this.environment.log.child({ instance: this.facts.id, workflow: this.facts.workflowId })
  }

  bindings(context: PathContext): Bindings {
    return this.#bindings.at(context)
  }

  nextEventId(): string {
    this.sequence += 1
    return `${this.facts.id}-${String(this.sequence)}`
  }

  stamp(event: CloudEventRecord, context: PathContext): CloudEventRecord {
    return stampEvent(event, {
      facts: this.facts,
      correlation: context.correlation ?? {},
      now: this.environment.clock.now(),
      kogito: this.environment.kogitoAttributes,
    })
  }

  random(): number {
    return this.environment.ids.random()
  }

  enter(state: number, data: Json): void {
    this.count()
    this.reporter.entered(state, data)
  }

  chose(index: number, choice: number): void {
    this.reporter.chose(index, choice)
  }

  retries(params: StepParams, { count, delay }: RetryProgress): void {
    this.reporter.effect('actionRetried', params, { attempt: count, delay })
  }

  /** Counts a state entered or an action begun. @throws {@link InstanceError} `INSTANCE_LOOP` */
  protected count(): void {
    this.#steps += 1
    if (this.#steps <= this.environment.maxSteps) return
    throw new InstanceError({
      code: 'INSTANCE_LOOP',
      message: `Instance ${this.facts.id} of "${this.facts.workflowId}" took ${String(this.environment.maxSteps)} steps without waiting; ` +
        'give its loop an end, or raise sonatina.instances.max-steps',
    })
  }

  /** The instance waits: what comes next is no loop. */
  protected restart(): void {
    this.#steps = 0
  }
}
