import { createLogger, createRandomIdSource, createSystemClock, type Clock, type IdSource, type Logger } from '../common/index.ts'
import { MAX_JSON_DEPTH } from '../events/index.ts'

/** What the settings say about one function, in addition to its declaration. */
export interface FunctionMapping {
  /** A further event type that calls it. */
  readonly trigger?: string
  /** Type of the answering event; wins over the declared one. */
  readonly responseType?: string
  /** Source of the answering event; wins over the declared one. */
  readonly responseSource?: string
}

/** Options of the function runtime; the settings of the same names are read by whoever composes it (function-runtime.md §1). */
export interface FunctionRuntimeOptions {
  /** Name of the function at the root path, which then also takes every event. */
  readonly export?: string
  /** Mappings by function name. */
  readonly mapping?: Readonly<Record<string, FunctionMapping>>
  /** @default `/` */
  readonly rootPath?: string
  /** In `prod` the message of a failed function stays in the log. @default `prod` */
  readonly profile?: string
  /** Milliseconds a function may take, then 504. @default no limit */
  readonly timeout?: number
  /** Milliseconds that running functions have to finish when the runtime stops. @default 10000 */
  readonly shutdownTimeout?: number
  /** Bytes of a request body. @default 10 MiB */
  readonly maxBodySize?: number
  /** Levels of nesting in JSON. @default 1000 */
  readonly maxDepth?: number
  /** Accepts events as loosely as Funqy: see docs/functions.md. @default false */
  readonly lenientEvents?: boolean
  /** Answers `/health/*`, `/q/health/*` and `/q/metrics`. @default true when the root path is `/` */
  readonly observability?: boolean
  /** Runs before the first request; a rejection stops the start. */
  readonly init?: () => unknown
  /** Runs after the last request. */
  readonly shutdown?: () => unknown
  /** Throws or rejects when the process should be restarted. */
  readonly liveness?: () => unknown
  /** Throws or rejects when no requests should be sent. */
  readonly readiness?: () => unknown
  readonly clock?: Clock
  readonly ids?: IdSource
  readonly log?: Logger
}

/** Options with their defaults. */
export interface ResolvedFunctionRuntimeOptions {
  readonly export: string | undefined
  readonly mapping: Readonly<Record<string, FunctionMapping>>
  /** Without a trailing slash; empty for `/`. */
  readonly rootPath: string
  readonly isProduction: boolean
  readonly timeout: number | undefined
  readonly shutdownTimeout: number
  readonly maxBodySize: number
  readonly maxDepth: number
  readonly lenientEvents: boolean
  readonly observability: boolean
  readonly hooks: Pick<FunctionRuntimeOptions, 'init' | 'shutdown' | 'liveness' | 'readiness'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
}

/** Fills in the defaults. */
export function resolveFunctionRuntimeOptions(options: FunctionRuntimeOptions): ResolvedFunctionRuntimeOptions {
  const trimmed = (options.rootPath ?? '/').replace(/^\/*/, '/').replace(/\/+$/, '')
  return {
    export: options.export,
    mapping: options.mapping ?? {},
    rootPath: trimmed,
    isProduction: options.profile !== 'dev' && options.profile !== 'test',
    timeout: options.timeout,
    shutdownTimeout: options.shutdownTimeout ?? 10_000,
    maxBodySize: options.maxBodySize ?? 10 * 1024 * 1024,
    maxDepth: options.maxDepth ?? MAX_JSON_DEPTH,
    lenientEvents: options.lenientEvents ?? false,
    observability: options.observability ?? trimmed === '',
    hooks: options,
    clock: options.clock ?? createSystemClock(),
    ids: options.ids ?? createRandomIdSource(),
    log: options.log ?? createLogger(),
  }
}
