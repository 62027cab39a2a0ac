import { isJsonObject, jsonEquals } from '../../lib/common/index.ts'

/** Tells whether a value has at least the members of a pattern; lists have equal length, scalars are equal. */
export function isSubset(pattern: unknown, value: unknown): boolean {
  if (isJsonObject(pattern)) {
    return isJsonObject(value) && Object.keys(pattern).every((key) => Object.hasOwn(value, key) && isSubset(pattern[key], value[key]))
  }
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && value.length === pattern.length && pattern.every((item, index) => isSubset(item, value[index]))
  }
  return jsonEquals(pattern, value)
}
