import type { Cancel } from '../common/index.ts'
import type { DefinitionError } from '../errors/index.ts'
import type { LoadedDefinition } from './types.ts'

/** A file that could not be loaded; the others are served all the same. */
export interface LoadFailure {
  readonly uri: string
  readonly error: DefinitionError
}

/** The definitions that are served, by id and version; changes while serving. */
export interface Catalogue {
  /** The served definition of each id: the newest version by SemVer, else the last loaded (decisions.md 3). */
  list(): readonly LoadedDefinition[]
  /** Every version of every definition in service. */
  all?(): readonly LoadedDefinition[]
  /** A definition by id; without a version the served one. */
  find(id: string, version?: string): LoadedDefinition | undefined
  readonly failures: readonly LoadFailure[]
  /** What is doubtful about the project, beyond single definitions: settings that none of them uses. */
  readonly remarks?: readonly string[]
  /** Types of events that definitions consume, by their event definitions or by functions. */
  readonly consumedTypes?: ReadonlySet<string>
  /** Calls back after definitions were added, changed or removed. */
  onChange(listener: () => void): Cancel
}
