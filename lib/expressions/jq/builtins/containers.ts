import { setOwn, type Json } from '../../../common/index.ts'
import { readKey } from '../access.ts'
import { subtract } from '../arithmetic.ts'
import { array } from '../compile/construct.ts'
import { pipe } from '../compile/control.ts'
import { constant, many, NONE, one, optional, type Each, type Filter, type One, type Output } from '../compile/filter.ts'
import { cannotIterate, eachItem, identity, index, iterate } from '../compile/paths.ts'
import { modify } from '../compile/update.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { compare, equals, isArray, isObject, isTruthy, lengthOf, MAX_DEPTH, readOwn, sortedKeys, typeOf } from '../value.ts'
import { countStep } from '../walk-budget.ts'
import { binary, unary, type Builtins } from './define.ts'

/** Builtins on arrays and objects: keys, entries, what is in them. */
export const CONTAINERS: Builtins = {
  'map/1': ([body], offset) => array(pipe(iterate(identity(), offset), body as Filter)),
  'map_values/1': ([body], offset) => modify(iterate(identity(), offset), body as Filter),
  'length/0': unary(lengthOf),
  'keys/0': unary((value, run) => keysOf(value, run, true)),
  'keys_unsorted/0': unary((value, run) => keysOf(value, run, false)),
  'has/1': binary((value, key) => has(value, key)),
  'in/1': binary((value, container) => has(container, value)),
  'contains/1': binary((value, part) => containsAll(value, part)),
  'inside/1': binary((value, whole) => containsAll(whole, value)),
  'flatten/0': unary((value, run) => flatten(value, 1e9, run)),
  'flatten/1': binary((value, depth, run) => flatten(value, depth, run)),
  'reverse/0': unary((value, run) => reverse(value, run)),
  'to_entries/0': unary((value, run) => toEntries(value, run)),
  'from_entries/0': unary((value, run) => fromEntries(value, run)),
  'with_entries/1': ([body], offset) => pipe(
    unary(toEntries)([], offset),
    pipe(array(pipe(iterate(identity(), offset), body as Filter)), unary(fromEntries)([], offset)),
  ),
  'toarray/0': unary((value) => isArray(value) ? value : [value]),
  'first/0': (_args, offset) => index(identity(), constant(0), offset),
  'last/0': (_args, offset) => index(identity(), constant(-1), offset),
  'nth/1': ([position], offset) => index(identity(), position as Filter, offset),
  'transpose/0': unary(transpose),
  'bsearch/1': binary((value, wanted, run) => search(value, wanted, run)),
  'walk/1': ([body]) => walk(body as Filter),
}

function keysOf(value: Json, run: Run, sorted: boolean): Json {
  if (isArray(value)) {
    run.charge(value.length)
    return Array.from(value.keys())
  }
  if (!isObject(value)) throw new JqError('%0 has no keys', [value])
  const keys = sorted ? sortedKeys(value) : Object.keys(value)
  run.charge(keys.length)
  return keys
}

function has(value: Json, key: Json): boolean {
  if (value === null) return false
  if (isObject(value) && typeof key === 'string') return Object.hasOwn(value, key)
  if (isArray(value) && typeof key === 'number') return key >= 0 && key < value.length
  throw new JqError(`Cannot check whether ${typeOf(value)} has a ${typeOf(key)} key`)
}

function containsAll(whole: Json, part: Json): boolean {
  try {
    return containsAt(whole, part, 0)
  } catch (error) {
    // The stack ends before jq's own limit when frames are large; the answer is the same.
    if (error instanceof RangeError) throw new JqError('Containment check too deep')
    throw error
  }
}

function containsAt(whole: Json, part: Json, depth: number): boolean {
  countStep()
  if (depth > MAX_DEPTH) throw new JqError('Containment check too deep')
  if (isObject(whole) && isObject(part)) {
    return Object.keys(part).every((key) => Object.hasOwn(whole, key) && containsAt(whole[key] as Json, part[key] as Json, depth + 1))
  }
  if (isArray(whole) && isArray(part)) return part.every((wanted) => whole.some((item) => typeOf(item) === typeOf(wanted) && containsAt(item, wanted, depth + 1)))
  if (typeof whole === 'string' && typeof part === 'string') return whole.includes(part)
  const sameKind = typeof whole === 'boolean' ? whole === part : typeOf(whole) === typeOf(part)
  if (sameKind) return equals(whole, part)
  if (depth > 0) return false
  throw new JqError('%0 and %1 cannot have their containment checked', [whole, part])
}

function flatten(value: Json, depth: Json, run: Run): Json {
  if (compare(depth, 0) < 0) throw new JqError('flatten depth must not be negative')
  const result: Json[] = []
  const items = (container: Json): readonly Json[] => isArray(container) ? container : Object.values(container as object) as Json[]
  if (typeof value !== 'object' || value === null) throw cannotIterate(value)
  // An explicit stack: arrays may be nested deeper than native recursion reaches.
  const stack: { readonly items: readonly Json[]; index: number; readonly depth: Json }[] = [{ items: items(value), index: 0, depth }]
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    if (level.index >= level.items.length) {
      stack.pop()
      continue
    }
    const item = level.items[level.index] as Json
    level.index += 1
    run.tick()
    if (isArray(item) && level.depth !== 0) stack.push({ items: item, index: 0, depth: subtract(level.depth, 1, run) })
    else {
      run.charge(1)
      result.push(item)
    }
  }
  return result
}

function reverse(value: Json, run: Run): Json {
  const length = lengthOf(value)
  if (length <= 0) return []
  if (!isArray(value)) return readKey(value, length - 1)
  run.charge(length)
  return value.toReversed()
}

function toEntries(value: Json, run: Run): Json {
  if (isArray(value)) return value.map((item, key) => {
    run.charge(3)
    return { key, value: item }
  })
  if (!isObject(value)) throw new JqError('%0 has no keys', [value])
  return Object.keys(value).map((key) => {
    run.charge(3)
    return { key, value: value[key] ?? null }
  })
}

const KEY_NAMES = ['key', 'Key', 'name', 'Name']

function fromEntries(value: Json, run: Run): Json {
  const result: Record<string, unknown> = {}
  eachItem(value, run, (entry) => {
    if (entry !== null && !isObject(entry)) throw new JqError(`Cannot index ${typeOf(entry)} with string ("key")`)
    const read = (name: string): Json => entry === null ? null : readOwn(entry, name)
    const key = KEY_NAMES.map(read).find(isTruthy) ?? null
    if (typeof key !== 'string') throw new JqError('Cannot use %0 as object key', [key])
    run.charge(1)
    setOwn(result, key, entry !== null && Object.hasOwn(entry, 'value') ? entry['value'] : read('Value'))
    return false
  })
  return result as Json
}

function transpose(value: Json, run: Run): Json {
  if (typeof value !== 'object' || value === null) throw cannotIterate(value)
  const rows = isArray(value) ? value : Object.values(value)
  const width = rows.reduce<number>((most, row) => Math.max(most, lengthOf(row)), 0)
  run.charge(width * (rows.length + 1))
  run.spend(width * rows.length)
  return Array.from({ length: Math.ceil(width) }, (_, column) => rows.map((row) => readKey(row, column)))
}

function search(value: Json, wanted: Json, run: Run): Json {
  if (!isArray(value)) throw new JqError('%0 cannot be searched from', [value])
  let low = 0
  let high = value.length - 1
  while (low <= high) {
    run.tick()
    const middle = (low + high) >> 1
    const order = compare(value[middle] as Json, wanted)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return -1 - low
}

function walk(body: Filter): Filter {
  const { get } = body
  const visit = (value: Json, env: Env): Output => {
    env.run.tick()
    return get ? get(rebuild(value, env), env) : NONE
  }
  const rebuild = (value: Json, env: Env): Json => {
    if (isArray(value)) return value.map((item) => visit(item, env)).filter((item) => item !== NONE)
    if (!isObject(value)) return value
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const member = visit(value[key] as Json, env)
      if (member !== NONE) setOwn(copy, key, member)
    }
    env.run.charge(1)
    return copy as Json
  }
  if (get) return body.count === 'one' ? one(visit as One) : optional(visit)
  const every: Each = (value, env, emit) => body.each(rebuildMany(value, env), env, emit)
  // Elements take all outputs, members the first one: `map` and `map_values`.
  const rebuildMany = (value: Json, env: Env): Json => {
    env.run.tick()
    if (isArray(value)) {
      const items: Json[] = []
      for (const item of value) every(item, env, (output) => {
        env.run.charge(1)
        items.push(output)
        return false
      })
      return items
    }
    if (!isObject(value)) return value
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(value)) every(value[key] as Json, env, (output) => {
      setOwn(copy, key, output)
      return true
    })
    return copy as Json
  }
  return many(every)
}
