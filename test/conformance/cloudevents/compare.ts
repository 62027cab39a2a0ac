import { isJsonObject, jsonEquals } from '../../../lib/common/index.ts'

/**
 * Compares attributes as the CloudEvents conformance documentation wants it: instants by the moment they stand for.
 *
 * @returns what differs; empty when nothing does
 */
export function differences(expected: Readonly<Record<string, unknown>>, got: Readonly<Record<string, unknown>>): string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(got)])
  return [...names].filter((name) => !sameValue(expected[name], got[name], name === 'time' || name.endsWith('timestamp')))
    .map((name) => `${name}: ${JSON.stringify(expected[name])} expected, got ${JSON.stringify(got[name])}`)
}

function sameValue(left: unknown, right: unknown, instant: boolean): boolean {
  if (instant && typeof left === 'string' && typeof right === 'string') return Date.parse(left) === Date.parse(right)
  return jsonEquals(left, right)
}

/** Gives the members of a parsed document; empty when it is no object. */
export function membersOf(document: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(document) ? document : {}
}

/** Runs a check of a case and gives its faults; what it throws is one. */
export async function faultsOf(check: () => readonly string[] | Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await check()
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
