import type { InspectionEvent, Snapshot } from 'xstate'
import type { Clock, IdSource, Logger } from '../common/index.ts'
import type { PathContext } from './context.ts'
import type { SecretReader } from './instance-bindings.ts'
import type { Instance } from './instance.ts'
import type { BoundMachines } from './machine.ts'
import type { Program } from './program.ts'
import type { ReportedStep } from './reporter.ts'

/** What instances of one definition share. */
export interface Deployment {
  readonly program: Program
  readonly machines: BoundMachines
}

/** Surroundings of an instance. */
export interface InstanceEnvironment {
  readonly clock: Clock
  readonly ids: IdSource
  /** Of the host: an instance adds its own id. */
  readonly log: Logger
  readonly secrets: SecretReader
  /** Produced events carry the attributes in the spelling of Kogito too. */
  readonly kogitoAttributes: boolean
  /** Most states and actions in a row without waiting. */
  readonly maxSteps: number
  /** Calls that may be made amid a turn: all where nothing has to be written before they have effects, else those without any; none by default. */
  readonly callsAtOnce?: 'all' | 'pure'
  /** Told when an effect is given up, so that a call can be aborted and a timer ended. */
  readonly withdraw: (instance: Instance, token: string) => void
  /** Receives XState's inspection events; the stock loop runs then. */
  readonly inspect?: (instance: Instance, event: InspectionEvent) => void
  /** Receives steps where a history is kept or somebody looks on; `sequence` and `at` are the host's to give. */
  readonly report?: (instance: Instance, step: ReportedStep) => void
}

/** An instance at rest, as JSON. */
export interface PersistedInstance {
  readonly snapshot: Snapshot<unknown>
  /** Tokens and event ids given out so far. */
  readonly sequence: number
  /** The workflow's time is up, and these calls may still end (A15). */
  readonly ending?: { readonly token: string; readonly calls: readonly string[] }
  /** Due instants of timers that were moved, by token. */
  readonly dueAt?: Readonly<Record<string, number>>
  /** What effects under way were prepared with, by token, where the data has changed since. */
  readonly contexts?: Readonly<Record<string, PathContext>>
}

/** How an instance begins. */
export interface Beginning {
  /** Index of the state to begin with; the definition's start when absent. */
  readonly startFrom?: number
  readonly correlation?: Readonly<Record<string, string>>
}
