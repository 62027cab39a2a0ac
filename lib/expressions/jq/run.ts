import type { Clock, Json } from '../../common/index.ts'
import type { Bindings } from '../evaluator.ts'
import { faultOfMember, isLazy, type LazyRecord } from '../lazy-record.ts'
import type { ExpressionLimits } from '../limits.ts'
import type { RegexEngine } from '../regex/engine.ts'
import { readKey } from './access.ts'
import { JqError, LimitExceeded } from './failure.ts'

/** Steps between two looks at the clock. */
const CLOCK_INTERVAL = 10_000

// An idle run must not keep the data of the last instance alive.
const NO_BINDINGS: Bindings = { read: () => undefined }

/** What programs may use of the outside. */
export interface Surroundings {
  readonly clock: Clock
  readonly limits: ExpressionLimits
  readonly regex: RegexEngine
  /** Receives what `debug` and `stderr` print. */
  readonly debug: (message: Json) => void
}

/** One evaluation: its budget and what it has read. Everything that changes while a program runs is here. */
export class Run {
  surroundings: Surroundings
  bindings: Bindings
  /** Array slots, object keys and characters ÷ 8 that may still be made. */
  cells = 0
  /** Offset of the last builtin called, for errors that do not know theirs. */
  offset = 0
  /** What counted before this evaluation began inside another one. */
  outer: { tick(): void } | undefined
  /** Secrets read so far, so that no error text shows them. */
  secrets: string[] | undefined
  readonly #globals = new Map<string, unknown>()
  #fuel = 0
  #stepsLeft = 0
  #deadline: number | undefined

  constructor(surroundings: Surroundings, bindings: Bindings) {
    this.surroundings = surroundings
    this.bindings = bindings
  }

  /** Makes the run ready for an evaluation; runs are reused because most are shorter than the making of one. */
  start(surroundings: Surroundings, bindings: Bindings): void {
    this.surroundings = surroundings
    this.bindings = bindings
    this.cells = surroundings.limits.maxCells
    this.offset = 0
    this.#fuel = Math.min(CLOCK_INTERVAL, surroundings.limits.maxSteps)
    this.#stepsLeft = surroundings.limits.maxSteps - this.#fuel
  }

  /** Forgets everything of the evaluation that has ended. */
  clear(): void {
    this.bindings = NO_BINDINGS
    if (this.#globals.size === 0 && this.#deadline === undefined) return
    this.#globals.clear()
    this.secrets = undefined
    this.#deadline = undefined
  }

  /** Counts a turn of a loop or a call. */
  tick(): void {
    if ((this.#fuel -= 1) < 0) this.lookAtClock()
  }

  /** Counts many turns at once, for work that happens inside one builtin. */
  spend(steps: number): void {
    if ((this.#fuel -= steps) < 0) this.lookAtClock()
  }

  /** Counts what is about to be allocated. */
  charge(cells: number): void {
    if ((this.cells -= cells) < 0) this.overflow()
  }

  /** Reports that the budget of cells is used up. */
  overflow(): never {
    const { maxCells } = this.surroundings.limits
    throw new LimitExceeded('max-cells', `the expression needs more than ${maxCells} cells of memory`)
  }

  /** Ends the evaluation when its steps or its time are used up; before work that cannot be stopped, and now and then. */
  lookAtClock(): void {
    const { clock, limits } = this.surroundings
    this.#stepsLeft += this.#fuel
    if (this.#stepsLeft < 0) throw new LimitExceeded('max-steps', `the expression takes more than ${limits.maxSteps} steps`)
    // The clock is first read here: reading it at the start would cost more than most evaluations.
    const now = clock.now()
    this.#deadline ??= now + limits.timeout
    if (now > this.#deadline) throw new LimitExceeded('timeout', `the expression takes more than ${limits.timeout} ms`)
    this.#fuel = Math.min(CLOCK_INTERVAL, this.#stepsLeft)
    this.#stepsLeft -= this.#fuel
  }

  /** Reads a variable of the bindings as data; once per name. A record whose members may be listed becomes an object. */
  global(name: string): Json {
    const known = this.#globals.get(name)
    if (known !== undefined && !isLazy(known)) return known as Json
    const value = this.#record(name)
    const data = isLazy(value) ? materialise(name, value) : (value as Json)
    this.#globals.set(name, data)
    return data
  }

  /**
   * Reads a member of a variable; of a record without making the whole.
   *
   * @throws {@link JqError} for an unknown member of a record that can be listed.
   */
  member(name: string, key: string): Json {
    const value = this.#globals.get(name) ?? this.#record(name)
    if (!isLazy(value)) return readKey(value as Json, key)
    const fault = faultOfMember(name, value, key)
    if (fault !== undefined) throw new JqError(fault)
    const member = value.get(key)
    if (value.keys === undefined && typeof member === 'string' && member !== '') (this.secrets ??= []).push(member)
    return member === undefined ? null : (member as Json)
  }

  #record(name: string): unknown {
    const value = this.bindings.read(name)
    if (value === undefined) throw new JqError(`$${name} is not defined`)
    this.#globals.set(name, value)
    return value
  }
}

function materialise(name: string, record: LazyRecord): Json {
  if (record.keys === undefined) throw new JqError(`$${name} cannot be listed, printed or passed on; read one key of it`)
  return Object.fromEntries(record.keys.map((key) => [key, (record.get(key) ?? null) as Json]))
}

/** A link of the chain of variables and parameters that a filter sees; depths are known at compile time. */
export class Env {
  readonly value: unknown
  readonly parent: Env | undefined
  readonly run: Run

  constructor(value: unknown, parent: Env | undefined, run: Run) {
    this.value = value
    this.parent = parent
    this.run = run
  }
}

/** Walks up the chain. */
export function ancestor(env: Env, steps: number): Env {
  let link = env
  for (let step = 0; step < steps; step += 1) link = link.parent as Env
  return link
}
