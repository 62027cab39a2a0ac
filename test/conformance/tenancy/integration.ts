import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Call } from '../../../lib/tenancy/call.ts'
import { createEvaluator } from '../../../lib/tenancy/evaluate.ts'
import { failed, listFiles, PASSED, type Check } from './files.ts'

interface Source {
  readonly principal?: string
  readonly ip?: string
}

interface Extra {
  readonly method?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly remoteIp?: string
  readonly labels?: Readonly<Record<string, string>>
}

type Row = readonly [from: string, port: number, target: string, allowed: boolean, extra?: Extra]

interface Suite {
  readonly name: string
  readonly policies: readonly object[]
  readonly sni?: string
  readonly cases: readonly Row[]
}

interface Cases {
  readonly root: string
  readonly destination: { readonly namespace: string; readonly labels: Readonly<Record<string, string>>; readonly ip?: string }
  readonly sources: Readonly<Record<string, Source>>
  readonly suites: readonly Suite[]
}

/** Checks the cases of files `*integration*.yaml`: suites of policies with requests and whether they are allowed. */
export async function integrationChecks(folder: string): Promise<Check[]> {
  const checks: Check[] = []
  for (const file of await listFiles(folder, /integration.*\.ya?ml$/)) {
    const cases = parse(await readFile(join(folder, file), 'utf8')) as Cases
    for (const suite of cases.suites) checks.push(...suiteChecks(cases, suite))
  }
  return checks
}

function suiteChecks(cases: Cases, suite: Suite): Check[] {
  return suite.cases.map((row, index) => ({
    id: `integration/${suite.name}/${String(index + 1)}`,
    feature: 'integration',
    run() {
      // The cases leave out the version, which decides nothing.
      const policies = suite.policies.map((policy) => ({ apiVersion: 'security.istio.io/v1', ...policy }))
      const evaluator = createEvaluator(policies, { rootNamespace: cases.root })
      const { decision } = evaluator.evaluate(toCall(cases, suite, row))
      const wanted = row[3] ? 'allow' : 'deny'
      return decision === wanted ? PASSED : failed(`${JSON.stringify(row)}: ${decision} instead of ${wanted}`)
    },
  }))
}

function toCall(cases: Cases, suite: Suite, [from, port, target, , extra = {}]: Row): Call {
  const source = cases.sources[from]
  if (source === undefined) throw new TypeError(`the source "${from}" is not defined`)
  const { destination } = cases
  const base = {
    destination: { ...destination, labels: extra.labels ?? destination.labels, port },
    ...(source.principal === undefined ? {} : { peer: source.principal }),
    ...(source.ip === undefined ? {} : { sourceIp: source.ip }),
    ...(extra.remoteIp === undefined ? {} : { remoteIp: extra.remoteIp }),
    ...(suite.sni === undefined ? {} : { sni: suite.sni }),
  }
  if (target === 'tcp') return { ...base, protocol: 'tcp' }
  const authority = extra.host ?? `${destination.labels['app'] ?? 'service'}.${destination.namespace}`
  return { ...base, protocol: 'http', method: extra.method ?? 'GET', authority, path: target, headers: Object.entries(extra.headers ?? {}) }
}
