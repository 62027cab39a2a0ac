import type { CloudEventRecord } from '../events/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { Journal, StoredDefinition } from './journal.ts'

/** Where a test may end the process, to see that nothing is lost. */
export type CrashPoint = 'before-commit' | 'after-commit' | 'before-effect' | 'after-effect' | 'before-answer' | `write:${string}`

/** How a host keeps instances beyond the process. */
export interface Durability {
  /** Opens the store; called once, when it is first needed. @throws {@link HostError} `STORE_UNAVAILABLE`, `STORE_LOCKED` */
  readonly open: () => Journal
  /** Whether instances of a workflow are kept. */
  readonly isDurable: (workflow: DeployedWorkflow) => boolean
  /** Whether there is a store already, of a process before. */
  readonly exists: () => boolean
  /** Makes a definition ready that living instances were started from and that is no longer in service. */
  readonly redeploy: (definition: StoredDefinition) => Promise<DeployedWorkflow>
  /** Sends a produced event out; false when it could not be delivered and has to be sent again. */
  readonly forward: (event: CloudEventRecord) => Promise<boolean>
  /** Headers of an instance that may be stored. */
  readonly storedHeaders: (headers: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
  /** Milliseconds for which received events and idempotency keys are known. */
  readonly inboxRetention: number
  /** Whether steps are kept. */
  readonly history: boolean
  /** Called where a test may end the process. @internal */
  readonly probe?: (point: CrashPoint) => void
}
