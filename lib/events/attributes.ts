import { EventError } from '../errors/index.ts'
import { parseMediaType } from './media-type.ts'

const REQUIRED = ['specversion', 'id', 'source', 'type'] as const
const TEXT = ['time', 'subject', 'datacontenttype', 'dataschema'] as const
const KNOWN: ReadonlySet<string> = new Set([...REQUIRED, ...TEXT])

const NAME = /^[a-z0-9]+$/
const SPEC_VERSION = /^(?:0\.3|1\.\d{1,9})$/
const RFC3339 = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/
// The type system forbids control characters. Tab and line feed are let through all the same: the project's own protocol
// examples hold a value that ends in a line feed, and header values are percent-encoded on the way out.
const FORBIDDEN_CHARACTER = /(?![\t\n])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u
// Nearly every value is plain ASCII, which the quick test settles.
const PRINTABLE_ASCII = /^[ -~]*$/
const MAX_INTEGER = 2 ** 31

/**
 * Makes the error for a malformed event.
 *
 * @param attribute the attribute or member at fault, in the words of the event's own version; `body` when it is the document
 */
export function invalidEvent(attribute: string, reason: string, cause?: unknown): EventError {
  return new EventError({
    code: 'CLOUD_EVENT_INVALID',
    message: `The CloudEvent is invalid: ${attribute} ${reason}`,
    details: { attribute },
    cause,
  })
}

/** How strictly attributes are checked. */
export interface AttributeOptions {
  /** Takes an empty `source`, which SonataFlow's users send and CloudEvents forbids. @default false */
  readonly anonymousSource?: boolean
}

/**
 * Checks the attributes of an event, data aside: required ones present, each of its type (CloudEvents 1.0 §"Context Attributes").
 *
 * @param attributes attribute names and values, without `data` and `data_base64`
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`; `details.attribute` names the first one at fault
 */
export function assertAttributes(attributes: Readonly<Record<string, unknown>>, { anonymousSource = false }: AttributeOptions = {}): void {
  for (const name of REQUIRED) {
    if (attributes[name] === undefined) throw invalidEvent(name, 'is missing; every event needs it')
    if (name !== 'source' || !anonymousSource || attributes[name] !== '') assertText(name, attributes[name])
  }
  for (const name of TEXT) if (attributes[name] !== undefined) assertText(name, attributes[name])
  const { specversion, time, datacontenttype } = attributes as Record<string, string | undefined>
  if (!SPEC_VERSION.test(specversion ?? '')) {
    throw invalidEvent('specversion', `is ${JSON.stringify(specversion)}; 0.3 and 1.x can be read`)
  }
  if (time !== undefined && !isTimestamp(time)) {
    throw invalidEvent('time', `is ${quote(time)}; write an RFC 3339 instant such as 2018-04-05T17:31:00Z`)
  }
  if (datacontenttype !== undefined && parseMediaType(datacontenttype) === undefined) {
    throw invalidEvent('datacontenttype', `is ${quote(datacontenttype)}; write a media type such as application/json`)
  }
  for (const name in attributes) if (!KNOWN.has(name)) assertExtension(name, attributes[name])
}

/**
 * Checks the name and the value of an extension attribute.
 *
 * @throws {@link EventError} `CLOUD_EVENT_INVALID`
 */
export function assertExtension(name: string, value: unknown): void {
  if (!NAME.test(name) || name === 'data') {
    throw invalidEvent(quote(name), 'is no attribute name; use lower-case letters and digits, and not "data"')
  }
  if (typeof value === 'string') {
    assertCharacters(name, value)
  } else if (typeof value === 'number') {
    if (!Number.isInteger(value) || value < -MAX_INTEGER || value >= MAX_INTEGER) {
      throw invalidEvent(name, `is ${String(value)}; numbers are 32-bit integers, write anything else as text`)
    }
  } else if (typeof value !== 'boolean') {
    throw invalidEvent(name, 'is neither text nor number nor boolean; write the JSON as text')
  }
}

/** Tells whether a text is an RFC 3339 instant of a day that exists, with seconds and an offset. */
function isTimestamp(text: string): boolean {
  if (!RFC3339.test(text)) return false
  const day = Number(text.slice(8, 10))
  if (day <= 28) return true
  // Day 0 of the next month is the last one of this; the calendar repeats after 400 years.
  return day <= new Date(Date.UTC(2000 + (Number(text.slice(0, 4)) % 400), Number(text.slice(5, 7)), 0)).getUTCDate()
}

function assertText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw invalidEvent(name, 'is not text')
  if (value === '') throw invalidEvent(name, 'is empty')
  assertCharacters(name, value)
}

function assertCharacters(name: string, value: string): void {
  if (PRINTABLE_ASCII.test(value) || !FORBIDDEN_CHARACTER.test(value)) return
  throw invalidEvent(name, 'holds a character that no event may carry')
}

// Attribute values come from callers and end up in answers and logs: never at any length.
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
