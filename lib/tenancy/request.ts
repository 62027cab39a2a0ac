import type { HttpRequest } from './connection.ts'
import { faultOfTarget, normalisePath } from './path.ts'

/** An HTTP request, read once and in one way for policies and for routing. */
export interface ReadRequest {
  readonly method: string
  readonly authority?: string
  /** Normalised, without the query. */
  readonly path: string
  /** The query with its question mark, or nothing. */
  readonly query: string
  /** Headers in the order they came, repeats included. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A request that servers could read in different ways; it is answered 400 before any policy sees it. */
export interface Ambiguity {
  readonly fault: string
}

const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(:\d{1,5})?$/

/**
 * Reads a request of Node's server: raw headers, a single authority, the path normalised (tenancy.md, section 7).
 *
 * Two `Host` headers, an absolute target with another host, control characters, `%00` and broken escapes are faults.
 */
export function readRequest(request: HttpRequest): ReadRequest | Ambiguity {
  const headers = pairs(request.rawHeaders)
  const target = splitTarget(request.url ?? '')
  if (target === undefined) return { fault: 'the request target is neither a path nor a URL' }
  const authorities = headers.filter(([name]) => name.toLowerCase() === 'host' || name === ':authority').map(([, value]) => value)
  const fault = faultOfAuthorities(authorities, target.authority) ?? faultOfTarget(target.path)
  if (fault !== undefined) return { fault }
  const authority = target.authority ?? authorities[0]
  const question = target.path.indexOf('?')
  return {
    method: request.method ?? 'GET',
    path: normalisePath(target.path),
    query: question < 0 ? '' : target.path.slice(question),
    headers,
    ...(authority === undefined ? {} : { authority }),
  }
}

function pairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let index = 0; index + 1 < raw.length; index += 2) found.push([raw[index] ?? '', raw[index + 1] ?? ''])
  return found
}

function splitTarget(target: string): { readonly authority?: string; readonly path: string } | undefined {
  if (target.startsWith('/') || target === '*') return { path: target }
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target)
  if (absolute?.[1] === undefined) return undefined
  const rest = absolute[2] ?? ''
  return { authority: absolute[1], path: rest.startsWith('/') ? rest : `/${rest}` }
}

function faultOfAuthorities(authorities: readonly string[], absolute: string | undefined): string | undefined {
  const isSame = authorities.every((authority) => authority.toLowerCase() === (absolute ?? authorities[0] ?? '').toLowerCase())
  if (!isSame) return absolute === undefined ? 'there are several hosts' : 'the target names another host than the header'
  if (authorities.length > 1) return 'there is more than one Host header'
  return [...authorities, ...(absolute === undefined ? [] : [absolute])].every((authority) => AUTHORITY.test(authority))
    ? undefined
    : 'the host is malformed'
}
