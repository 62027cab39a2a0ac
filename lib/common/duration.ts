const UNITS = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1000 } as const

const ISO = /^(-)?P(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i
// Three examples of the specification write days and weeks behind the T (reading A16).
const MISPLACED = /^PT(\d+(?:[.,]\d+)?)([DW])$/i

/** A parsed duration. */
export interface Duration {
  /** Length in milliseconds; a day is 24 hours. */
  readonly milliseconds: number
  /** Set when the text is not ISO 8601 but is accepted all the same; says what would be right. */
  readonly warning?: string
}

/**
 * Parses an ISO 8601 duration of weeks, days, hours, minutes and seconds.
 *
 * Months and years have no fixed length and are refused (`undefined`), as is anything negative or empty. `PT30D` and its like,
 * which examples of the specification hold, are read as `P30D` with a warning (reading A16).
 */
export function parseDuration(text: string): Duration | undefined {
  const trimmed = text.trim()
  const misplaced = MISPLACED.exec(trimmed)
  if (misplaced?.[1] !== undefined && misplaced[2] !== undefined) {
    const unit = misplaced[2].toUpperCase() as 'D' | 'W'
    return { milliseconds: toNumber(misplaced[1]) * UNITS[unit], warning: `"${trimmed}" is not ISO 8601; write "P${misplaced[1]}${unit}"` }
  }
  const match = ISO.exec(trimmed)
  if (!match || match[1] !== undefined) return undefined
  const parts: readonly (string | undefined)[] = match.slice(2)
  if (parts.every((part) => part === undefined) || /T$/i.test(trimmed)) return undefined
  const sizes = [UNITS.W, UNITS.D, UNITS.H, UNITS.M, UNITS.S]
  const milliseconds = parts.reduce((sum, part, index) => sum + (part === undefined ? 0 : toNumber(part) * (sizes[index] ?? 0)), 0)
  return { milliseconds: Math.round(milliseconds) }
}

function toNumber(text: string): number {
  return Number(text.replace(',', '.'))
}
