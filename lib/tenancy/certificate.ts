import type { Connection, HttpRequest } from './connection.ts'
import { isWorkloadIdentity, parseIdentity } from './identity.ts'

/**
 * Takes the workload identity from a certificate's alternative names: exactly one URI, `spiffe://<trust domain>/ns/<ns>/sa/<sa>`, in one
 * of the trust domains (tenancy.md, section 7).
 *
 * @param subjectAltName as Node writes it: `URI:spiffe://…, DNS:…`
 * @returns the identity, or `undefined` for several URIs, none, another form or another trust domain
 */
function identityOfNames(subjectAltName: string | undefined, trustDomains: readonly string[]): string | undefined {
  // Node quotes names that hold separators; no identity does.
  const uris = (subjectAltName ?? '').split(', ').filter((name) => name.startsWith('URI:')).map((name) => name.slice(4))
  return acceptIdentity(uris, trustDomains)
}

function acceptIdentity(uris: readonly string[], trustDomains: readonly string[]): string | undefined {
  const [uri, ...more] = uris
  if (uri === undefined || more.length > 0 || !isWorkloadIdentity(uri)) return undefined
  return trustDomains.includes(parseIdentity(uri).trustDomain) ? uri : undefined
}

/**
 * Reads the identity of the peer from its verified certificate.
 *
 * @returns `undefined` on a plain connection, or when the certificate was not verified or holds no identity
 */
export function identityOfSocket(socket: Connection, trustDomains: readonly string[]): string | undefined {
  return isVerified(socket) ? identityOfNames(socket.getPeerX509Certificate?.()?.subjectAltName, trustDomains) : undefined
}

/** Tells whether the peer showed a certificate that one of the authorities has signed. */
export function isVerified(socket: Connection): boolean {
  return socket.authorized === true
}

/** Tells whether the other end of a connection is this machine. */
export function isLoopback(socket: Connection): boolean {
  return /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/.test(socket.remoteAddress ?? '')
}

const FORWARDED = 'x-forwarded-client-cert'

/**
 * Takes the `X-Forwarded-Client-Cert` headers out of a request, so that nothing behind can mistake them for a proof.
 *
 * @returns the identity that the last entry names, which is the one that the nearest proxy saw; for trusted proxies only
 */
export function takeForwardedIdentity(request: HttpRequest, trustDomains: readonly string[]): string | undefined {
  const raw = request.rawHeaders
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === FORWARDED)
  if (values.length === 0) return undefined
  // Node makes both objects from the raw list when they are first read, so the list is shortened last.
  Reflect.deleteProperty(request.headers, FORWARDED)
  Reflect.deleteProperty(request.headersDistinct, FORWARDED)
  request.rawHeaders = raw.filter((_, index) => raw[index - (index % 2)]?.toLowerCase() !== FORWARDED)
  const last = splitOutsideQuotes(values.join(','), ',').at(-1) ?? ''
  const uris = splitOutsideQuotes(last, ';').map((pair) => /^\s*URI="?([^"]*)"?\s*$/i.exec(pair)?.[1]).filter((uri) => uri !== undefined)
  return acceptIdentity(uris, trustDomains)
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    if (character === '"' && text.charAt(index - 1) !== '\\') isQuoted = !isQuoted
    if (character !== separator || isQuoted) continue
    parts.push(text.slice(start, index))
    start = index + 1
  }
  return [...parts, text.slice(start)]
}
