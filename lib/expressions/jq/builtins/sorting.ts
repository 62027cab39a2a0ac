import type { Json } from '../../../common/index.ts'
import { collect, one, single, type Filter } from '../compile/filter.ts'
import { cannotIterate } from '../compile/paths.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { compare, compareStrings, equals, isArray, isObject } from '../value.ts'
import { unary, type Builtins } from './define.ts'

/** Builtins that need an order of values. */
export const SORTING: Builtins = {
  'sort/0': unary((value, run) => {
    const items = assertArray(value)
    spendSort(items.length, run)
    return items.toSorted(compare)
  }),
  'sort_by/1': ([key]) => one((value, env) => sortedPairs(value, key as Filter, env).map(({ item }) => item)),
  'group_by/1': ([key]) => one((value, env) => groups(value, key as Filter, env)),
  'unique/0': unary((value, run) => {
    const items = assertArray(value)
    spendSort(items.length, run)
    const sorted = items.toSorted(compare)
    return sorted.filter((item, index) => index === 0 || !equals(item, sorted[index - 1] as Json))
  }),
  'unique_by/1': ([key]) => one((value, env) => groups(value, key as Filter, env).map((group) => group[0] as Json)),
  'min/0': unary((value, run) => extreme(ownKeys(value), -1, run)),
  'max/0': unary((value, run) => extreme(ownKeys(value), 1, run)),
  'min_by/1': ([key]) => one((value, env) => extreme(pairs(value, key as Filter, env, NOT_ITERABLE), -1, env.run)),
  'max_by/1': ([key]) => one((value, env) => extreme(pairs(value, key as Filter, env, NOT_ITERABLE), 1, env.run)),
}

interface Pair {
  readonly key: Json
  readonly item: Json
}

function assertArray(value: Json): readonly Json[] {
  if (!isArray(value)) throw new JqError('%0 cannot be sorted, as it is not an array', [value])
  return value
}

function spendSort(length: number, run: Run): void {
  run.charge(length)
  run.spend(Math.ceil(length * Math.log2(length + 1)))
}

/** Computes the keys of all elements: one output is compared as it is, several like an array. */
function pairs(value: Json, key: Filter, env: Env, failure: string): Pair[] {
  const get = single(key)
  if (!isArray(value)) {
    // jq computes the keys before it looks at the whole.
    if (!isObject(value)) throw cannotIterate(value)
    throw new JqError(failure, [value, Object.values(value).map((item) => collect(key, item, env))])
  }
  return value.map((item) => {
    env.run.tick()
    return { key: get ? get(item, env) : collect(key, item, env), item }
  })
}

const NOT_SORTABLE = '%0 and %1 cannot be sorted, as they are not both arrays'
const NOT_ITERABLE = '%0 and %1 cannot be iterated over'

function sortedPairs(value: Json, key: Filter, env: Env): Pair[] {
  const list = pairs(value, key, env, NOT_SORTABLE)
  spendSort(list.length, env.run)
  return list.sort((left, right) => compare(left.key, right.key))
}

function groups(value: Json, key: Filter, env: Env): Json[][] {
  const list = pairs(value, key, env, NOT_SORTABLE)
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

function ownKeys(value: Json): readonly Pair[] {
  if (!isArray(value)) throw new JqError(NOT_ITERABLE, [value, value])
  return value.map((item) => ({ key: item, item }))
}

// Of equals, the first is the smallest and the last the largest.
function extreme(list: readonly Pair[], sign: 1 | -1, run: Run): Json {
  let best: Pair | undefined
  for (const pair of list) {
    run.tick()
    const order = best === undefined ? sign : compare(pair.key, best.key)
    if (sign > 0 ? order >= 0 : order < 0) best = pair
  }
  return best?.item ?? null
}
