import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonEquals } from '../../../lib/common/index.ts'
import { decodeHttp, fromBase64, isCloudEventRequest, type CloudEventRecord } from '../../../lib/events/index.ts'
import type { CaseResult } from '../suite-result.ts'
import { differences, faultsOf } from './compare.ts'
import { parseFeature, type Scenario, type Step } from './feature-file.ts'

interface World {
  request?: { readonly headers: Record<string, string>; readonly body: Uint8Array }
  event?: CloudEventRecord
}

type StepCode = (world: World, step: Step) => readonly string[]

const STEPS: readonly (readonly [RegExp, StepCode])[] = [
  [/^HTTP Protocol Binding is supported$/, () => []],
  [/^an HTTP request$/, (world, step) => {
    world.request = parseRequest(step.docString ?? '')
    return isCloudEventRequest(world.request.headers) ? [] : ['the request is not taken for an event']
  }],
  [/^parsed as HTTP request$/, (world) => {
    if (world.request !== undefined) world.event = decodeHttp(world.request).event
    return []
  }],
  [/^the attributes are:$/, (world, step) => {
    const { data: _data, data_base64: _bytes, ...attributes } = world.event ?? {}
    return differences(Object.fromEntries((step.table ?? []).slice(1)) as Record<string, unknown>, attributes)
  }],
  [/^the data is equal to the following JSON:$/, (world, step) => {
    const got = world.event?.data ?? JSON.parse(Buffer.from(fromBase64(world.event?.data_base64 ?? '')).toString()) as unknown
    return jsonEquals(JSON.parse(step.docString ?? 'null'), got) ? [] : [`data ${JSON.stringify(got)}`]
  }],
]

/** Reads the scenarios of the protocol binding features as cases. */
export async function featureCases(folder: string): Promise<[string, () => Promise<CaseResult>][]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.feature')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap(parseFeature).map((scenario): [string, () => Promise<CaseResult>] => {
    const id = `features/${scenario.feature}/${scenario.name}`
    return [id, () => run(id, scenario)]
  })
}

async function run(id: string, scenario: Scenario): Promise<CaseResult> {
  const world: World = {}
  const feature = `features: ${scenario.feature}`
  for (const step of scenario.steps) {
    const code = STEPS.find(([pattern]) => pattern.test(step.text))?.[1]
    if (code === undefined) return { id, feature, outcome: 'skipped', missing: [step.text] }
    const faults = await faultsOf(() => code(world, step))
    if (faults.length > 0) return { id, feature, outcome: 'failed', reason: `${step.text}: ${faults.join('; ')}` }
  }
  return { id, feature, outcome: 'passed' }
}

function parseRequest(text: string): { headers: Record<string, string>; body: Uint8Array } {
  const [head = '', ...rest] = text.split('\n\n')
  const headers = head.split('\n').slice(1).map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: Buffer.from(rest.join('\n\n')) }
}
