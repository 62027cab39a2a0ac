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
  let respondAsync = false
  let seconds: number | undefined
  for (const part of header.split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map((text) => text.trim())
    if (name.toLowerCase() === 'respond-async' && value === '') respondAsync = true
    if (name.toLowerCase() === 'wait' && seconds === undefined) {
      const digits = /^"?(\d{1,9})"?$/.exec(value)?.[1]
      if (digits !== undefined) seconds = Math.min(Number(digits), LONGEST_WAIT_SECONDS)
    }
  }
  const applied = [respondAsync ? 'respond-async' : '', seconds === undefined ? '' : `wait=${String(seconds)}`].filter((text) => text !== '')
  return {
    respondAsync,
    ...(seconds === undefined ? {} : { wait: seconds * 1000 }),
    ...(applied.length === 0 ? {} : { applied: applied.join(', ') }),
  }
}
