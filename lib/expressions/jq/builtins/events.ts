import type { Json } from '../../../common/index.ts'
import { readKey, writePath } from '../access.ts'
import { many, type Emit, type Filter } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import type { Run } from '../run.ts'
import { isArray, lengthOf, MAX_DEPTH } from '../value.ts'
import type { Builtins } from './define.ts'
import { children } from './paths.ts'

/** Builtins that take values apart into events, one for each leaf, and put them together again. */
export const EVENTS: Builtins = {
  'fromstream/1': ([events]) => fromStream(events as Filter),
  'tostream/0': () => many((value, env, emit) => stream(value, env.run, emit)),
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
