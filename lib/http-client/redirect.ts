import type { HttpRequest } from './http-client.ts'
import type { Redirects } from './options.ts'

const CREDENTIALS = /^(?:authorization|cookie|proxy-authorization|wfproc.*|kogitoproc.*|idempotency-key|x-api-key)$/i
const BODY_HEADERS = /^content-/i

/** The request that a 3xx answer asks for, or why it is not followed. */
export type NextRequest = HttpRequest | { readonly refused: string }

/** Tells whether an answer is a redirect that names where to go. */
export function isRedirect(status: number, headers: Readonly<Record<string, unknown>>): boolean {
  return (status === 301 || status === 302 || status === 303 || status === 307 || status === 308) && typeof headers['location'] === 'string'
}

/**
 * Makes the request that follows a redirect (openapi-functions.md §7).
 *
 * https never becomes http; another origin only when allowed, without credentials and `wfproc*`; 303, and 301/302 after POST,
 * become GET. Where it may not be followed, `refused` says why, and the 3xx is the answer.
 */
export function followRedirect(request: HttpRequest, status: number, location: string, redirects: Redirects): NextRequest {
  if (!URL.canParse(location, request.url)) return { refused: 'the redirect names no address' }
  const from = new URL(request.url)
  const to = new URL(location, request.url)
  to.hash = ''
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return { refused: 'the redirect leaves http' }
  if (from.protocol === 'https:' && to.protocol === 'http:') return { refused: 'the redirect leads from https to http' }
  const sameOrigin = from.origin === to.origin
  if (!sameOrigin && !redirects.otherOrigins) return { refused: 'the redirect leads to another origin' }
  const toGet = (status === 303 && request.method !== 'HEAD') || (request.method === 'POST' && (status === 301 || status === 302))
  const extra = new Set(request.credentialHeaders?.map((name) => name.toLowerCase()))
  const headers = toPairs(request.headers).filter(([name]) =>
    (sameOrigin || !(CREDENTIALS.test(name) || extra.has(name.toLowerCase()))) && !(toGet && BODY_HEADERS.test(name)))
  const { body, ...rest } = request
  return { ...rest, url: to.href, headers, ...(toGet ? { method: 'GET' } : body === undefined ? {} : { body }) }
}

/** Gives request headers as pairs. */
export function toPairs(headers: HttpRequest['headers']): readonly (readonly [string, string])[] {
  if (!headers) return []
  return isPairs(headers) ? headers : Object.entries(headers)
}

/** Tells pairs from a record. */
export function isPairs(headers: NonNullable<HttpRequest['headers']>): headers is readonly (readonly [string, string])[] {
  return Array.isArray(headers)
}
