import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultCorpus, isFolder, missingCorpusLine, OWN_CASES } from './corpus.ts'
import { countCases, renderSuite, UsageError, type SuiteOptions, type SuiteResult } from './suite-result.ts'

type RunSuite = (options: SuiteOptions) => Promise<SuiteResult>

/** The suites, loaded when asked for: one that does not compile must not stop the others. */
const SUITES: Readonly<Record<string, () => Promise<RunSuite>>> = {
  workflows: async () => (await import('./workflows/suite.ts')).runWorkflowsSuite,
  expressions: async () => (await import('./expressions/suite.ts')).runExpressionsSuite,
  functions: async () => (await import('./functions/suite.ts')).runFunctionsSuite,
  cloudevents: async () => (await import('./cloudevents/suite.ts')).runCloudEventsSuite,
  tenancy: async () => (await import('./tenancy/suite.ts')).runTenancySuite,
}

const USAGE = `usage: npm run conformance -- --suite ${Object.keys(SUITES).join('|')} [--corpus DIR] [--case ID] [--json FILE] [--set KEY=VALUE]…
       npm run conformance -- --suite workflows --resume [--case ID]
       npm run conformance -- --suite workflows --parity [FILE]
`

interface Arguments {
  readonly suite?: string | undefined
  readonly corpus?: string | undefined
  readonly case?: string | undefined
  readonly json?: string | undefined
  readonly parity?: boolean | undefined
  readonly set?: readonly string[] | undefined
  readonly resume?: boolean | undefined
}

const OPTIONS = {
  suite: { type: 'string' }, corpus: { type: 'string' }, case: { type: 'string' }, json: { type: 'string' }, parity: { type: 'boolean' },
  set: { type: 'string', multiple: true }, resume: { type: 'boolean' },
} as const

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS })
  const load = values.suite === undefined ? undefined : SUITES[values.suite]
  if (load === undefined || ((values.parity === true || values.resume === true) && values.suite !== 'workflows')) {
    process.stderr.write(USAGE)
    return 2
  }
  const corpus = values.corpus === undefined ? defaultCorpus() : resolve(values.corpus)
  if (!await isFolder(corpus)) {
    process.stdout.write(`${missingCorpusLine(corpus, 1)}\n${values.suite ?? ''}: 0 passed, 0 failed, 0 skipped\n`)
    return values.corpus === undefined ? 0 : 2
  }
  const run = await load()
  const settings = Object.fromEntries((values.set ?? []).map((entry): [string, string] => [entry.replace(/=.*/s, ''), entry.replace(/^[^=]*=/, '')]))
  const result = await run({
    corpus,
    ...(values.case === undefined ? {} : { caseId: values.case }),
    ...(values.set === undefined ? {} : { settings }),
    ...(values.resume === true ? { resume: true } : {}),
  })
  return report({ ...result, ...(values.corpus === undefined ? {} : { corpus: values.corpus }) }, corpus, { values, parityFile: positionals[0] ?? 'docs/parity.md' })
}

interface ReportOptions {
  readonly values: Arguments
  readonly parityFile: string
}

async function report(result: SuiteResult, corpus: string, { values, parityFile }: ReportOptions): Promise<number> {
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`)
  if (values.parity === true) await writeParity(result, corpus, parityFile)
  const deviations = await skipDeviations(result, values)
  process.stdout.write(renderSuite(result).replace(/\n(?=[^\n]*\n$)/, `\n${deviations.map((line) => `${line}\n`).join('')}`))
  return countCases(result).failed > 0 || deviations.length > 0 ? 1 : 0
}

async function writeParity(result: SuiteResult, corpus: string, path: string): Promise<void> {
  const { renderParity } = await import('./workflows/parity.ts')
  const { runWorkflowsSuite } = await import('./workflows/suite.ts')
  await writeFile(path, await renderParity({ corpus: result, own: await runWorkflowsSuite({ corpus: OWN_CASES }) }, corpus))
}

/** Differences between the skips and the record, which is kept for the default corpus and whole runs only. */
async function skipDeviations(result: SuiteResult, values: Arguments): Promise<readonly string[]> {
  if (result.suite !== 'workflows' || values.corpus !== undefined || values.case !== undefined) return []
  const { compareSkips, recordSkips } = await import('./workflows/skip-record.ts')
  if (process.env['UPDATE_GOLDEN'] === '1') {
    if (process.env['CI'] !== undefined) return ['UPDATE_GOLDEN is refused where CI is set: a record that writes itself checks nothing']
    await recordSkips(result)
  }
  return compareSkips(result)
}

const code = await main(process.argv.slice(2)).catch((error: unknown) => {
  const text = error instanceof Error && !(error instanceof UsageError) ? error.stack : undefined
  process.stderr.write(`${text ?? (error instanceof Error ? error.message : String(error))}\n`)
  return 2
})
// A case that hung still holds its servers: the report is out, nothing is worth waiting for.
process.stdout.write('', () => process.exit(code))
