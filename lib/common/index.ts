export { Arrivals, afterArrivals } from './arrivals.ts'
export { compact } from './compact.ts'
export { Cancellation, toAbortSignal, type CancelSignal } from './cancellation.ts'
export { createSystemClock, type Cancel, type Clock } from './clock.ts'
export { createRandomIdSource, type IdSource } from './id-source.ts'
export { parseDuration, type Duration } from './duration.ts'
export {
  atPointer,
  copyObject,
  fromPointer,
  getOwn,
  isJsonObject,
  jsonEquals,
  setOwn,
  toPointer,
  type Json,
  type JsonObject,
} from './json.ts'
export { importModule } from './import-module.ts'
export { keepAlive } from './keep-alive.ts'
export { nearestNames } from './nearest.ts'
export { isNestedDeeper } from './nesting.ts'
export { createLogger, silentLogger, type Logger } from './logger.ts'
export { TurnoverMap } from './turnover-map.ts'
export { LOG_LEVELS, createLogging, isLogLevel, type Logging, type LoggingOptions, type LogLevel } from './logging.ts'
