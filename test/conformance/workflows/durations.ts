import { parseDuration as parseIsoDuration } from '../../../lib/common/index.ts'
import { CaseFault } from './case-fault.ts'

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** Gives the milliseconds of a duration of a case: `500ms`, `10s`, or ISO 8601. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  if (match?.[1] !== undefined) return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
  const duration = parseIsoDuration(text)
  if (duration === undefined) throw new CaseFault(`"${text}" is no duration`)
  return duration.milliseconds
}
