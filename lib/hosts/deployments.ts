import type { DataValidator, LoadedDefinition } from '../definition/index.ts'
import type { Deployment } from '../instance/index.ts'

/** A definition ready to run. */
export interface DeployedWorkflow extends Deployment {
  readonly loaded: LoadedDefinition
  /** Gives the violations of an input; absent without a schema. */
  readonly validateInput?: DataValidator
  readonly validateOutput?: DataValidator
}

/** The definitions that a host can start, by id and version. */
export interface Deployments {
  /** A workflow by id; without a version the newest (decisions.md 3). */
  find(id: string, version?: string): DeployedWorkflow | undefined
  /** The newest version of each id. */
  list(): readonly DeployedWorkflow[]
}
