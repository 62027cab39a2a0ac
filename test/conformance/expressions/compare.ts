import { jsonEquals, type Json } from '../../../lib/common/index.ts'

/** Compares outputs: NaN counts as null and infinity as the largest double, as jq prints them. */
export function sameValue(left: Json, right: Json): boolean {
  return jsonEquals(withoutSpecialNumbers(left), withoutSpecialNumbers(right))
}

/** Replaces numbers that JSON does not have by what jq prints for them. */
export function withoutSpecialNumbers(value: Json): Json {
  if (typeof value === 'number') return Number.isNaN(value) ? null : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
  return value
}
