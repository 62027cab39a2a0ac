import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseDocuments, type LoadedDocument } from '../../../lib/tenancy/documents.ts'
import type { CaseResult } from '../suite-result.ts'

/** Lists the files of a folder whose names fit, sorted; none when the folder does not exist. */
export async function listFiles(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => pattern.test(name)).sort()
}

/** Reads a file of Kubernetes objects; a file that cannot be read fails the suite by throwing. */
export async function readObjects(...path: readonly string[]): Promise<readonly LoadedDocument[]> {
  const file = join(...path)
  const { documents, violations } = parseDocuments(await readFile(file, 'utf8'), file)
  const [fault] = violations
  if (fault !== undefined) throw new TypeError(`${file}:${String(fault.line ?? 1)}: ${fault.message}`)
  return documents
}

/** One check of the suite; gives the reason of a failure, or a remark on a success. */
export interface Check {
  readonly id: string
  readonly feature: string
  run(): Promise<Verdict> | Verdict
}

/** What a check found. */
export type Verdict = { readonly outcome: 'passed' | 'skipped'; readonly reason?: string } | { readonly outcome: 'failed'; readonly reason: string }

/** The verdict of a check without a fault. */
export const PASSED: Verdict = { outcome: 'passed' }

/** Makes the verdict of a check that found a fault. */
export function failed(reason: string): Verdict {
  return { outcome: 'failed', reason }
}

/** Runs a check; anything thrown is its failure. */
export async function runCheck(check: Check): Promise<CaseResult> {
  try {
    return { id: check.id, feature: check.feature, ...await check.run() }
  } catch (error) {
    return { id: check.id, feature: check.feature, outcome: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}
