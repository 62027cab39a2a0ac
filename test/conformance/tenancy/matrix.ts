import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseMatrix, runMatrix, type MatrixResult } from '../../../lib/tenancy/matrix.ts'
import { failed, listFiles, readObjects, type Check, type Verdict } from './files.ts'

/** Checks every row of the matrices: files `*matrix*.yaml` with their `policies`. */
export async function matrixChecks(folder: string): Promise<Check[]> {
  const checks: Check[] = []
  for (const file of await listFiles(folder, /matrix.*\.ya?ml$/)) {
    const matrix = parseMatrix(await readFile(join(folder, file), 'utf8'), file)
    const loaded = await Promise.all(matrix.policies.map((path) => readObjects(folder, path)))
    const results = runMatrix(matrix, loaded.flat().map(({ value }) => value))
    const prefix = file.replace(/\.ya?ml$/, '')
    for (const result of results) checks.push({ id: `${prefix}/${result.row.id}`, feature: 'matrix', run: () => judge(result) })
  }
  return checks
}

function judge({ row, decision, agrees }: MatrixResult): Verdict {
  const by = decision.document === undefined ? 'no rule matched' : `${decision.document} rule ${String(decision.rule)}`
  const found = `the documents say ${decision.decision} (${by})`
  if (row.isDisputed) {
    return agrees ? { outcome: 'passed', reason: `disputed row: ${found}` } : { outcome: 'skipped', reason: `disputed row: ${found}, the row says ${row.expect}` }
  }
  return agrees ? { outcome: 'passed' } : failed(`${found}, the row says ${row.expect}: ${row.note}`)
}
