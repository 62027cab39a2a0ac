import type { Json } from '../../../common/index.ts'
import { collect, one, single, type Filter } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { compare, compareStrings, equals, isArray } from '../value.ts'
import { unary, type Builtins } from './define.ts'

/** Builtins that need an order of values. */
export const SORTING: Builtins = {
  'sort/0': unary((value, run) => {
    const items = assertArray(value, 'sorted')
    spendSort(items.length, run)
    return items.toSorted(compare)
  }),
  'sort_by/1': ([key]) => one((value, env) => sortedPairs(value, key as Filter, env, 'sorted').map(({ item }) => item)),
  'group_by/1': ([key]) => one((value, env) => groups(value, key as Filter, env, 'grouped')),
  'unique/0': unary((value, run) => {
    const items = assertArray(value, 'sorted')
    spendSort(items.length, run)
    const sorted = items.toSorted(compare)
    return sorted.filter((item, index) => index === 0 || !equals(item, sorted[index - 1] as Json))
  }),
  'unique_by/1': ([key]) => one((value, env) => groups(value, key as Filter, env, 'grouped').map((group) => group[0] as Json)),
  'min/0': unary((value, run) => extreme(value, (item) => item, -1, run)),
  'max/0': unary((value, run) => extreme(value, (item) => item, 1, run)),
  'min_by/1': ([key]) => one((value, env) => extreme(value, keyOf(key as Filter, env), -1, env.run)),
  'max_by/1': ([key]) => one((value, env) => extreme(value, keyOf(key as Filter, env), 1, env.run)),
}

interface Pair {
  readonly key: Json
  readonly item: Json
}

function assertArray(value: Json, what: string): readonly Json[] {
  if (!isArray(value)) throw new JqError(`%0 cannot be ${what}, as it is not an array`, [value])
  return value
}

function spendSort(length: number, run: Run): void {
  run.charge(length)
  run.spend(Math.ceil(length * Math.log2(length + 1)))
}

// One output is compared as it is; several are compared like an array.
function keyOf(key: Filter, env: Env): (item: Json) => Json {
  const get = single(key)
  return get ? (item) => get(item, env) : (item) => collect(key, item, env)
}

function pairs(value: Json, key: Filter, env: Env, what: string): Pair[] {
  const read = keyOf(key, env)
  return assertArray(value, what).map((item) => {
    env.run.tick()
    return { key: read(item), item }
  })
}

function sortedPairs(value: Json, key: Filter, env: Env, what: string): Pair[] {
  const list = pairs(value, key, env, what)
  spendSort(list.length, env.run)
  return list.sort((left, right) => compare(left.key, right.key))
}

function groups(value: Json, key: Filter, env: Env, what: string): Json[][] {
  const list = pairs(value, key, env, what)
  env.run.charge(list.length)
  const quick = groupStrings(list)
  if (quick !== undefined) return quick
  spendSort(list.length, env.run)
  list.sort((left, right) => compare(left.key, right.key))
  const result: Json[][] = []
  list.forEach((pair, index) => {
    const previous = list[index - 1]
    if (previous !== undefined && equals(previous.key, pair.key)) result.at(-1)?.push(pair.item)
    else result.push([pair.item])
  })
  return result
}

/** Groups by texts without sorting the elements: only the distinct keys need an order. */
function groupStrings(list: readonly Pair[]): Json[][] | undefined {
  const found = new Map<string, Json[]>()
  for (const { key, item } of list) {
    if (typeof key !== 'string') return undefined
    const group = found.get(key)
    if (group === undefined) found.set(key, [item])
    else group.push(item)
  }
  return [...found.keys()].sort(compareStrings).map((key) => found.get(key) ?? [])
}

// Of equals, the first is the smallest and the last the largest.
function extreme(value: Json, key: (item: Json) => Json, sign: 1 | -1, run: Run): Json {
  if (!isArray(value)) throw new JqError('%0 and %0 cannot be iterated over', [value])
  let best: Json = null
  let bestKey: Json = null
  value.forEach((item, index) => {
    run.tick()
    const candidate = key(item)
    const order = index === 0 ? sign : compare(candidate, bestKey)
    if (sign > 0 ? order >= 0 : order < 0) {
      best = item
      bestKey = candidate
    }
  })
  return best
}
