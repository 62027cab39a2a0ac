/** A parsed media type. */
export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly essence: string
  /** Value of the parameter `charset` in lower case; `undefined` when it is not given. */
  readonly charset: string | undefined
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const ESSENCE = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})[ \\t]*(?:;|$)`)
// Each blank can be matched by one part only, so that hostile text costs linear time.
const PARAMETERS = new RegExp(`^[ \\t]*(?:;[ \\t]*(?:${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")[ \\t]*)?)*$`)
const CHARSET = new RegExp(`;[ \\t]*charset=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'i')

// Content types repeat from request to request; what callers can make up is bounded by the size.
const REMEMBERED = 256
const remembered = new Map<string, MediaType | undefined>()

/**
 * Parses a media type with parameters in any case and spacing (RFC 9110 §8.3.1).
 *
 * @returns `undefined` when the text is none
 */
export function parseMediaType(text: string): MediaType | undefined {
  if (remembered.has(text)) return remembered.get(text)
  const mediaType = parse(text)
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(text, mediaType)
  return mediaType
}

function parse(text: string): MediaType | undefined {
  const essence = ESSENCE.exec(text)?.[1]
  if (essence === undefined) return undefined
  const rest = text.trimStart().slice(essence.length)
  if (!PARAMETERS.test(rest)) return undefined
  const charset = CHARSET.exec(rest)
  return { essence: essence.toLowerCase(), charset: (charset?.[1] ?? charset?.[2])?.toLowerCase() }
}

/** Tells whether a media type stands for JSON: subtype `json` or suffix `+json` (CloudEvents JSON format §3.1). */
export function isJsonMediaType(mediaType: MediaType): boolean {
  return mediaType.essence.endsWith('/json') || mediaType.essence.endsWith('+json')
}

/** Tells whether text of this media type is read as UTF-8: no charset, UTF-8, or its subset US-ASCII. */
export function isUtf8(mediaType: MediaType): boolean {
  return mediaType.charset === undefined || mediaType.charset === 'utf-8' || mediaType.charset === 'utf8' ||
    mediaType.charset === 'us-ascii'
}
