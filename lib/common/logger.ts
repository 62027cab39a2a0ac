import { createRequire } from 'node:module'
import type Pino from 'pino'

/** Writes structured log lines; `child` adds bindings such as the instance id to each of them. */
export interface Logger {
  trace(fields: object, message: string): void
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(bindings: Record<string, unknown>): Logger
}

/** Where lines go and which ones. */
export interface LoggerOptions {
  /** @default 'info' */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Receives each line of JSON text, newline included. @default standard output */
  readonly write?: (line: string) => void
}

let library: typeof Pino | undefined

/** Loads pino when the first logger is made: everybody imports this module, and few make loggers. */
export function loadPino(): typeof Pino {
  return library ??= createRequire(import.meta.url)('pino') as typeof Pino
}

/** Creates a logger that writes one JSON object a line (pino). */
export function createLogger(options: LoggerOptions = {}): Logger {
  const pino = loadPino()
  const settings = { level: options.level ?? 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return options.write === undefined ? pino(settings) : pino(settings, { write: options.write })
}

const noop = (): void => undefined

/** A logger that writes nothing. */
export const silentLogger: Logger = { trace: noop, debug: noop, info: noop, warn: noop, error: noop, child: () => silentLogger }
