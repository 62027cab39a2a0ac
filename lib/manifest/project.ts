/** A text file of a project, with its path relative to the project directory, `/` between segments. */
export interface ProjectFile {
  readonly path: string
  readonly text: string
}

/** A kind of event that definitions consume. */
export interface ConsumedEvent {
  readonly type: string
  /** Absent when any source will do. */
  readonly source?: string
  /** Path that receives it, with the root path. */
  readonly path: string
}

/** How a project serves, as far as a cluster has to know. */
export interface ServingFacts {
  readonly port: number
  /** Port of `/q` and `/management`, when it is another one. */
  readonly managementPort?: number
  /** Prefix of all addresses, '' or `/path`. */
  readonly rootPath: string
  /** `tcp` where a probe cannot present what the listener asks for. */
  readonly probe: 'http' | 'https' | 'tcp'
  readonly isTls: boolean
  /** Milliseconds. */
  readonly shutdownTimeout: number
  /** Milliseconds; absent when the project leaves it open. */
  readonly shutdownDelay?: number
}

/** What is known of a project directory: everything that its Kubernetes documents are made from. */
export interface Project {
  /** Name of the directory. */
  readonly name: string
  /** Configuration profile that it runs in. */
  readonly profile: string
  /** Sorted by path. */
  readonly files: readonly ProjectFile[]
  /** Names of variables that a Secret has to hold, sorted. */
  readonly variables: readonly string[]
  readonly serving: ServingFacts
  /** Where the settings say that instances are kept; absent when they leave it open. */
  readonly storage?: Storage
  /** Whether the settings name the distributed engine. */
  readonly hasEngine: boolean
  /** Ids of definitions whose instances wait, so that a restart would lose them in memory. */
  readonly waiting: readonly string[]
  /** Sorted by type, then source. */
  readonly consumed: readonly ConsumedEvent[]
  readonly producesEvents: boolean
  /** Things that the documents cannot hold, as sentences. */
  readonly warnings: readonly string[]
}

/** Where instances are kept. */
export type Storage = 'memory' | 'sqlite' | 'restate'
