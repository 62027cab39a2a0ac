/** What a `Prefer` header asks of a start (RFC 7240 §4.1, §4.3). */
export interface Preference {
  readonly respondAsync: boolean
  /** Milliseconds. */
  readonly wait?: number
  /** Text for `Preference-Applied`; absent when nothing is asked for that we know. */
  readonly applied?: string
}

const NONE: Preference = { respondAsync: false }
const LONGEST_WAIT_SECONDS = 86_400

/** Parses a `Prefer` header; what it does not know it ignores, the first of equal preferences counts (RFC 7240 §2). */
export function parsePrefer(header: string | undefined): Preference {
  if (header === undefined) return NONE
  const preferences = new Map<string, string>()
  for (const part of header.split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map((text) => text.trim())
    if (!preferences.has(name.toLowerCase())) preferences.set(name.toLowerCase(), value)
  }
  const respondAsync = preferences.get('respond-async') === ''
  const seconds = readSeconds(preferences.get('wait'))
  const applied = [...(respondAsync ? ['respond-async'] : []), ...(seconds === undefined ? [] : [`wait=${String(seconds)}`])]
  return {
    respondAsync,
    ...(seconds === undefined ? {} : { wait: seconds * 1000 }),
    ...(applied.length === 0 ? {} : { applied: applied.join(', ') }),
  }
}

function readSeconds(text: string | undefined): number | undefined {
  const digits = /^"?(\d{1,9})"?$/.exec(text ?? '')?.[1]
  return digits === undefined ? undefined : Math.min(Number(digits), LONGEST_WAIT_SECONDS)
}
