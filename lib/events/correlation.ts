import type { CloudEventRecord } from './cloud-event.ts'

/** What correlation needs to know of an event definition. */
export interface CorrelatedEvent {
  readonly type: string
  readonly source?: string
  readonly correlation: readonly { readonly contextAttributeName: string; readonly contextAttributeValue?: string }[]
}

/** Values of correlation attributes, by name in lower case: CloudEvents knows no other (S139). */
export type CorrelationValues = Readonly<Record<string, string>>

/**
 * Tells whether an event is of a definition: by type and source, or by type alone (S132, A09).
 *
 * In sources of definitions `*` and `#` stand for any text and `+` for one segment of a path.
 */
export function isEventOf(definition: CorrelatedEvent, event: CloudEventRecord, by: 'type' | 'type-and-source'): boolean {
  if (definition.type !== event.type) return false
  if (by === 'type' || definition.source === undefined || definition.source === event.source) return true
  return /[*#+]/.test(definition.source) && sourceMatches(definition.source, event.source)
}

function sourceMatches(pattern: string, source: string): boolean {
  // Literal parts are found one after another from the left: no backtracking, whatever the source.
  const parts = pattern.split(/([*#+])/)
  let position = 0
  let open = false
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ''
    if (part === '*' || part === '#' || part === '+') { open = true; continue }
    if (part === '') continue
    const last = index === parts.length - 1
    const found = last && open ? source.lastIndexOf(part) : source.indexOf(part, position)
    if (found < position || (!open && found !== position) || (last && found + part.length !== source.length)) return false
    if (parts[index - 1] === '+' && source.slice(position, found).includes('/')) return false
    position = found + part.length
    open = false
  }
  return open ? !(pattern.endsWith('+') && source.slice(position).includes('/')) : position === source.length
}

/**
 * Reads the correlation attributes of an event (S135–S139).
 *
 * Gives `undefined` when one is missing or differs from the constant that the definition asks for: the event is of no use then.
 */
export function correlationOf(definition: CorrelatedEvent, event: CloudEventRecord): CorrelationValues | undefined {
  const values: Record<string, string> = {}
  for (const { contextAttributeName, contextAttributeValue } of definition.correlation) {
    const name = contextAttributeName.toLowerCase()
    const value = Object.hasOwn(event, name) ? event[name] : undefined
    // Attributes are text, numbers and booleans; what is none cannot correlate.
    if (value === undefined || typeof value === 'object' || (contextAttributeValue !== undefined && String(value) !== contextAttributeValue)) return undefined
    values[name] = String(value)
  }
  return values
}

/** Tells whether an event belongs to an instance: every attribute that both know is equal (S137). */
export function isCorrelated(known: CorrelationValues, values: CorrelationValues): boolean {
  return Object.keys(values).every((name) => !Object.hasOwn(known, name) || known[name] === values[name])
}
