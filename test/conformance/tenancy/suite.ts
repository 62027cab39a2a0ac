import { join } from 'node:path'
import { isFolder } from '../corpus.ts'
import type { SuiteOptions, SuiteResult } from '../suite-result.ts'
import { ambientChecks } from './ambient.ts'
import { builderChecks } from './builder.ts'
import { crdChecks } from './crd.ts'
import { runCheck } from './files.ts'
import { goldenChecks } from './golden.ts'
import { integrationChecks } from './integration.ts'
import { matrixChecks } from './matrix.ts'
import { validationChecks } from './validation.ts'

const KINDS = [goldenChecks, matrixChecks, integrationChecks, builderChecks, validationChecks, ambientChecks, crdChecks]

/**
 * Runs everything in `istio/` of a corpus (or in the folder itself, when it has no such part): renderings of the chart, matrices,
 * integration cases, Envoy filters, valid and invalid documents. Cases are found by the names of files, never by a list.
 */
export async function runTenancySuite(options: SuiteOptions): Promise<SuiteResult> {
  const part = join(options.corpus, 'istio')
  const folder = await isFolder(part) ? part : options.corpus
  const checks = (await Promise.all(KINDS.map((checksOf) => checksOf(folder)))).flat()
  const { caseId } = options
  const chosen = caseId === undefined ? checks : checks.filter(({ id }) => id === caseId || id.endsWith(`/${caseId}`))
  const cases = []
  for (const check of chosen) cases.push(await runCheck(check))
  return { suite: 'tenancy', cases }
}
