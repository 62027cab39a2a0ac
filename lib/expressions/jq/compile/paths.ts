import type { Json } from '../../../common/index.ts'
import { deleteKeys, readElement, readKey, readSlice, writeKey } from '../access.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { isArray, isObject, readOwn } from '../value.ts'
import {
  assertAt, constant, extend, many, NONE, one, optional, single,
  type Change, type Emit, type EmitPath, type Filter, type Output, type Path, type Paths, type Update,
} from './filter.ts'

/** The input itself. */
export function identity(): Filter {
  return one((value) => value, {
    keys: [],
    paths: (path, value, _env, emit) => emit(path, value),
    update: (value, _env, change, context) => change(value, context),
    accumulate: (state) => state,
  })
}

/** `target[key]` and `target.key`; an optional step swallows its own failure, not those of target and key. */
export function index(target: Filter, key: Filter, offset: number, isOptional = false): Filter {
  if (isOptional) return optionalIndex(target, key, offset)
  const fixed = key.constant
  if (typeof fixed === 'string') return field(target, fixed, offset)
  const getTarget = single(target)
  const getKey = single(key)
  const keys = typeof fixed === 'number' && target.keys !== undefined ? [...target.keys, fixed] : undefined
  const usesInput = target.usesInput || key.usesInput
  const paths = indexPaths(target, key, offset)
  if (getTarget === undefined || getKey === undefined) {
    return many((value, env, emit) => key.each(value, env, (k) => target.each(value, env, (t) => emit(readKey(t, k, offset)))), { usesInput, paths })
  }
  if (typeof fixed === 'number') {
    return one((value, env) => {
      const container = getTarget(value, env)
      return isArray(container) ? readElement(container, fixed) : readKey(container, fixed, offset)
    }, { usesInput, paths, ...(keys && { keys, update: updateKeys(keys) }) })
  }
  return one((value, env) => {
    const k = getKey(value, env)
    return readKey(getTarget(value, env), k, offset)
  }, { usesInput, paths, ...(target.update && { update: updateIndex(target.update, getKey) }) })
}

function optionalIndex(target: Filter, key: Filter, offset: number): Filter {
  const getTarget = single(target)
  const getKey = single(key)
  const paths: Paths = (path, value, env, emit) => key.each(value, env, (k) => target.paths(path, value, env, (at, t) => {
    assertAt(at, t, 'access element #1 of #0', k)
    const child = readOrNone(t, k, offset)
    return child !== NONE && emit(extend(at, k, child), child)
  }))
  if (getTarget && getKey) {
    return optional((value, env) => {
      const k = getKey(value, env)
      return readOrNone(getTarget(value, env), k, offset)
    }, { paths })
  }
  return many((value, env, emit) => key.each(value, env, (k) => target.each(value, env, (t) => {
    const child = readOrNone(t, k, offset)
    return child !== NONE && emit(child)
  })), { paths })
}

function readOrNone(value: Json, key: Json, offset: number): Output {
  try {
    return readKey(value, key, offset)
  } catch (error) {
    if (error instanceof JqError) return NONE
    throw error
  }
}

function field(target: Filter, key: string, offset: number): Filter {
  const keys = target.keys === undefined ? undefined : [...target.keys, key]
  const read = fieldReader(key, offset)
  const getTarget = single(target)
  const facts = {
    usesInput: target.usesInput,
    paths: indexPaths(target, undefined, offset, key),
    ...(keys ? { keys, update: updateKeys(keys) } : target.update && { update: updateIndex(target.update, () => key) }),
  }
  if (getTarget === undefined) return many((value, env, emit) => target.each(value, env, (t) => emit(read(t))), facts)
  if (target.keys?.length === 0) return one(read, facts)
  return one((value, env) => read(getTarget(value, env)), facts)
}

/** Makes a reader of one member. */
function fieldReader(key: string, offset: number): (value: Json) => Json {
  // Plain data inherits from Object.prototype only: a name that is not there needs no check of ownership.
  if (key in Object.prototype) return (value) => isObject(value) ? readOwn(value, key) : readKey(value, key, offset)
  return (value) => {
    if (typeof value === 'object' && value !== null && !isArray(value)) {
      const member = value[key]
      return member === undefined ? null : member
    }
    return readKey(value, key, offset)
  }
}

function indexPaths(target: Filter, key: Filter | undefined, offset: number, fixed?: Json) {
  return (path: Path, value: Json, env: Env, emit: EmitPath): boolean => {
    const step = (k: Json): boolean => target.paths(path, value, env, (at, t) => {
      assertAt(at, t, 'access element #1 of #0', k)
      const child = readKey(t, k, offset)
      return emit(extend(at, k, child), child)
    })
    return key === undefined ? step(fixed as Json) : key.each(value, env, step)
  }
}

/** `target[from:to]`. */
export function slice(target: Filter, from: Filter | undefined, to: Filter | undefined, offset: number, isOptional = false): Filter {
  if (isOptional) return optionalIndex(target, sliceKey(from ?? constant(null), to ?? constant(null)), offset)
  const bounds = (value: Json, env: Env, emit: (from: Json, to: Json) => boolean): boolean => {
    const ends = (start: Json): boolean => to === undefined ? emit(start, null) : to.each(value, env, (end) => emit(start, end))
    return from === undefined ? ends(null) : from.each(value, env, ends)
  }
  const paths = (path: Path, value: Json, env: Env, emit: EmitPath): boolean => bounds(value, env, (start, end) =>
    target.paths(path, value, env, (at, t) => {
      const key = { start, end }
      assertAt(at, t, 'access element #1 of #0', key)
      const child = readSlice(t, start, end, offset)
      return emit(extend(at, key, child), child)
    }))
  const getTarget = single(target)
  const getFrom = from === undefined ? (): Json => null : single(from)
  const getTo = to === undefined ? (): Json => null : single(to)
  if (getTarget && getFrom && getTo) {
    return one((value, env) => {
      const start = getFrom(value, env)
      const end = getTo(value, env)
      const t = getTarget(value, env)
      if (isArray(t)) env.run.charge(t.length)
      return readSlice(t, start, end, offset)
    }, { paths })
  }
  return many((value, env, emit) => bounds(value, env, (start, end) => target.each(value, env, (t) => emit(readSlice(t, start, end, offset)))), { paths })
}

/** The bounds of a slice as the key they are in a path; the start is the outer loop. */
function sliceKey(from: Filter, to: Filter): Filter {
  return many((value, env, emit) => from.each(value, env, (start) => to.each(value, env, (end) => emit({ start, end }))))
}

/** `target[]`. */
export function iterate(target: Filter, offset: number, isOptional = false): Filter {
  if (isOptional) return optionalIterate(target)
  const getTarget = single(target)
  const each = getTarget === undefined
    ? (value: Json, env: Env, emit: Emit): boolean => target.each(value, env, (t) => eachItem(t, env.run, emit, offset))
    : (value: Json, env: Env, emit: Emit): boolean => eachItem(getTarget(value, env), env.run, emit, offset)
  return many(each, {
    usesInput: target.usesInput,
    paths: (path, value, env, emit) => target.paths(path, value, env, (at, t) => {
      assertAt(at, t, 'iterate through #0', null)
      return eachKey(t, env.run, (key, item) => emit(extend(at, key, item), item), offset)
    }),
    ...(target.update && { update: updateItems(target.update, offset) }),
    ...(getTarget && { items: { container: getTarget } }),
  })
}

function optionalIterate(target: Filter): Filter {
  const isContainer = (value: Json): boolean => typeof value === 'object' && value !== null
  return many((value, env, emit) => target.each(value, env, (t) => isContainer(t) && eachItem(t, env.run, emit)), {
    usesInput: target.usesInput,
    paths: (path, value, env, emit) => target.paths(path, value, env, (at, t) => {
      if (!isContainer(t)) return false
      assertAt(at, t, 'iterate through #0', null)
      return eachKey(t, env.run, (key, item) => emit(extend(at, key, item), item))
    }),
  })
}

/** Runs through the elements of an array or the members of an object. */
export function eachItem(value: Json, run: Run, emit: Emit, offset?: number): boolean {
  if (isArray(value)) {
    for (const item of value) {
      run.tick()
      if (emit(item)) return true
    }
    return false
  }
  return eachKey(value, run, (_key, item) => emit(item), offset)
}

function eachKey(value: Json, run: Run, emit: (key: Json, item: Json) => boolean, offset?: number): boolean {
  if (isArray(value)) {
    for (let position = 0; position < value.length; position += 1) {
      run.tick()
      if (emit(position, value[position] as Json)) return true
    }
    return false
  }
  if (!isObject(value)) throw cannotIterate(value, offset)
  for (const key of Object.keys(value)) {
    run.tick()
    if (emit(key, value[key] ?? null)) return true
  }
  return false
}

/** The failure to run through a value that is no container. */
export function cannotIterate(value: Json, offset?: number): JqError {
  return value === null ? new JqError('Cannot iterate over null (null)', [], offset) : new JqError('Cannot iterate over %0', [value], offset)
}

/** Changes the place a plain path names, copying each container on the way once. */
function updateKeys(keys: readonly (string | number)[]): Update {
  const last = keys.length - 1
  const step = (container: Json, depth: number, run: Run, change: Change, context: unknown): Json => {
    const key = keys[depth] as string | number
    const child = readKey(container, key)
    if (depth === last) return apply(container, key, change(child, context), run)
    const next = step(child, depth + 1, run, change, context)
    // A deletion below nothing makes nothing.
    return next === child ? container : writeKey(container, key, next, run)
  }
  return (value, env, change, context) => step(value, 0, env.run, change, context)
}

function apply(container: Json, key: Json, output: Json | typeof NONE, run: Run): Json {
  return output === NONE ? deleteKeys(container, [key], run) : writeKey(container, key, output, run)
}

function updateIndex(target: Update, getKey: (value: Json, env: Env) => Json): Update {
  return (value, env, change, context) => {
    const key = getKey(value, env)
    return target(value, env, (container, inner) => apply(container, key, change(readKey(container, key), inner), env.run), context)
  }
}

function updateItems(target: Update, offset: number): Update {
  return (value, env, change, context) => target(value, env, (container, inner) => {
    const { run } = env
    if (isArray(container)) {
      run.charge(container.length)
      const items: Json[] = []
      for (const item of container) {
        run.tick()
        const output = change(item, inner)
        if (output !== NONE) items.push(output)
      }
      return items
    }
    if (!isObject(container)) throw cannotIterate(container, offset)
    const copy: Record<string, unknown> = { ...container }
    for (const key of Object.keys(container)) {
      run.tick()
      run.charge(1)
      const output = change(container[key] as Json, inner)
      if (output === NONE) Reflect.deleteProperty(copy, key)
      else if (key === '__proto__') Object.defineProperty(copy, key, { value: output, enumerable: true, configurable: true, writable: true })
      else copy[key] = output
    }
    return copy as Json
  }, context)
}
