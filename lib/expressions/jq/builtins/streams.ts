import type { Json } from '../../../common/index.ts'
import { deletePaths, readKey, readPath, writePath } from '../access.ts'
import { many, NONE, one, optional, pathKeys, rootPath, single, extend, type Each, type Emit, type EmitPath, type Filter, type Path, type Paths } from '../compile/filter.ts'
import { firstOutput } from '../compile/update.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { compare, isArray, isObject, isTruthy, lengthOf, MAX_DEPTH } from '../value.ts'
import { binary, combinations, combining, type Builtins } from './define.ts'

/** Builtins that produce, cut or follow streams of outputs, and those on paths. */
export const STREAMS: Builtins = {
  'range/1': ([upto]) => range((value, env, emit) => (upto as Filter).each(value, env, (end) => emit(0, end, 1))),
  'range/2': (args) => range((value, env, emit) => combinations(args, 'first', value, env, ([from, upto]) => emit(from as Json, upto as Json, 1))),
  'range/3': (args) => range((value, env, emit) => combinations(args, 'first', value, env, ([from, upto, by]) => emit(from as Json, upto as Json, by as Json))),
  'first/1': ([source]) => first(source as Filter),
  'last/1': ([source]) => last(source as Filter),
  'limit/2': ([count, source]) => limit(count as Filter, source as Filter),
  'skip/2': ([count, source]) => skip(count as Filter, source as Filter),
  'nth/2': ([count, source]) => nth(count as Filter, source as Filter),
  'until/2': ([condition, update]) => until(condition as Filter, update as Filter),
  'while/2': ([condition, update]) => unfold(update as Filter, condition),
  'repeat/1': ([update]) => unfold(update as Filter, undefined),
  'recurse/0': descendants,
  'recurse/1': ([update]) => unfold(update as Filter, undefined),
  'recurse/2': ([update, condition]) => unfold(update as Filter, undefined, condition),
  'isempty/1': ([source]) => one((value, env) => !(source as Filter).each(value, env, () => true)),
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
  'fromstream/1': ([events]) => fromStream(events as Filter),
  'tostream/0': () => many((value, env, emit) => stream(value, env.run, emit)),
}

function range(bounds: (value: Json, env: Env, emit: (from: Json, upto: Json, by: Json) => boolean) => boolean): Filter {
  return many((value, env, emit) => bounds(value, env, (from, upto, by) => {
    if (typeof from !== 'number' || typeof upto !== 'number' || typeof by !== 'number') throw new JqError('Range bounds must be numeric')
    if (by > 0) {
      for (let at = from; at < upto; at += by) {
        env.run.tick()
        if (emit(at)) return true
      }
    } else if (by < 0) {
      for (let at = from; at > upto; at += by) {
        env.run.tick()
        if (emit(at)) return true
      }
    } else if (from < upto) {
      for (;;) {
        env.run.tick()
        if (emit(from)) return true
      }
    }
    return false
  }))
}

function first(source: Filter): Filter {
  if (source.get) return source
  return optional((value, env) => firstOutput(source, value, env), {
    paths: (path, value, env, emit) => {
      // The consumer runs after the source was left, as in `label $out | source | ., break $out`.
      let found: [Path, Json] | undefined
      source.paths(path, value, env, (at, output) => {
        found = [at, output]
        return true
      })
      return found !== undefined && emit(...found)
    },
  })
}

function last(source: Filter): Filter {
  return optional((value, env) => {
    let found: Json | typeof NONE = NONE
    source.each(value, env, (output) => {
      found = output
      return false
    })
    return found
  })
}

function assertCount(count: Json, name: string): number {
  if (compare(count, 0) < 0) throw new JqError(`${name} doesn't support negative count`)
  if (typeof count !== 'number') throw new JqError('%0 and number (1) cannot be subtracted', [count])
  return count
}

/** Passes outputs on while `take` says so; `end` after the last one that is passed. */
type Gate = () => 'pass' | 'drop' | 'last'

function gated(count: Filter, source: Filter, gate: (count: number) => Gate | undefined, name: string): Filter {
  const each: Each = (value, env, emit) => count.each(value, env, (output) => {
    const verdict = gate(assertCount(output, name))
    if (verdict === undefined) return false
    let stopped = false
    source.each(value, env, (item) => {
      const next = verdict()
      if (next !== 'drop') stopped = emit(item)
      return stopped || next === 'last'
    })
    return stopped
  })
  const paths: Paths = (path, value, env, emit) => count.each(value, env, (output) => {
    const verdict = gate(assertCount(output, name))
    if (verdict === undefined) return false
    let stopped = false
    source.paths(path, value, env, (at, item) => {
      const next = verdict()
      if (next !== 'drop') stopped = emit(at, item)
      return stopped || next === 'last'
    })
    return stopped
  })
  return many(each, { paths })
}

function limit(count: Filter, source: Filter): Filter {
  return gated(count, source, (most) => {
    let left = most
    return most <= 0 ? undefined : () => (left -= 1) <= 0 ? 'last' : 'pass'
  }, 'limit')
}

function skip(count: Filter, source: Filter): Filter {
  return gated(count, source, (least) => {
    let left = least
    return () => (left -= 1) >= 0 ? 'drop' : 'pass'
  }, 'skip')
}

function nth(count: Filter, source: Filter): Filter {
  return many((value, env, emit) => count.each(value, env, (position) => {
    if (compare(position, 0) < 0) throw new JqError('nth doesn\'t support negative indices')
    let left = assertCount(position, 'nth')
    let found: Json | typeof NONE = NONE
    source.each(value, env, (output) => {
      if ((left -= 1) >= 0) return false
      found = output
      return true
    })
    return found !== NONE && emit(found)
  }), {
    paths: (path, value, env, emit) => count.each(value, env, (position) => {
      let left = assertCount(position, 'nth')
      let found: [Path, Json] | undefined
      source.paths(path, value, env, (at, output) => {
        if ((left -= 1) >= 0) return false
        found = [at, output]
        return true
      })
      return found !== undefined && emit(...found)
    }),
  })
}

function until(condition: Filter, update: Filter): Filter {
  const test = single(condition)
  const step = single(update)
  const paths: Paths = (path, value, env, emit) => {
    const turn = (at: Path, state: Json): boolean => {
      env.run.tick()
      return condition.each(state, env, (output) => isTruthy(output) ? emit(at, state) : update.paths(at, state, env, turn))
    }
    return turn(path, value)
  }
  if (test && step) {
    return one((value, env) => {
      let state = value
      while (!isTruthy(test(state, env))) {
        env.run.tick()
        state = step(state, env)
      }
      return state
    }, { paths })
  }
  return many((value, env, emit) => {
    const turn = (state: Json): boolean => {
      env.run.tick()
      return condition.each(state, env, (output) => isTruthy(output) ? emit(state) : update.each(state, env, turn))
    }
    return turn(value)
  }, { paths })
}

/** The input, then everything that `update` makes of it, again and again: `recurse`, `repeat` and `while`. */
function unfold(update: Filter, condition: Filter | undefined, filter?: Filter): Filter {
  const { get } = update
  const test = condition === undefined ? undefined : single(condition)
  const wanted = filter === undefined ? undefined : single(filter)
  const paths: Paths = (path, value, env, emit) => {
    const turn = (at: Path, state: Json): boolean => {
      env.run.tick()
      const go = (): boolean => emit(at, state) || update.paths(at, state, env, (next, output) => filter === undefined
        ? turn(next, output)
        : filter.each(output, env, (keep) => isTruthy(keep) && turn(next, output)))
      return condition === undefined ? go() : condition.each(state, env, (output) => isTruthy(output) && go())
    }
    return turn(path, value)
  }
  if (get && (condition === undefined || test) && (filter === undefined || wanted)) {
    // At most one successor: a loop, however long.
    return many((value, env, emit) => {
      let state: Json | typeof NONE = value
      while (state !== NONE) {
        env.run.tick()
        if (test && !isTruthy(test(state, env))) return false
        if (emit(state)) return true
        state = get(state, env)
        if (state !== NONE && wanted && !isTruthy(wanted(state, env))) return false
      }
      return false
    }, { paths })
  }
  return many((value, env, emit) => {
    const turn = (state: Json): boolean => {
      env.run.tick()
      const go = (): boolean => emit(state) || update.each(state, env, (output) => filter === undefined
        ? turn(output)
        : filter.each(output, env, (keep) => isTruthy(keep) && turn(output)))
      return condition === undefined ? go() : condition.each(state, env, (output) => isTruthy(output) && go())
    }
    return turn(value)
  }, { paths })
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

function children(value: Json): readonly Json[] | undefined {
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

interface StreamLevel {
  readonly keys: readonly Json[]
  readonly items: readonly Json[]
  readonly path: readonly Json[]
  index: number
}

/** `tostream`: every leaf with its path, and the end of every container. */
function stream(root: Json, run: Run, emit: Emit): boolean {
  const stack: StreamLevel[] = []
  const enter = (value: Json, path: readonly Json[]): boolean => {
    if (path.length > MAX_DEPTH) throw new JqError('Path too deep')
    run.charge(path.length + 2)
    run.tick()
    const items = children(value)
    if (items === undefined || items.length === 0) return emit([path, value])
    const keys = isArray(value) ? Array.from(value.keys()) : Object.keys(value as object)
    stack.push({ keys, items, path, index: 0 })
    return false
  }
  if (enter(root, [])) return true
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const { index, keys, items, path } = level
    if (index < items.length) {
      level.index += 1
      if (enter(items[index] as Json, [...path, keys[index] as Json])) return true
    } else {
      stack.pop()
      if (emit([[...path, keys.at(-1) as Json]])) return true
    }
  }
  return false
}

/** `fromstream`: puts leaves together until their outermost container ends. */
function fromStream(events: Filter): Filter {
  return many((value, env, emit) => {
    const owned = new Set<object>()
    let root: Json = null
    const finish = (): boolean => {
      const whole = root
      root = null
      owned.clear()
      return emit(whole)
    }
    return events.each(value, env, (event) => {
      env.run.tick()
      if (event === null) return false
      const closes = lengthOf(event) !== 2
      const keys = readKey(event, 0)
      if (!isArray(event) || closes) return lengthOf(keys) === 1 && finish()
      const path = keys === null ? [] : keys
      if (!isArray(path)) throw new JqError('array (["x"]) and %0 cannot be added', [path])
      root = path.length === 0 ? (event[1] as Json) : writePath(root, path, event[1] as Json, env.run, owned)
      return path.length === 0 && finish()
    })
  })
}
