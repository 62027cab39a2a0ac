import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SonatinaError } from '../../../lib/errors/index.ts'
import { decodeBatch, decodeHttp, decodeStructured, encodeBatch, encodeHttp, encodeStructured, type CloudEventRecord } from '../../../lib/events/index.ts'
import type { CaseResult } from '../suite-result.ts'
import { differences, faultsOf, membersOf } from './compare.ts'
import { echo } from './echo.ts'

interface FormatTest {
  readonly id: string
  readonly sampleId?: string
  readonly testType?: string
  readonly event?: unknown
  readonly batch?: readonly unknown[]
  readonly extensionConstraints?: boolean
}

const MINIMAL = { specversion: '1.0', id: 'minimal', type: 'io.cloudevents.test', source: 'https://cloudevents.io' }

/** The golden events that format/README.md describes in words. */
const SAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  minimal: MINIMAL,
  minimalWithTime: { ...MINIMAL, id: 'minimalWithTime', time: '2018-04-05T17:31:00Z' },
  minimalWithRelativeSource: { ...MINIMAL, id: 'minimalWithRelativeSource', source: '#fragment' },
  allCore: {
    ...MINIMAL,
    id: 'allCore',
    datacontenttype: 'text/plain',
    dataschema: 'https://cloudevents.io/dataschema',
    subject: 'tests',
    time: '2018-04-05T17:31:00Z',
  },
  simpleTextData: { ...MINIMAL, id: 'simpleData', datacontenttype: 'text/plain', data: 'Simple text' },
  allExtensionTypes: {
    ...MINIMAL,
    id: 'allExtensionTypes',
    extinteger: 10,
    extboolean: true,
    extstring: 'text',
    extbinary: 'TWE=',
    exttimestamp: '2023-03-31T15:12:00Z',
    exturi: 'https://cloudevents.io',
    exturiref: '//authority/path',
  },
}
const BATCHES: Readonly<Record<string, readonly string[]>> = {
  empty: [],
  minimal: ['minimal'],
  minimal2: ['minimal', 'minimal'],
  minimalAndAllCore: ['minimal', 'allCore'],
  minimalAndAllExtensionTypes: ['minimal', 'allExtensionTypes'],
}

const BODY_TYPE = 'application/cloudevents+json'

/** Reads the tests of the JSON event format as cases. */
export async function formatCases(folder: string): Promise<[string, () => Promise<CaseResult>][]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  const files = await Promise.all(names.map(async (name) =>
    JSON.parse(await readFile(join(folder, name), 'utf8')) as { testType: string; tests: FormatTest[] }))
  return files.flatMap(({ testType, tests }) => tests.map((test): [string, () => Promise<CaseResult>] => {
    const id = `format/${test.id}`
    return [id, () => run(id, { ...test, testType: test.testType ?? testType })]
  }))
}

async function run(id: string, test: FormatTest & { readonly testType: string }): Promise<CaseResult> {
  const feature = `format: ${test.testType}`
  if (test.extensionConstraints === true) {
    return { id, feature, outcome: 'skipped', reason: 'extensions have no constraints of their own here', missing: ['extension constraints'] }
  }
  const checks: Readonly<Record<string, () => readonly string[] | Promise<readonly string[]>>> = {
    ValidSingleEvent: () => validEvent(test),
    InvalidSingleEvent: () => invalidEvent(test),
    ValidBatch: () => validBatch(test),
    InvalidBatch: () => mustRefuse(() => decodeBatch(toBytes(test.batch))),
  }
  const check = checks[test.testType]
  if (check === undefined) return { id, feature, outcome: 'skipped', missing: [`test type ${test.testType}`] }
  const faults = await faultsOf(check)
  return faults.length === 0 ? { id, feature, outcome: 'passed' } : { id, feature, outcome: 'failed', reason: faults.join('; ') }
}

async function validEvent(test: FormatTest): Promise<readonly string[]> {
  const decoded = decodeStructured(toBytes(test.event))
  const expected = SAMPLES[test.sampleId ?? ''] ?? membersOf(test.event)
  const hasData = decoded.data !== undefined || decoded.data_base64 !== undefined
  const { status } = await echo({ 'content-type': BODY_TYPE }, toBytes(test.event), hasData)
  return [
    ...differences(expected, decoded),
    ...differences(expected, decodeStructured(encodeStructured(decoded))),
    // Header values are text, so types of extensions do not survive binary mode; and what is JSON by default says so there.
    ...differences(asText(decoded.data === undefined ? expected : { datacontenttype: 'application/json', ...expected }), asText(throughBinary(decoded))),
    ...(status === 200 ? [] : [`status 200 expected over HTTP, got ${String(status)}`]),
  ]
}

async function invalidEvent(test: FormatTest): Promise<readonly string[]> {
  const faults = mustRefuse(() => decodeStructured(toBytes(test.event)))
  const { status, body } = await echo({ 'content-type': BODY_TYPE }, toBytes(test.event), true)
  const { code, message } = JSON.parse(Buffer.from(body).toString()) as { code?: string; message?: string }
  const refused = status === 400 && code === 'CLOUD_EVENT_INVALID' && message !== undefined
  return refused ? faults : [...faults, `400 CLOUD_EVENT_INVALID expected over HTTP, got ${String(status)} ${code ?? ''}`]
}

function validBatch(test: FormatTest): readonly string[] {
  const decoded = decodeBatch(toBytes(test.batch))
  const names = BATCHES[test.sampleId ?? '']
  const expected = names === undefined ? (test.batch ?? []).map(membersOf) : names.map((name) => SAMPLES[name] ?? {})
  if (decoded.length !== expected.length) return [`${String(expected.length)} events expected, got ${String(decoded.length)}`]
  const again = decodeBatch(encodeBatch(decoded))
  return expected.flatMap((event, index) => [...differences(event, decoded[index] ?? {}), ...differences(event, again[index] ?? {})])
}

function mustRefuse(decode: () => unknown): string[] {
  try {
    return [`accepted as ${JSON.stringify(decode())}`]
  } catch (error) {
    if (SonatinaError.is(error) && error.code === 'CLOUD_EVENT_INVALID') return []
    throw error
  }
}

function throughBinary(event: CloudEventRecord): CloudEventRecord {
  const { headers, body } = encodeHttp(event, 'binary')
  return decodeHttp({ headers, body: body ?? new Uint8Array() }).event
}

function asText(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).map(([name, value]) =>
    [name, name === 'data' || typeof value === 'string' ? value : JSON.stringify(value)]))
}

function toBytes(document: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(document))
}
