import type { Clock, IdSource, Logger } from '../common/index.ts'
import type { Instance, InstanceEnvironment, InstanceFacts } from '../instance/index.ts'
import type { UnplacedStep } from './live-instance.ts'
import type { KernelOptions } from './parts.ts'

/** What concerns one instance only. */
interface Own {
  readonly callsAtOnce: boolean
  readonly inspect: InstanceEnvironment['inspect']
  readonly report: ((step: UnplacedStep) => void) | undefined
  readonly withdraw: (token: string) => void
}

/** The environment of an instance: most of it is the host's, and read there. */
export class OwnEnvironment implements InstanceEnvironment {
  readonly callsAtOnce: boolean
  readonly inspect?: NonNullable<InstanceEnvironment['inspect']>
  readonly report?: NonNullable<InstanceEnvironment['report']>
  readonly #options: KernelOptions
  readonly #facts: InstanceFacts
  readonly #withdraw: Own['withdraw']
  #log: Logger | undefined

  constructor(options: KernelOptions, facts: InstanceFacts, { callsAtOnce, inspect, report, withdraw }: Own) {
    this.#options = options
    this.#facts = facts
    this.#withdraw = withdraw
    this.callsAtOnce = callsAtOnce
    if (inspect !== undefined) this.inspect = inspect
    if (report !== undefined) this.report = (_instance, step) => { report(step) }
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get ids(): IdSource {
    return this.#options.ids
  }

  get secrets(): InstanceEnvironment['secrets'] {
    return this.#options.secrets
  }

  get maxSteps(): number {
    return this.#options.maxSteps ?? 100_000
  }

  get kogitoAttributes(): boolean {
    return this.#options.kogitoAttributes ?? false
  }

  // Made for the first line: most instances write none.
  get log(): Logger {
    return this.#log ??= this.#options.log.child({ instance: this.#facts.id, workflow: this.#facts.workflowId })
  }

  withdraw(_instance: Instance, token: string): void {
    this.#withdraw(token)
  }
}
