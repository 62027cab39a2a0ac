import type { Json } from '../../../common/index.ts'
import { deletePaths, readPath, writePath } from '../access.ts'
import { extend, many, one, pathKeys, rootPath, single, type Emit, type EmitPath, type Filter, type Path, type Paths } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import type { Run } from '../run.ts'
import { isArray, isObject, isTruthy } from '../value.ts'
import { binary, combining, type Builtins } from './define.ts'

/** Builtins on places in a value: finding, reading, writing and deleting them. */
export const PATHS: Builtins = {
  'path/1': ([source]) => path(source as Filter),
  'paths/0': () => paths(undefined),
  'paths/1': ([condition]) => paths(condition),
  'leaf_paths/0': () => paths(one((value) => typeof value !== 'object' || value === null)),
  'getpath/1': ([keys]) => getpath(keys as Filter),
  'setpath/2': combining((value, [keys, member], run) => writePath(value, assertPath(keys as Json), member as Json, run), 'last'),
  'delpaths/1': binary((value, list, run) => {
    if (!isArray(list)) throw new JqError('Paths must be specified as an array')
    for (const keys of list) if (!isArray(keys)) throw new JqError(`Path must be specified as array, not ${keys === null ? 'null' : typeof keys}`)
    return deletePaths(value, list as readonly (readonly Json[])[], run)
  }),
  'del/1': ([source]) => del(source as Filter),
  'pick/1': ([source]) => pick(source as Filter),
}

/** `..`: the input and everything in it, outermost first. */
export function descendants(): Filter {
  return many((value, env, emit) => visit(value, env.run, emit), {
    paths: (path, value, env, emit) => {
      // `..` is recurse(.[]?): over a value that was made, the `?` swallows the failure to follow it.
      if (!Object.is(path.value, value)) return emit(path, value)
      return visitPaths(path, env.run, emit)
    },
  })
}

/** The members of a container, in order; `undefined` for what is none. */
export function children(value: Json): readonly Json[] | undefined {
  if (isArray(value)) return value
  return isObject(value) ? Object.values(value) : undefined
}

function visit(root: Json, run: Run, emit: Emit): boolean {
  if (emit(root)) return true
  const top = children(root)
  const stack = top === undefined ? [] : [{ items: top, index: 0 }]
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    if (level.index >= level.items.length) {
      stack.pop()
      continue
    }
    const item = level.items[level.index] as Json
    level.index += 1
    run.tick()
    if (emit(item)) return true
    const inner = children(item)
    if (inner !== undefined) stack.push({ items: inner, index: 0 })
  }
  return false
}

function visitPaths(root: Path, run: Run, emit: EmitPath): boolean {
  const stack = [root]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    run.tick()
    const { value } = at
    if (emit(at, value)) return true
    const keys: Json[] = isArray(value) ? Array.from(value.keys()) : isObject(value) ? Object.keys(value) : []
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] as string | number
      stack.push(extend(at, key, (value as Readonly<Record<string | number, Json>>)[key] ?? null))
    }
  }
  return false
}

function path(source: Filter): Filter {
  return many((value, env, emit) => source.paths(rootPath(value), value, env, (at, output) => {
    env.run.charge(at.length)
    return emit(pathKeys(at, output))
  }))
}

function paths(condition: Filter | undefined): Filter {
  return many((value, env, emit) => visitPaths(rootPath(value), env.run, (at, found) => {
    const pass = (): boolean => {
      if (at.length === 0) return false
      env.run.charge(at.length)
      return emit(pathKeys(at, found))
    }
    // The condition sees the root as well, though the root is no output.
    return condition === undefined ? pass() : condition.each(found, env, (output) => isTruthy(output) && pass())
  }))
}

function assertPath(keys: Json): readonly Json[] {
  if (!isArray(keys)) throw new JqError('Path must be specified as an array')
  return keys
}

function getpath(keys: Filter): Filter {
  const read = (value: Json, output: Json): Json => readPath(value, assertPath(output))
  const get = single(keys)
  const paths: Paths = (path, value, env, emit) => keys.each(value, env, (output) => {
    let at = path
    let found = value
    const steps = assertPath(output)
    read(value, output)
    pathKeys(path, value)
    for (const key of steps) {
      found = readPath(found, [key])
      at = extend(at, key, found)
    }
    return emit(at, found)
  })
  if (get) return one((value, env) => read(value, get(value, env)), { paths })
  return many((value, env, emit) => keys.each(value, env, (output) => emit(read(value, output))), { paths })
}

function del(source: Filter): Filter {
  return one((value, env) => {
    const gone: Json[][] = []
    source.paths(rootPath(value), value, env, (at, found) => {
      env.run.charge(at.length + 1)
      gone.push(pathKeys(at, found))
      return false
    })
    return gone.length === 0 ? value : deletePaths(value, gone, env.run)
  })
}

function pick(source: Filter): Filter {
  return one((value, env) => {
    const owned = new Set<object>()
    let result: Json = null
    source.paths(rootPath(value), value, env, (at, found) => {
      const keys = pathKeys(at, found)
      result = writePath(result, keys, readPath(value, keys), env.run, owned)
      return false
    })
    return result
  })
}
