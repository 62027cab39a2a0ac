// A zero that stands alone as a JSON number; within text it is a false alarm that costs one walk.
const LONE_ZERO = /(?:^|[:,[])0(?:[,\]}]|$)/

/**
 * Writes a JSON value as text and keeps the sign of −0, which `JSON.stringify` drops.
 *
 * @throws TypeError as `JSON.stringify` does, for a cycle or a BigInt
 */
export function toJsonText(value: unknown): string {
  // JSON.stringify gives undefined for undefined and functions, whatever its declared type says.
  const text = (JSON.stringify(value) as string | undefined) ?? 'null'
  return LONE_ZERO.test(text) && holdsNegativeZero(value) ? withNegativeZeros(value, text) : text
}

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0)
  return Object.values(value).some(holdsNegativeZero)
}

function withNegativeZeros(value: unknown, plain: string): string {
  let mark = '-0'
  while (plain.includes(mark)) mark += '-0'
  return JSON.stringify(value, (_key, item: unknown) => Object.is(item, -0) ? mark : item).replaceAll(`"${mark}"`, '-0')
}
