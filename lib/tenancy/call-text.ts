import { nearestNames } from '../common/index.ts'
import { TenancyError } from '../errors/index.ts'
import type { Call, Destination } from './call.ts'

/** A call in the short notation of the command line and of matrix files. */
export interface CallText {
  /** `namespace/serviceAccount`, a whole `spiffe://…` identity, or `-` for a connection without a certificate. */
  readonly from: string
  /** `namespace|label=value,…|port`, or a name of `workloads` in place of the labels. */
  readonly to: string
  /** `METHOD host path [Header: value]…`, or `tcp`. */
  readonly http: string
}

/** What the short notation refers to. */
export interface CallTextOptions {
  /** Labels by name, each `label=value,…`. */
  readonly workloads?: Readonly<Record<string, string>>
  /** @default 'cluster.local' */
  readonly trustDomain?: string
}

/**
 * Parses a call in the short notation of tenancy.md, section 6.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` naming the part that cannot be read and the form expected
 *
 * @example
 * const call = parseCall({ from: 'shop/default', to: 'shop|app=web|8080', http: 'GET web.shop /' })
 * call.peer // => 'spiffe://cluster.local/ns/shop/sa/default'
 */
export function parseCall(text: CallText, options: CallTextOptions = {}): Call {
  const peer = parsePeer(text.from, options.trustDomain ?? 'cluster.local')
  const destination = parseDestination(text.to, options.workloads ?? {})
  return { ...(peer === undefined ? {} : { peer }), destination, ...parseRequest(text.http) }
}

function parsePeer(from: string, trustDomain: string): string | undefined {
  if (from === '-') return undefined
  if (/^spiffe:\/\/[^\s]+$/.test(from)) return from
  const match = /^([^/\s]+)\/([^/\s]+)$/.exec(from)
  if (match === null) throw unreadable('from', from, '"namespace/serviceAccount", "spiffe://…" or "-"')
  return `spiffe://${trustDomain}/ns/${match[1] ?? ''}/sa/${match[2] ?? ''}`
}

function parseDestination(to: string, workloads: Readonly<Record<string, string>>): Destination {
  const [namespace = '', labels, port, ...rest] = to.split('|')
  if (namespace === '' || labels === undefined || port === undefined || rest.length > 0) throw unreadable('to', to, '"namespace|label=value,…|port"')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) throw unreadable('to', to, 'a port from 0 to 65535 after the second "|"')
  return { namespace, labels: parseLabels(labels, workloads), port: Number(port) }
}

function parseLabels(text: string, workloads: Readonly<Record<string, string>>): Record<string, string> {
  const named = Object.hasOwn(workloads, text) ? workloads[text] : undefined
  const labels = (named ?? text).split(',').filter((label) => label.trim() !== '')
  return Object.fromEntries(labels.map((label) => {
    const [key = '', value, ...rest] = label.trim().split('=')
    if (key !== '' && value !== undefined && rest.length === 0) return [key, value]
    const [nearest] = nearestNames(text, Object.keys(workloads))
    throw unreadable('to', text, `"label=value,…"${nearest === undefined ? '' : ` or the workload "${nearest}"`}`)
  }))
}

function parseRequest(http: string): Pick<Call, 'protocol' | 'method' | 'authority' | 'path' | 'headers'> {
  if (http.trim() === 'tcp') return { protocol: 'tcp' }
  const [method, authority, path, ...rest] = http.trim().split(/\s+/)
  if (method === undefined || authority === undefined || path?.startsWith('/') !== true) {
    throw unreadable('http', http, '"METHOD host /path [Header: value]…" or "tcp"')
  }
  return { protocol: 'http', method, authority, path, headers: parseHeaders(rest, http) }
}

function parseHeaders(words: readonly string[], http: string): [string, string][] {
  const headers: [string, string[]][] = []
  for (const word of words) {
    if (/^[^\s:]+:$/.test(word)) headers.push([word.slice(0, -1), []])
    else if (headers.length === 0) throw unreadable('http', http, 'a header as "Name: value" behind the path')
    else headers.at(-1)?.[1].push(word)
  }
  return headers.map(([name, values]) => [name, values.join(' ')])
}

function unreadable(part: string, text: string, expected: string): TenancyError {
  return new TenancyError({
    code: 'TENANCY_INVALID',
    message: `the call's "${part}" cannot be read: ${JSON.stringify(text.slice(0, 200))}; expected ${expected}`,
    details: { part },
  })
}
