import { join } from 'node:path'
import { isFolder } from '../corpus.ts'
import type { CaseResult, SuiteOptions, SuiteResult } from '../suite-result.ts'
import { featureCases } from './features.ts'
import { formatCases } from './format-json.ts'
import { yamlCases } from './yaml-events.ts'

const PARTS = [['format/json', formatCases], ['features', featureCases], ['yaml', yamlCases]] as const

/** Runs the conformance data of the CloudEvents project against the codec and, over HTTP, the function runtime. */
export async function runCloudEventsSuite(options: SuiteOptions): Promise<SuiteResult> {
  const cases: CaseResult[] = []
  for (const [folder, read] of PARTS) {
    const path = join(options.corpus, 'cloudevents', folder)
    if (!await isFolder(path)) continue
    for (const [id, run] of await read(path)) {
      if (options.caseId === undefined || options.caseId === id) cases.push(await run())
    }
  }
  return { suite: 'cloudevents', cases }
}
