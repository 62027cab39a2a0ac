import type { Json } from '../../common/index.ts'
import { describe, shorten, toText } from './dump.ts'

/**
 * The failure of a jq program: carries a jq value that `try … catch` can read.
 *
 * Texts may name values: with type (`%0`), without (`#0`), or a whole text as it is (`~0`); they are put in only when somebody reads the message, because most failures are
 * caught by `?` and never shown, and because a run that has read secrets must not print values at all.
 */
export class JqError extends Error {
  /** Offset in the program, where known. */
  readonly offset: number | undefined
  readonly #template: string | undefined
  readonly #values: readonly Json[]
  readonly #raised: Json | undefined

  constructor(template: string | { readonly raised: Json }, values: readonly Json[] = [], offset?: number) {
    // A stack trace costs more than the evaluation and tells nothing about the program.
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super()
    Error.stackTraceLimit = limit
    this.#template = typeof template === 'string' ? template : undefined
    this.#raised = typeof template === 'string' ? undefined : template.raised
    this.#values = values
    this.offset = offset
  }

  /** What `catch` receives: the text of the failure, or the value given to `error`. */
  get value(): Json {
    return this.#template === undefined ? (this.#raised ?? null) : this.#fill({ '%': describe, '#': shorten, '~': toText })
  }

  /** The text of the failure as jq prints it. */
  override get message(): string {
    const value = this.value
    return typeof value === 'string' ? value : `${describe(value)} (not a string)`
  }

  /** The text of the failure without any value in it; `undefined` when the program made the text itself. */
  get bareMessage(): string | undefined {
    return this.#template === undefined ? undefined : this.#fill({ '%': (value) => describe(value).replace(/ \(.*$/s, ''), '#': () => 'a value', '~': () => 'a text' })
  }

  #fill(show: Readonly<Record<string, (value: Json) => string>>): string {
    return (this.#template ?? '').replaceAll(/([%#~])(\d)/g, (text, sign: string, index: string) =>
      show[sign]?.(this.#values[Number(index)] ?? null) ?? text)
  }
}

/** Leaves a `label`; passes through `try`. */
export class Break extends Error {
  constructor() {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super('break')
    Error.stackTraceLimit = limit
  }
}

/** Ends a run that went over a limit; passes through `try`. */
export class LimitExceeded extends Error {
  /** Setting that names the limit, such as `max-steps`. */
  readonly limit: string
  constructor(limit: string, message: string) {
    super(message)
    this.limit = limit
  }
}
