import type { Json } from '../../../common/index.ts'
import { JqError } from '../failure.ts'
import type { Env } from '../run.ts'

/** Stands for "no output" where a filter gives at most one. */
export const NONE = Symbol('jq.none')

/** One output or none. */
export type Output = Json | typeof NONE
/** Runs a filter that gives exactly one output. */
export type One = (value: Json, env: Env) => Json
/** Runs a filter that gives at most one output. */
export type Get = (value: Json, env: Env) => Output
/** Receives an output; true stops the filter. */
export type Emit = (output: Json) => boolean
/** Runs any filter in callback style; true when it was stopped. */
export type Each = (value: Json, env: Env, emit: Emit) => boolean

/**
 * A place in the input and the value there; built backwards, the root has no parent.
 *
 * A filter that makes a value leaves the place as it is: the value is then no longer the one at the place, which the next
 * step along the path notices (jq's own rule).
 */
export interface Path {
  readonly parent: Path | undefined
  readonly key: Json
  readonly value: Json
  readonly length: number
}
/** Receives a place and the value there; true stops the filter. */
export type EmitPath = (path: Path, value: Json) => boolean
/** Runs a filter and tells where its outputs stand. */
export type Paths = (path: Path, value: Json, env: Env, emit: EmitPath) => boolean

/** Gives the new value for a place, or {@link NONE} to delete it. `context` is whatever the caller passes along. */
export type Change = (old: Json, context: unknown) => Output
/** Changes all places a filter points at, copying each container once; {@link NONE} when the value itself is deleted. */
export type Update = (value: Json, env: Env, change: Change, context: unknown) => Output

/**
 * Like {@link Get} with one output, for the state of `reduce`: containers in `owned` were made in earlier turns and nobody
 * else has seen them, so they may be changed in place. Without this, building a list of n elements would copy n²/2.
 */
export type Accumulate = (state: Json, env: Env, owned: Set<object>) => Json

/** How a filter runs through the elements of one container: `.a[] | f`, where `f` gives at most one output. */
export interface Items {
  readonly container: (value: Json, env: Env) => Json
  /** What is done with each element; absent when it is the output itself. */
  readonly get?: Get
}

/** What is known of a compiled filter beside how to run it. */
export interface FilterFacts {
  /** The output, when it is always the same. */
  readonly constant?: Json
  /** Keys from the input to the output, for plain paths such as `.a.b[0]`. */
  readonly keys?: readonly (string | number)[]
  /** False when the input does not matter. */
  readonly usesInput?: boolean
  readonly paths?: Paths
  readonly update?: Update
  readonly accumulate?: Accumulate
  readonly items?: Items
  /** Decides whether the input is the output, or there is none: `select(condition)`. */
  readonly keeps?: (value: Json, env: Env) => Json
}

/** A compiled filter: closures for each way it may be run. Holds no state of a run. */
export class Filter {
  /** Number of outputs that analysis could prove: exactly one, at most one, any. */
  readonly count: 'one' | 'optional' | 'many'
  /** Present unless `count` is `many`. */
  readonly get: Get | undefined
  readonly each: Each
  readonly paths: Paths
  readonly constant: Json | undefined
  readonly keys: readonly (string | number)[] | undefined
  readonly usesInput: boolean
  readonly update: Update | undefined
  readonly accumulate: Accumulate | undefined
  readonly items: Items | undefined
  readonly keeps: ((value: Json, env: Env) => Json) | undefined

  constructor(count: 'one' | 'optional' | 'many', get: Get | undefined, each: Each, facts: FilterFacts) {
    this.count = count
    this.get = get
    this.each = each
    this.paths = facts.paths ?? ((path, value, env, emit) => each(value, env, (output) => emit(path, output)))
    this.constant = facts.constant
    this.keys = facts.keys
    this.usesInput = facts.usesInput ?? true
    this.update = facts.update
    this.accumulate = facts.accumulate
    this.items = facts.items
    this.keeps = facts.keeps
  }
}

/** Makes a filter with exactly one output. */
export function one(get: One, facts: FilterFacts = {}): Filter {
  return new Filter('one', get, (value, env, emit) => emit(get(value, env)), facts)
}

/** Makes a filter with at most one output. */
export function optional(get: Get, facts: FilterFacts = {}): Filter {
  return new Filter('optional', get, (value, env, emit) => {
    const output = get(value, env)
    return output !== NONE && emit(output)
  }, facts)
}

/** Makes a filter with one or at most one output from the same closure. */
export function atMostOne(get: Get, exactly: boolean, facts: FilterFacts): Filter {
  return exactly ? one(get as One, facts) : optional(get, facts)
}

/** Makes a filter with any number of outputs. */
export function many(each: Each, facts: FilterFacts = {}): Filter {
  return new Filter('many', undefined, each, facts)
}

/** Makes a filter with one output that is always the same. */
export function constant(value: Json): Filter {
  return one(() => value, { constant: value, usesInput: false })
}

/** The way to run a filter that is known to give exactly one output. */
export function single(filter: Filter): One | undefined {
  return filter.count === 'one' ? filter.get as One : undefined
}

/** The name of the member that a filter reads, where reading it needs no check of ownership. */
export function memberName({ keys }: Filter): string | undefined {
  const [key, ...more] = keys ?? []
  return more.length === 0 && typeof key === 'string' && !(key in Array.prototype) ? key : undefined
}

/** Begins a path at a value. */
export function rootPath(value: Json): Path {
  return { parent: undefined, key: null, value, length: 0 }
}

/** Adds a key to a path. */
export function extend(parent: Path, key: Json, value: Json): Path {
  return { parent, key, value, length: parent.length + 1 }
}

/** Fails when the value at hand was made and does not stand at the path. */
export function assertAt(path: Path, value: Json, attempt: string, key: Json): void {
  if (!Object.is(path.value, value)) throw new JqError(`Invalid path expression near attempt to ${attempt}`, [value, key])
}

/** Lists the keys of a path, outermost first; fails for a value that was made. */
export function pathKeys(path: Path, value: Json): Json[] {
  if (!Object.is(path.value, value)) throw new JqError('Invalid path expression with result #0', [value])
  const keys = new Array<Json>(path.length)
  let link: Path | undefined = path
  for (let index = keys.length - 1; index >= 0 && link !== undefined; index -= 1) {
    keys[index] = link.key
    link = link.parent
  }
  return keys
}

/** The value after an update: where the root itself was deleted jq leaves null. */
export function orNull(output: Output): Json {
  return output === NONE ? null : output
}

/** Collects all outputs. */
export function collect(filter: Filter, value: Json, env: Env): Json[] {
  const outputs: Json[] = []
  filter.each(value, env, (output) => {
    env.run.charge(1)
    outputs.push(output)
    return false
  })
  return outputs
}
