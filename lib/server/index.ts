export { createServer } from './create-server.ts'
export { resolveLogOptions } from './log-options.ts'
export { createServerMetrics, type ServerMetrics, type StepObservation } from './metrics.ts'
export { nodesOf } from './nodes.ts'
export type {
  Authenticate,
  CallerIdentity,
  InboundRequest,
  Listening,
  Mount,
  Server,
  ServerOptions,
} from './options.ts'
export { STATUS, failureMessage, isErrorCode, toProblem, type Problem } from './problem.ts'
export { resolveServerSettings } from './resolve-settings.ts'
export { DEFAULT_SERVER_SETTINGS, type CorsSettings, type ServerSettings, type TlsSettings } from './settings.ts'
