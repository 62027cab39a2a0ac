import type { Clock, IdSource, Json, Logger } from './common/index.ts'
import type { CloudEventRecord } from './events/index.ts'
import type { Catalogue, LoadFailure } from './definition/index.ts'
import type { FunctionCall, FunctionResult } from './functions/index.ts'
import type { MaybePromise } from './expressions/index.ts'
import type { CrashPoint, Host, HistoryStep } from './hosts/index.ts'
import type { ClusterLink } from './hosts/cluster/index.ts'
import type { SpanExporter } from './telemetry/index.ts'

/** A definition given in code or by path. */
export type DefinitionInput =
  | string
  | { readonly uri: string; readonly text: string }
  | { readonly uri: string; readonly document: Json }

/** What takes the place of a remote part, by name: for tests and embedding. */
export interface Replacements {
  /** Called instead of the function of that name, whatever its kind; `workflowId` tells whose. */
  readonly functions?: ReadonlyMap<string, (call: FunctionCall) => MaybePromise<FunctionResult>>
  /**
   * Called instead of starting the sub-flow of that id: resolves with its output or rejects with its error.
   *
   * `version` is the one that the action asks for. A replaced sub-flow counts as deployed.
   */
  readonly subflows?: ReadonlyMap<string, (input: Json, signal: AbortSignal, version?: string) => MaybePromise<Json>>
}

/** Options of `createRuntime`. */
export interface RuntimeOptions {
  /** Project directory: settings, specs and definitions are looked for there. @default the working directory */
  readonly root?: string
  /** Files, directories or documents; directories are read recursively. @default `sonatina.definitions` */
  readonly definitions?: readonly DefinitionInput[]
  /** Settings that win over every other source, by key. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Settings files of a project given explicitly, in place of those found under `root`. */
  readonly settingsFiles?: readonly string[]
  /** `key=value` texts of the command line; they win over all but `settings`. */
  readonly arguments?: readonly string[]
  /** Environment to read settings from. @default that of the process */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Configuration profile: `prod`, `dev`, `test` or one's own. */
  readonly profile?: string
  /** Objects whose methods `service:<class>::<method>` calls, by class name. */
  readonly hostClasses?: ReadonlyMap<string, object>
  /** Function types of the host: `custom` functions whose operation begins with the name and a colon. */
  readonly functionTypes?: ReadonlyMap<string, (operation: string, call: FunctionCall) => MaybePromise<FunctionResult>>
  readonly replace?: Replacements
  /** Reads external documents that are not files: http(s) and other schemes. */
  readonly readResource?: (uri: string, base: string) => Promise<string>
  /** Receives every produced event, besides the configured sinks. */
  readonly onEvent?: (event: CloudEventRecord) => void
  /** Produced events come back as incoming ones when no sink is configured. @default true */
  readonly loopback?: boolean
  /**
   * Receives the steps of every instance as they happen.
   *
   * `started` has the input as `data`, `completed` the output; `completed` of an instance that continues as another (S272–S276) has
   * `detail: {continueAs: {workflowId, version?, data}}`.
   */
  readonly onStep?: (step: ObservedStep) => void
  /** Receives each span as it ends, in place of the OTLP exporter; traces are made where `sonatina.otel.enabled` is true. */
  readonly spanExporter?: SpanExporter
  /** Receives lines of `sysout` functions. @default the log */
  readonly stdout?: (line: string) => void
  /** Runs machines in XState's own loop instead of ours: the reference, for comparison. @default 'fast' */
  readonly loop?: 'stock' | 'fast'
  /** Called where a test of durability may end the process. @internal */
  readonly crashPoint?: (point: CrashPoint) => void
  /** This process is one of several on one machine that share their instances (`sonatina.cluster.workers`). @internal */
  readonly cluster?: ClusterLink
  readonly clock?: Clock
  readonly ids?: IdSource
  readonly log?: Logger
  /** A broken definition stops the start. @default false */
  readonly strict?: boolean
}

/** A step with the instance that took it. */
export interface ObservedStep extends HistoryStep {
  readonly instanceId: string
  readonly workflowId: string
  readonly version: string
}

/** Where a runtime can be reached, without trailing slashes. */
export interface Addresses {
  readonly url: string
  /** Address of the management listener, when it is another one. */
  readonly managementUrl?: string
  readonly inspectorUrl?: string
  readonly swaggerUiUrl?: string
}

/** Definitions, settings and a host, put together. */
export interface Runtime {
  readonly host: Host
  readonly catalogue: Catalogue
  /** Loads and deploys further definitions while running. */
  deploy(definitions: readonly DefinitionInput[]): Promise<{ readonly failures: readonly LoadFailure[] }>
  /** Removes a definition; its running instances go on. */
  undeploy(id: string, version?: string): void
  /** Opens the HTTP server. Port 0 takes a free one. */
  listen(address?: { readonly host?: string; readonly port?: number }): Promise<Addresses>
  /** Resolves when no instance has anything to do but wait: for embedding and tests. */
  quiet(): Promise<void>
  /** Stops listening, lets running work finish, closes the store. */
  close(graceMilliseconds?: number): Promise<void>
}
