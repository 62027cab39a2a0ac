import type { IncomingMessage } from 'node:http'
import type { Clock, IdSource, Logger } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import type { Host } from '../hosts/index.ts'
import type { ServerMetrics } from './metrics.ts'
import type { ServerOptions } from './options.ts'
import type { ServerSettings } from './settings.ts'
import type { WorkflowRoutes } from './workflow-routes.ts'

/** What the parts of one server share. */
export interface ServerContext {
  readonly host: Host
  readonly catalogue: Catalogue
  readonly settings: ServerSettings
  readonly log: Logger
  readonly clock: Clock
  readonly ids: IdSource
  readonly application: { readonly name: string; readonly version: string }
  readonly workflows: WorkflowRoutes
  readonly metrics: ServerMetrics
  readonly sourceRoots: readonly string[]
  readonly logLevels: ServerOptions['logLevels']
  readonly deploy: ServerOptions['deploy']
  /** Base of absolute addresses in answers to a request; empty when unknown. */
  readonly origin: (request: IncomingMessage) => string
  readonly lifecycle: Lifecycle
}

/** Where a server stands between start and stop. */
export interface Lifecycle {
  /** Set from the moment the server is to stop: readiness is down. */
  stopping: boolean
  /** Set when it listens no longer: every answer closes its connection. */
  draining: boolean
}
