import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { CaseResult, SuiteOptions, SuiteResult } from '../suite-result.ts'
import { loadHostFunctions } from './host-functions.ts'
import { runStartupRule } from './startup.ts'
import type { VectorFile } from './types.ts'
import { runVector } from './vectors.ts'

/** Runs the requests and answers of `functions/vectors.yaml` against the function runtime, over HTTP. */
export async function runFunctionsSuite(options: SuiteOptions): Promise<SuiteResult> {
  const folder = join(options.corpus, 'functions')
  const file = parse(await readFile(join(folder, 'vectors.yaml'), 'utf8')) as VectorFile
  const functions = await loadHostFunctions(folder)
  const ids = new Map<string, number>()
  const numbered = (id: string): string => {
    const count = (ids.get(id) ?? 0) + 1
    ids.set(id, count)
    return count === 1 ? id : `${id}#${String(count)}`
  }
  const cases: [string, () => Promise<CaseResult>][] = [
    ...file.vectors.map((vector): [string, () => Promise<CaseResult>] => {
      const id = numbered(`${vector.app}/${vector.src}`)
      return [id, () => runVector(id, vector, file, functions)]
    }),
    ...(file.startup ?? []).map((rule): [string, () => Promise<CaseResult>] => {
      const id = numbered(`startup/${rule.src}`)
      return [id, () => runStartupRule(id, rule)]
    }),
  ]
  const results: CaseResult[] = []
  for (const [id, run] of cases) {
    if (options.caseId !== undefined && options.caseId !== id) continue
    results.push(await run())
  }
  return { suite: 'functions', cases: results }
}
