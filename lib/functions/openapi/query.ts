import type { Json } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'
import { encodeUnreserved, toText } from './encode.ts'

/** Appends `name=value` to a query, once for each item of a list; null appends nothing. */
export function appendPairs(query: string, name: string, value: Json): string {
  if (value === null) return query
  if (isJsonArray(value)) return value.reduce((text: string, item) => appendPairs(text, name, item), query)
  const pair = `${encodeUnreserved(name)}=${encodeUnreserved(toText(value))}`
  return query === '' ? pair : `${query}&${pair}`
}

/** Joins two queries. */
export function joinQueries(left: string, right: string): string {
  if (left === '') return right
  return right === '' ? left : `${left}&${right}`
}
