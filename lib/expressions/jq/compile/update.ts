import type { Json } from '../../../common/index.ts'
import { deletePaths, readPath, writePath } from '../access.ts'
import { addOwned, ARITHMETIC, type Arithmetic } from '../arithmetic.ts'
import type { ArithmeticOperator, UpdateOperator } from '../ast.ts'
import type { Env } from '../run.ts'
import { isTruthy } from '../value.ts'
import { many, NONE, one, orNull, pathKeys, rootPath, single, type Accumulate, type Filter, type Output, type Update } from './filter.ts'

type One = (value: Json, env: Env) => Json

/** Compiles `target operator source`. */
export function update(operator: UpdateOperator, target: Filter, source: Filter, offset: number): Filter {
  if (operator === '|=') return modify(target, source)
  if (operator === '=') return withValue(target, source, (_old, value) => value)
  if (operator === '//=') return withValue(target, source, (old, value) => isTruthy(old) ? old : value)
  const arithmetic = operator.slice(0, -1) as ArithmeticOperator
  return arithmeticUpdate(target, source, ARITHMETIC[arithmetic], offset, arithmetic === '+')
}

/** `target |= source`: the first output replaces what is there, none deletes it. */
export function modify(target: Filter, source: Filter): Filter {
  const { get } = source
  const change = get
    ? (old: Json, env: unknown): Output => get(old, env as Env)
    : (old: Json, env: unknown): Output => firstOutput(source, old, env as Env)
  const run = target.update ?? updatePaths(target)
  const facts = { ...(target.keys && { accumulate: accumulateModify(target, change) }) }
  return one((value, env) => orNull(run(value, env, change, env)), facts)
}

/** Gives the first output of a filter. */
export function firstOutput(filter: Filter, value: Json, env: Env): Output {
  let first: Output = NONE
  filter.each(value, env, (output) => {
    first = output
    return true
  })
  return first
}

// `source` is evaluated on the input, once, and its outputs are used one after the other.
function withValue(target: Filter, source: Filter, combine: (old: Json, value: Json) => Json): Filter {
  const run = target.update ?? updatePaths(target)
  const change = (old: Json, value: unknown): Json => combine(old, value as Json)
  const get = single(source)
  if (get === undefined) return many((value, env, emit) => source.each(value, env, (output) => emit(orNull(run(value, env, change, output)))))
  return one((value, env) => orNull(run(value, env, change, get(value, env))), {
    accumulate: accumulateWith(target, get, source.usesInput, combine),
  })
}

function arithmeticUpdate(target: Filter, source: Filter, compute: Arithmetic, offset: number, appends: boolean): Filter {
  const run = target.update ?? updatePaths(target)
  const get = single(source)
  const changeIn = (env: Env) => (old: Json, value: unknown): Json => compute(old, value as Json, env.run, offset)
  if (get === undefined) return many((value, env, emit) => source.each(value, env, (output) => emit(orNull(run(value, env, changeIn(env), output)))))
  return one((value, env) => orNull(run(value, env, changeIn(env), get(value, env))), {
    accumulate: accumulateWith(target, get, source.usesInput, (old, value, env, owned) =>
      appends ? addOwned(old, value, env.run, owned) : compute(old, value, env.run, offset)),
  })
}

/** Changes places one path after the other; every container is copied once, however many places are in it. */
function updatePaths(target: Filter): Update {
  return (value, env, change, context) => {
    const owned = new Set<object>()
    const gone: Json[][] = []
    let root = value
    target.paths(rootPath(value), value, env, (at, found) => {
      env.run.tick()
      const keys = pathKeys(at, found)
      const old = readPath(root, keys)
      // What the change sees may end up elsewhere in the data: it must not be changed in place afterwards.
      if (typeof old === 'object' && old !== null && owned.has(old)) owned.clear()
      const output = change(old, context)
      if (output === NONE) gone.push(keys)
      else root = writePath(root, keys, output, env.run, owned)
      return false
    })
    return gone.length === 0 ? root : deletePaths(root, gone, env.run)
  }
}

/** The in-place form of `target = source` and its like for the state of `reduce`. */
function accumulateWith(
  target: Filter, get: One, usesInput: boolean, combine: (old: Json, value: Json, env: Env, owned: Set<object>) => Json,
): Accumulate {
  return (state, env, owned) => {
    const value = get(state, env)
    // A value taken from the state may now be in it twice.
    if (usesInput && typeof value === 'object') owned.clear()
    let root = state
    target.paths(rootPath(state), state, env, (at, found) => {
      const keys = pathKeys(at, found)
      root = writePath(root, keys, combine(readPath(root, keys), value, env, owned), env.run, owned)
      return false
    })
    return root
  }
}

function accumulateModify(target: Filter, change: (old: Json, env: unknown) => Output): Accumulate {
  return (state, env, owned) => {
    const keys = target.keys as readonly (string | number)[]
    const old = readPath(state, keys)
    if (typeof old === 'object' && old !== null) owned.clear()
    const output = change(old, env)
    return output === NONE ? deletePaths(state, [keys], env.run) : writePath(state, keys, output, env.run, owned)
  }
}
