import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parse } from 'yaml'
import { isFolder } from '../corpus.ts'
import type { CaseResult, SuiteOptions, SuiteResult } from '../suite-result.ts'
import { readJqTests } from './jq-tests.ts'
import { listedTexts, listRows } from './lists.ts'
import { loadOracle } from './oracle.ts'
import { isRules, ruleRows } from './rules.ts'
import { runJqTest } from './run-jq.ts'
import { isTable, runRow, tableRows } from './tables.ts'

/**
 * Runs everything on expressions that a folder holds: test files of jq, tables of evaluation and assignment, rules on
 * wrappers and arguments, lists of expression texts. Files are recognised by their form, not by their name.
 */
export async function runExpressionsSuite(options: SuiteOptions): Promise<SuiteResult> {
  const folder = await isFolder(join(options.corpus, 'expressions')) ? join(options.corpus, 'expressions') : options.corpus
  const cases: CaseResult[] = []
  for (const path of await filesIn(folder)) {
    cases.push(...await runFile(path, relative(folder, path), options.caseId))
  }
  return { suite: 'expressions', cases }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name)).sort()
}

async function runFile(path: string, file: string, caseId: string | undefined): Promise<CaseResult[]> {
  const content = await readFile(path, 'utf8')
  const wanted = (id: string): boolean => caseId === undefined || caseId === id
  if (file.endsWith('.test')) {
    return readJqTests(content).filter(({ line }) => wanted(`${file}:${line}`)).map((test) => runJqTest(test, `${file}:${test.line}`, file))
  }
  const rows = (await rowsOf(file, content)).filter(({ id }) => wanted(id))
  const results: CaseResult[] = []
  for (const row of rows) results.push(await runRow(row, file))
  return results
}

async function rowsOf(file: string, content: string): Promise<ReturnType<typeof tableRows>> {
  if (/\.ya?ml$/.test(file)) {
    const parsed: unknown = parse(content)
    if (isTable(parsed)) return tableRows(file, parsed)
    return isRules(parsed) ? ruleRows(file, parsed) : []
  }
  return /\.(?:txt|json)$/.test(file) ? listRows(listedTexts(file, content), await loadOracle()) : []
}
