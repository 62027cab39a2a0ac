import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadText, parseMatrix, runMatrix, type MatrixResult } from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, loadValid, printJson, table, toEvaluatorOptions, type PoliciesIo } from './shared.ts'

/** Runs `policies matrix`: decides every row and prints those that differ, or are disputed; 1 when one differs. */
export async function matrixCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...COMMON_OPTIONS, file: { type: 'string', short: 'f', multiple: true }, all: { type: 'boolean' } },
    allowPositionals: true,
  })
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) throw badUsage('one matrix file is expected; documents other than its own go behind -f')
  const matrix = parseMatrix(file === '-' ? await io.readStdin() : await loadText(file), file)
  const files = values.file ?? matrix.policies.map((path) => join(dirname(file), path))
  const { documents } = await loadValid(files, io)
  const results = runMatrix(matrix, documents.map(({ value }) => value), toEvaluatorOptions(values))
  const different = results.filter(({ agrees }) => !agrees)
  if (values.json === true) printJson({ rows: results.length, results: results.map(toJson) }, io)
  else {
    const shown = values.all === true ? results : results.filter(({ agrees, row }) => !agrees || row.isDisputed)
    if (shown.length > 0) io.stdout(table(['row', 'rule', 'expected', 'decided', 'by', 'note'], shown.map(toCells)))
    io.stdout(`${String(results.length)} row(s), ${String(different.length)} differ\n`)
  }
  return different.length > 0 ? 1 : 0
}

function toJson({ row, decision, agrees }: MatrixResult): Record<string, unknown> {
  return { id: row.id, expect: row.expect, decision: decision.decision, agrees, disputed: row.isDisputed, document: decision.document, rule: decision.rule }
}

function toCells({ row, decision }: MatrixResult): string[] {
  const by = decision.document === undefined ? '-' : `${decision.document} rule ${String(decision.rule)}`
  return [row.id, row.rule, row.isDisputed ? `${row.expect} (disputed)` : row.expect, decision.decision, by, row.note]
}
