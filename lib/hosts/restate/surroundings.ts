import type { Logger } from '../../common/index.ts'
import type { InstanceFacts, SecretReader } from '../../instance/index.ts'
import type { DeployedWorkflow } from '../deployments.ts'
import type { KernelOptions } from '../parts.ts'

/** What a turn is taken with. */
export interface TurnSurroundings extends Pick<KernelOptions, 'inspect' | 'subflows'> {
  readonly workflow: DeployedWorkflow
  /** Headers of the start, as far as this process knows them. */
  readonly headers: InstanceFacts['headers']
  readonly log: Logger
  readonly secrets: SecretReader
  readonly maxSteps: number
  readonly kogitoAttributes: boolean
  /** The same numbers in each attempt of an invocation. */
  readonly random: () => number
  /** Milliseconds for which ended instances can still be found. */
  readonly retention: number
  /** Milliseconds for which received events and idempotency keys are known. */
  readonly inboxRetention: number
  /** Whether steps are kept. */
  readonly history: boolean
}
