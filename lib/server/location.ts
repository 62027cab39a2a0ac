import type { IncomingMessage } from 'node:http'
import type { ServerSettings } from './settings.ts'

const AUTHORITY = /^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/**
 * Gives the base of absolute addresses for answers to a request: the configured address of the service, else scheme and `Host` of
 * the request, believing forwarding headers only when told to (http-contract.md §2).
 *
 * @returns without trailing slash and without root path; empty when the request names no valid host
 */
export function createOrigin(settings: Pick<ServerSettings, 'serviceUrl' | 'forwarding'>): (request: IncomingMessage) => string {
  const { serviceUrl, forwarding } = settings
  if (serviceUrl !== undefined) return () => serviceUrl
  return (request) => {
    // Only sockets of TLS have it.
    let scheme = 'encrypted' in request.socket && request.socket.encrypted === true ? 'https' : 'http'
    let authority = request.headers.host
    if (forwarding) {
      const forwarded = readForwarded(request)
      scheme = forwarded.scheme ?? scheme
      authority = forwarded.authority ?? authority
    }
    return authority !== undefined && AUTHORITY.test(authority) ? `${scheme}://${authority}` : ''
  }
}

/** Gives the address of the client: that of the connection, or the first forwarded one when those are believed. */
export function clientAddress(request: IncomingMessage, forwarding: boolean): string {
  return (forwarding ? readForwarded(request).client : undefined) ?? request.socket.remoteAddress ?? ''
}

interface Forwarded {
  readonly scheme?: 'http' | 'https'
  readonly authority?: string
  readonly client?: string
}

// RFC 7239 first, else the X-Forwarded-* family; the first element is the one nearest to the client.
function readForwarded(request: IncomingMessage): Forwarded {
  const pairs = new Map<string, string>()
  for (const pair of (first(request, 'forwarded') ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0) pairs.set(pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim().replace(/^"(.*)"$/, '$1'))
  }
  const scheme = (pairs.get('proto') ?? first(request, 'x-forwarded-proto'))?.toLowerCase()
  let authority = pairs.get('host') ?? first(request, 'x-forwarded-host')
  const port = first(request, 'x-forwarded-port')
  if (authority !== undefined && port !== undefined && /^\d{1,5}$/.test(port) && !/:\d+$/.test(authority)) authority += `:${port}`
  const client = pairs.get('for') ?? first(request, 'x-forwarded-for')
  return {
    ...(scheme === 'http' || scheme === 'https' ? { scheme } : {}),
    ...(authority !== undefined && AUTHORITY.test(authority) ? { authority } : {}),
    ...(client === undefined ? {} : { client }),
  }
}

function first(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  const text = (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim()
  return text === '' ? undefined : text
}
