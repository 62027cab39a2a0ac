import { readFile, writeFile } from 'node:fs/promises'
import { countMissing, type SuiteResult } from '../suite-result.ts'

const RECORD = new URL('skips.json', import.meta.url)

/** Compares skips with the record, so that coverage cannot shrink unseen; one line for each difference. */
export async function compareSkips(result: SuiteResult): Promise<readonly string[]> {
  const recorded = JSON.parse(await readFile(RECORD, 'utf8')) as Record<string, number>
  const counted = countMissing(result)
  const needs = [...new Set([...Object.keys(recorded), ...Object.keys(counted)])].sort()
  return needs.filter((need) => recorded[need] !== counted[need])
    .map((need) => `skips for ${need}: ${counted[need] ?? 0}, on record ${recorded[need] ?? 0} (test/conformance/workflows/skips.json)`)
}

/** Writes the record anew. */
export async function recordSkips(result: SuiteResult): Promise<void> {
  await writeFile(RECORD, `${JSON.stringify(countMissing(result), null, 2)}\n`)
}
