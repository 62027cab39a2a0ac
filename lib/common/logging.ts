import type { Logger as PinoLogger } from 'pino'
import { loadPino, type Logger } from './logger.ts'

/** Names of levels, the most talkative first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** Name of a level. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Where lines go, in which form, and which ones. */
export interface LoggingOptions {
  /** Level of everything that no category says otherwise about. @default 'info' */
  readonly level?: LogLevel
  /** Levels by category; `a` counts for `a.b` too. */
  readonly categories?: Readonly<Record<string, LogLevel>>
  /** Lines of JSON; else text for people. @default true */
  readonly json?: boolean
  /** Receives each line, newline included. @default standard output */
  readonly write?: (line: string) => void
}

/** A log whose levels can be read and changed while it is in use. */
export interface Logging {
  /** Loggers below it belong to the category that their binding `category`, else `module`, names. */
  readonly log: Logger
  /** Gives the levels that are set, by category; under the empty name the level of everything else. */
  levels(): Readonly<Record<string, LogLevel>>
  /**
   * Sets the level of a category, also for loggers that exist already; `undefined` lets it follow the others again.
   *
   * @returns false when the text is no level
   */
  setLevel(category: string, level: string | undefined): boolean
}

type Weight = 0 | 1 | 2 | 3 | 4 | 5

/** The level in force for a category; shared by all its loggers, so that a change reaches them. */
interface Threshold {
  weight: Weight
}

/** Creates a log with a level for each category (configuration.md §6). */
export function createLogging(options: LoggingOptions = {}): Logging {
  const set = new Map<string, LogLevel>([['', options.level ?? 'info'], ...Object.entries(options.categories ?? {})])
  const thresholds = new Map<string, Threshold>()
  const thresholdOf = (category: string): Threshold => {
    let threshold = thresholds.get(category)
    if (threshold === undefined) thresholds.set(category, threshold = { weight: weightOf(levelOf(set, category)) })
    return threshold
  }
  const root = createPino(options)
  return {
    log: new CategoryLogger(root, {}, thresholdOf(''), thresholdOf),
    levels: () => Object.fromEntries(set),
    setLevel(category, level) {
      if (level !== undefined && !isLogLevel(level)) return false
      if (level !== undefined) set.set(category, level)
      else if (category === '') set.set('', 'info')
      else set.delete(category)
      for (const [name, threshold] of thresholds) threshold.weight = weightOf(levelOf(set, name))
      return true
    },
  }
}

/** Tells whether a text names a level. */
export function isLogLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text)
}

function levelOf(set: ReadonlyMap<string, LogLevel>, category: string): LogLevel {
  for (let name = category; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const level = set.get(name)
    if (level !== undefined) return level
  }
  return set.get('') ?? 'info'
}

function weightOf(level: LogLevel): Weight {
  return LOG_LEVELS.indexOf(level) as Weight
}

// A child of pino costs microseconds, and most are never written to: it is made by the first line.
class CategoryLogger implements Logger {
  readonly #parent: PinoLogger
  readonly #bindings: Record<string, unknown>
  readonly #threshold: Threshold
  readonly #thresholdOf: (category: string) => Threshold
  #own: PinoLogger | undefined

  constructor(parent: PinoLogger, bindings: Record<string, unknown>, threshold: Threshold, thresholdOf: (category: string) => Threshold) {
    this.#parent = parent
    this.#bindings = bindings
    this.#threshold = threshold
    this.#thresholdOf = thresholdOf
  }

  trace(fields: object, message: string): void {
    if (this.#threshold.weight <= 0) this.#pino.trace(fields, message)
  }

  debug(fields: object, message: string): void {
    if (this.#threshold.weight <= 1) this.#pino.debug(fields, message)
  }

  info(fields: object, message: string): void {
    if (this.#threshold.weight <= 2) this.#pino.info(fields, message)
  }

  warn(fields: object, message: string): void {
    if (this.#threshold.weight <= 3) this.#pino.warn(fields, message)
  }

  error(fields: object, message: string): void {
    if (this.#threshold.weight <= 4) this.#pino.error(fields, message)
  }

  child(bindings: Record<string, unknown>): Logger {
    const category = bindings['category'] ?? bindings['module']
    const threshold = typeof category === 'string' ? this.#thresholdOf(category) : this.#threshold
    return new CategoryLogger(this.#parent, { ...this.#bindings, ...bindings }, threshold, this.#thresholdOf)
  }

  get #pino(): PinoLogger {
    return this.#own ??= this.#parent.child(this.#bindings)
  }
}

function createPino({ json, write }: LoggingOptions): PinoLogger {
  const pino = loadPino()
  const settings = { level: 'trace', base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (json !== false) return write === undefined ? pino(settings) : pino(settings, { write })
  const out = write ?? ((line: string) => { process.stdout.write(line) })
  return pino(settings, { write: (line: string) => { out(toText(line)) } })
}

const NAMES: Readonly<Record<number, string>> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO ', 40: 'WARN ', 50: 'ERROR' }

/** Words a line of JSON for people: time, level, category, message, then what else it holds. */
function toText(line: string): string {
  const { level, time, msg, category, module, err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const place = category ?? module
  const facts = Object.entries(rest).map(([key, value]) => `${inLine(key)}=${inLine(typeof value === 'string' ? value : JSON.stringify(value))}`)
  const stack = (err as { stack?: unknown } | undefined)?.stack
  const parts = [String(time), NAMES[Number(level)] ?? String(level), ...(typeof place === 'string' ? [`[${inLine(place)}]`] : []), typeof msg === 'string' ? indented(msg) : '', ...facts]
  return `${parts.join(' ')}\n${typeof stack === 'string' ? `${indented(stack)}\n` : ''}`
}

// What ends a line or steers a terminal: lines hold what callers and remote services send.
const CONTROL = /[\p{Cc}\u2028\u2029]/u
const EACH_CONTROL_BUT_NEWLINE = /(?!\n)[\p{Cc}\u2028\u2029]/gu

function inLine(text: string): string {
  return CONTROL.test(text) ? JSON.stringify(text).replace(EACH_CONTROL_BUT_NEWLINE, escape) : text
}

/** Further lines of a text stand in from the first, where no entry begins. */
function indented(text: string): string {
  return CONTROL.test(text) ? text.replace(EACH_CONTROL_BUT_NEWLINE, escape).replace(/\n(?! {4})/g, '\n    ') : text
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
