import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { firstDifference } from '../../../lib/tenancy/diff.ts'
import { generateTenant } from '../../../lib/tenancy/generate.ts'
import { resolveInputs, resolveValues } from '../../../lib/tenancy/inputs.ts'
import { generateSystem } from '../../../lib/tenancy/system.ts'
import type { AuthorizationPolicy } from '../../../lib/tenancy/types.ts'
import { failed, listFiles, PASSED, type Check, type Verdict } from './files.ts'

/** Checks the generator against renderings of the chart: `golden/tenant-<x>.<version>.yaml` and `golden/system-*.yaml`. */
export async function goldenChecks(folder: string): Promise<Check[]> {
  const files = await listFiles(join(folder, 'golden'), /^(tenant|system).*\.ya?ml$/)
  return files.map((file) => ({
    id: `golden/${file}`,
    feature: file.startsWith('system') ? 'system documents' : 'tenant documents',
    async run() {
      const wanted = await readRendering(join(folder, 'golden', file))
      return file.startsWith('system') ? compare(generateSystem(resolveValues({}, file)), wanted) : checkTenant(file, wanted)
    },
  }))
}

/** Reads a rendering as it is: it may hold null lists, which no loader of the product lets through. */
async function readRendering(file: string): Promise<AuthorizationPolicy[]> {
  const documents = parseAllDocuments(await readFile(file, 'utf8'))
  return documents.map((document) => document.toJS() as AuthorizationPolicy | null).filter((value) => value !== null)
}

function checkTenant(file: string, wanted: readonly AuthorizationPolicy[]): Verdict {
  const version = /\.([^/]+)\.ya?ml$/.exec(file)?.[1] ?? 'main'
  const values = readValues(wanted)
  let generated: AuthorizationPolicy[]
  try {
    const { tenants, values: resolved } = resolveInputs(values, file, { chartVersion: version })
    generated = tenants.flatMap((tenant) => generateTenant(tenant, resolved))
  } catch (error) {
    // The chart renders a tenant without namespaces; the generator must refuse it (decisions.md, 7).
    const message = error instanceof Error ? error.message : String(error)
    return values.namespaces.length === 0 ? { outcome: 'passed', reason: `refused as it must be: ${message}` } : failed(message)
  }
  return values.namespaces.length === 0 ? failed('a tenant without namespaces was not refused') : compare(generated, wanted)
}

/** Finds out from a rendering what the chart was given. */
function readValues(documents: readonly AuthorizationPolicy[]): { name: string; namespaces: string[] } & Record<string, unknown> {
  const named = (name: string): AuthorizationPolicy[] => documents.filter(({ metadata }) => metadata.name === name)
  const common = named('allow-from-knative-and-istio')
  const name = documents.map(({ metadata }) => /^allow-(.*)-to-activator$/.exec(metadata.name)?.[1]).find((found) => found !== undefined) ?? ''
  const namespaces = common.map(({ metadata }) => metadata.namespace ?? '')
  const sources = common[0]?.spec?.rules?.[0]?.from?.[0]?.source.namespaces ?? []
  const isServing = named('allow-wait-for-drain').length > 0
  const host = documents.flatMap(({ spec }) => spec?.rules ?? []).flatMap(({ to }) => to ?? []).map(({ operation }) => operation.hosts?.[2]).find((found) => found !== undefined)
  const domain = /\.svc\.(.*)$/.exec(host ?? '')?.[1]
  const istioNamespace = isServing ? sources.at(-1) : undefined
  return {
    name,
    namespaces,
    serving: { enabled: isServing || namespaces.length === 0 },
    eventing: { enabled: documents.some(({ metadata }) => metadata.name.endsWith('-kafka-broker-reply')) },
    ...(istioNamespace === undefined ? {} : { istioNamespace }),
    ...(domain === undefined ? {} : { cluster: { domain } }),
  }
}

function compare(generated: readonly unknown[], wanted: readonly AuthorizationPolicy[]): Verdict {
  if (generated.length !== wanted.length) return failed(`${String(generated.length)} documents generated, ${String(wanted.length)} in the rendering`)
  for (const [index, document] of wanted.entries()) {
    const pointer = firstDifference(generated[index], document)
    if (pointer !== undefined) return failed(`document ${String(index + 1)} (${document.metadata.name}) differs at "${pointer}"`)
  }
  return PASSED
}
