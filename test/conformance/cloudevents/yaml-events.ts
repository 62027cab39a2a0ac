import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { jsonEquals } from '../../../lib/common/index.ts'
import { decodeHttp, encodeHttp, fromBase64, isJsonMediaType, parseMediaType, type CloudEventRecord, type EventMode } from '../../../lib/events/index.ts'
import type { CaseResult } from '../suite-result.ts'
import { differences, faultsOf } from './compare.ts'
import { echo } from './echo.ts'

interface YamlEvent {
  readonly Mode?: EventMode
  readonly ContextAttributes: Readonly<Record<string, string>> & { readonly Extensions?: Readonly<Record<string, string>> }
  readonly TransportExtensions?: Readonly<Record<string, string>>
  readonly Data?: string
}

/** Reads the events of the protocol examples as cases: each one comes back from an echo, in its mode or in both. */
export async function yamlCases(folder: string): Promise<[string, () => Promise<CaseResult>][]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.ya?ml$/.test(name)).sort()
  const cases: [string, () => Promise<CaseResult>][] = []
  for (const name of names) {
    // All scalars are texts: `specversion: 1.0` is not the number 1.
    const documents = parseAllDocuments(await readFile(join(folder, name), 'utf8'), { schema: 'failsafe' })
    documents.forEach((document, index) => {
      const event = document.toJS() as YamlEvent
      for (const mode of event.Mode === undefined ? ['binary', 'structured'] as const : [event.Mode]) {
        const id = `yaml/${name}#${String(index + 1)}/${mode}`
        cases.push([id, async () => {
          const faults = await faultsOf(() => echoed(event, mode))
          return { id, feature: `yaml: ${mode}`, outcome: faults.length === 0 ? 'passed' : 'failed', ...(faults.length === 0 ? {} : { reason: faults.join('; ') }) }
        }])
      }
    })
  }
  return cases
}

async function echoed(event: YamlEvent, mode: EventMode): Promise<readonly string[]> {
  const { Extensions: extensions, ...core } = event.ContextAttributes
  const attributes = { ...core, ...extensions }
  const { headers, body } = encode(attributes as unknown as CloudEventRecord, event.Data, mode)
  const answer = await echo({ ...event.TransportExtensions, ...headers }, body, event.Data !== undefined)
  if (answer.status !== 200 && answer.status !== 204) return [`status ${String(answer.status)}: ${Buffer.from(answer.body).toString()}`]
  const decoded = decodeHttp(answer)
  const { data, data_base64: base64, ...got } = decoded.event
  const text = typeof data === 'string' && !isJson(got.datacontenttype) ? data : JSON.stringify(data)
  const bytes = base64 === undefined ? Buffer.from(text) : fromBase64(base64)
  return [
    ...(decoded.mode === mode ? [] : [`${mode} answer expected`]),
    // Without a media type of its own the answer says that it holds bytes.
    ...differences({ datacontenttype: 'application/octet-stream', ...attributes }, got),
    ...(sameData(event.Data ?? '', Buffer.from(bytes).toString()) ? [] : [`data ${Buffer.from(bytes).toString()}`]),
  ]
}

function encode(attributes: CloudEventRecord, data: string | undefined, mode: EventMode): { headers: Record<string, string>; body: Uint8Array | undefined } {
  if (mode === 'binary') {
    return { headers: encodeHttp(attributes, 'binary').headers, body: data === undefined ? undefined : Buffer.from(data) }
  }
  if (data === undefined) return encodeHttp(attributes, mode)
  return encodeHttp({ ...attributes, data: isJson(attributes.datacontenttype) ? JSON.parse(data) as CloudEventRecord : data }, mode)
}

function isJson(contentType = 'application/json'): boolean {
  const mediaType = parseMediaType(contentType)
  return mediaType !== undefined && isJsonMediaType(mediaType)
}

function sameData(expected: string, got: string): boolean {
  if (expected === got) return true
  try {
    return jsonEquals(JSON.parse(expected), JSON.parse(got))
  } catch {
    return false
  }
}
