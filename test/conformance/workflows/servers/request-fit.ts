import { jsonEquals } from '../../../../lib/common/index.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import { includesPart } from '../match.ts'
import type { ReceivedRequest } from './http-server.ts'

/** What of a request does not fit a stub: nothing, only the credentials, or something else. */
export type Fit = 'fits' | 'credentials' | 'differs'

/** What a stub asks of a request, with variables resolved. */
export interface RequestPattern {
  readonly method: string
  readonly path: string
  readonly query?: Fields
  readonly requestMust?: Fields
}

const KNOWN = ['headers', 'contentType', 'body', 'bodyExactly', 'basicAuth', 'bodyEquals', 'bodyMatches', 'bodyText']

/** Compares a request with what a stub asks for. */
export function fitOf(pattern: RequestPattern, request: ReceivedRequest): Fit {
  if (pattern.method.toUpperCase() !== request.method || !pathFits(pattern.path, request.path)) return 'differs'
  if (pattern.query !== undefined && !queryFits(pattern.query, request.query)) return 'differs'
  const must = pattern.requestMust ?? {}
  assertKnown(must, KNOWN, 'requestMust')
  if (!bodyFits(must, request)) return 'differs'
  const headers = Object.entries((must['headers'] ?? {}) as Fields)
  const wrong = headers.filter(([name, value]) => !headerFits(name, String(value), request.headers)).map(([name]) => name.toLowerCase())
  const basic = must['basicAuth']
  if (basic !== undefined && !basicFits(String(basic), request.headers['authorization'])) wrong.push('authorization')
  if (wrong.length === 0) return 'fits'
  return wrong.every((name) => name === 'authorization') ? 'credentials' : 'differs'
}

/** Compares a path with a pattern: `*` alone or at the end stands for anything, `{x}` for one segment. */
export function pathFits(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  const source = pattern.replace(/\*$/, '').split(/\{[^/}]+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^/]+')
  return new RegExp(`^${source}${pattern.endsWith('*') ? '' : '$'}`).test(path)
}

/** Compares query parameters as sets of values, whatever their order. */
export function queryFits(pattern: Fields, query: ReceivedRequest['query']): boolean {
  const names = Object.keys(pattern)
  return names.length === Object.keys(query).length && names.every((name) => {
    const wanted = Array.isArray(pattern[name]) ? pattern[name].map(String) : [String(pattern[name])]
    return jsonEquals([...wanted].sort(), [...(query[name] ?? [])].sort())
  })
}

/** Compares a header; a media type also fits when case or blanks differ, or parameters are sent that nobody asked for. */
export function headerFits(name: string, wanted: string, headers: ReceivedRequest['headers']): boolean {
  const value = headers[name.toLowerCase()]
  if (value === undefined) return false
  if (name.toLowerCase() !== 'content-type') return value === wanted
  const [media, ...parameters] = split(value)
  const [wantedMedia, ...wantedParameters] = split(wanted)
  return media === wantedMedia && wantedParameters.every((parameter) => parameters.includes(parameter))
}

function split(mediaType: string): string[] {
  return mediaType.toLowerCase().split(';').map((part) => part.trim())
}

function basicFits(wanted: string, header: string | undefined): boolean {
  const [scheme, credentials] = header?.split(' ') ?? []
  return scheme?.toLowerCase() === 'basic' && Buffer.from(credentials ?? '', 'base64').toString('utf8') === wanted
}

function bodyFits(must: Fields, request: ReceivedRequest): boolean {
  const tests: Readonly<Record<string, (wanted: unknown) => boolean>> = {
    contentType: (wanted) => headerFits('content-type', String(wanted), request.headers),
    body: (wanted) => includesPart(request.body, wanted),
    bodyExactly: (wanted) => jsonEquals(request.body, wanted),
    bodyText: (wanted) => request.text === wanted,
    bodyEquals: (wanted) => request.text === wanted,
    bodyMatches: (wanted) => new RegExp(`^(?:${String(wanted)})$`, 's').test(request.text),
  }
  return Object.entries(must).every(([name, wanted]) => tests[name]?.(wanted) ?? true)
}
