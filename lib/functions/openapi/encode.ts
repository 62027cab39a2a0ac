import type { Json } from '../../common/index.ts'

const UNRESERVED = /^[A-Za-z0-9\-._~]*$/
const KEPT_BY_ENCODE_URI_COMPONENT = /[!'()*]/g

/** Percent-encodes everything but the unreserved characters of RFC 3986 §2.3. */
export function encodeUnreserved(text: string): string {
  // Most values are plain words; the test is far cheaper than encoding.
  return UNRESERVED.test(text) ? text : encodeComponent(text).replace(KEPT_BY_ENCODE_URI_COMPONENT, toPercent)
}

/** Percent-encodes as `encodeURIComponent`, with lone surrogates replaced by U+FFFD instead of an exception. */
export function encodeComponent(text: string): string {
  if (UNRESERVED.test(text)) return text
  try {
    return encodeURIComponent(text)
  } catch {
    return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'))
  }
}

/**
 * Percent-encodes for `allowReserved`: the reserved characters of RFC 3986 §2.2 stay, except `#`, `&` and `+`, which would end the
 * query, begin another parameter or be read as a blank.
 */
export function encodeAllowingReserved(text: string): string {
  if (UNRESERVED.test(text)) return text
  const wellFormed = Buffer.from(text, 'utf8').toString('utf8')
  return encodeURI(wellFormed).replace(/%5B|%5D|[#&+]/g, (found) => {
    if (found === '%5B') return '['
    return found === '%5D' ? ']' : toPercent(found)
  })
}

// cookie-octet of RFC 6265 §4.1.1 without `%`, `&` and `=`, so that a value can be decoded again and never looks like a pair.
const NOT_COOKIE_OCTET = /[^\x21\x23\x24\x27-\x2b\x2d-\x3a\x3c\x3e-\x5b\x5d-\x7e]+/g

/** Percent-encodes what may not stand in a cookie value (RFC 6265 §4.1.1), `%`, `=` and `&` included. */
export function encodeCookieValue(text: string): string {
  return UNRESERVED.test(text) ? text : text.replace(NOT_COOKIE_OCTET, encodeUnreserved)
}

/** Gives the text form of a value: texts as they are, numbers and booleans as JSON writes them, the rest as JSON text. */
export function toText(value: Json): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
